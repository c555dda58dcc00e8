"""The steps of docs/hosting.md for servers of one's own, with a user for web and another for workers."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from anoncup.client import Client
from anoncup.runner.sandbox import privileges
from anoncup.tables.csv_text import write_csv
from app.operations import embedded_servers
from app.operations.supervisor import Program, wait_until_healthy
from tests.support.arena import PASSWORD, build_competition_toml, build_original_table
from tests.support.markdown_blocks import ROOT, list_code_blocks, read_guide
from tests.support.postgres_server import POSTGRES, run_postgres
from tests.support.service_processes import find_free_port, publish_contest, require_running, run_program

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user"),
    pytest.mark.skipif(not privileges.are_libraries_public(), reason="only root can read the libraries"),
    pytest.mark.skipif(not POSTGRES, reason="Debian's Postgres is not installed"),
]

GROUP, WEB, WORKER = 59_000, 59_001, 59_002


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="anoncup-hosting-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def become(uid: int) -> str:
    return f"{shutil.which('setpriv')} --reuid={uid} --regid={GROUP} --clear-groups"


class Host:
    """A machine with the servers, the paths and the users of the page, whose names are replaced."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.folder = folder
        self.replacements = {
            r"(?m)^(groupadd|useradd).*$": "true",
            "--group=anoncup": f"--group={GROUP}",
            "chown -R anoncup-web": f"chown -R {WEB}",
            "chown -R anoncup-worker": f"chown -R {WORKER}",
            "runuser -u anoncup-web --": become(WEB),
            "runuser -u anoncup-worker --": become(WORKER),
            "--role administrator": "--role administrator --password-stdin",
            "/opt/anoncup/bin": str(Path(sys.executable).parent),
            "(/srv|/etc/anoncup)(?=/)": rf"{folder}\1",
            "127.0.0.1/anoncup": f"{database_url.rpartition('@')[2].rpartition('/')[0]}/anoncup",
            "redis://:PASSWORD@127.0.0.1:6379/0": redis_url,
        }

    def translate(self, text: str) -> str:
        for pattern, replacement in self.replacements.items():
            text = re.sub(pattern, replacement, text)
        return text

    def run(self, *blocks: str) -> str:
        completed = subprocess.run(
            ["bash", "-e"],
            input=self.translate("\n".join(blocks)).replace(
                "--password-stdin", f"--password-stdin <<< '{PASSWORD}'"
            ),
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": "/root"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout

    def build_program(self, unit: str, settings: str, instance: str = "", options: str = "") -> Program:
        """Return the program of a unit, as its user."""
        lines = (
            self.translate(unit)
            .replace("%i", instance)
            .replace("%C", str(self.folder / "cache"))
            .splitlines()
        )
        values = [line.partition("=")[::2] for line in lines]
        (user,) = (value for name, value in values if name == "User")
        (command,) = (value for name, value in values if name == "ExecStart")
        environment = [value for name, value in values if name == "Environment"] + settings.splitlines()
        return Program(
            name=user,
            command=shlex.split(
                f"{become({'anoncup-web': WEB, 'anoncup-worker': WORKER}[user])} {command} {options}"
            ),
            env=dict(line.split("=", 1) for line in environment) | {"ANONCUP_SANDBOX": "wanted", "HOME": "/"},
            log=self.folder / f"{instance or 'web'}.log",
        )


@pytest.fixture
def host(folder: Path) -> Iterator[Host]:
    with ExitStack() as stack:
        database_url = stack.enter_context(run_postgres(folder))
        port = find_free_port()
        command = [str(embedded_servers._find_valkey_binary()), "--port", str(port), "--save", ""]
        stack.enter_context(
            run_program(Program(name="redis", command=command, log=folder / "valkey.log", cwd=folder))
        )
        page = (ROOT / "docs/hosting.md").read_text()
        with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
            for statement in sorted(
                re.findall("CREATE (?:ROLE anoncup |DATABASE )[^;`]*", page), reverse=True
            ):
                connection.execute(statement.replace("…", "PASSWORD"))
        yield Host(folder, database_url, f"redis://127.0.0.1:{port}/0")


def test_two_users_serve_back_up_and_restore(host: Host) -> None:
    folder, url = host.folder, f"http://127.0.0.1:{find_free_port()}"
    users, keys, check, backup, drill = (block.text for block in read_guide("docs/hosting.md"))
    _, settings, web, workers = (
        block.text for block in list_code_blocks(ROOT / "docs/hosting.md") if block.language == "ini"
    )
    settings = host.translate(settings)
    (folder / "etc/anoncup").mkdir(parents=True)
    (folder / "etc/anoncup/service.env").write_text(settings)
    (folder / "cache/anoncup").mkdir(parents=True)  # systemd does this
    os.chown(folder / "cache/anoncup", WORKER, GROUP)
    assert "at revision" in host.run(users, keys)
    environment = "\n".join(keys.splitlines()[:2])
    programs = [host.build_program(workers, settings, instance) for instance in ("worker", "scheduler")]
    programs.append(
        host.build_program(web, settings, options=f"--web-processes 1 --port {url.rpartition(':')[2]}")
    )
    with ExitStack() as stack:
        for program in programs:
            process = stack.enter_context(run_program(program))
        wait_until_healthy(f"{url}/readyz", check=lambda: require_running(process, folder / "web.log"))
        report = host.run(environment, check)
        assert re.findall("as (anoncup_web|anoncup_worker|anoncup),", report) == [
            "anoncup_web",
            "anoncup_worker",
        ]
        assert "created administrator Ada" in report
        with Client(url) as client:
            token = client.create_token("Ada", PASSWORD)
        contest = publish_contest(
            url,
            token,
            file=build_competition_toml(),
            original={"original": write_csv(build_original_table())},
            slug="small",
        )
        contest.wait_for_state(contest.submit(), "SCORED")
        host.run(environment, *check.splitlines()[:2])
    host.run(environment, backup)
    assert re.search("store +ok", host.run(environment, drill))
    settings_of_drill, *_, doctor = drill.splitlines()[1:]
    next((folder / "srv/drill/blobs").iterdir()).chmod(0o755)
    assert re.search("store +problem.*Permission denied", host.run(environment, settings_of_drill, doctor))
    (folder / "srv/drill").chmod(0o755)
    assert re.search("disk +warning.*cannot be written", host.run(environment, settings_of_drill, doctor))
