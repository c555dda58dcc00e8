"""The commands of the guides, typed into a shell in document order against a real service."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from html import unescape
from importlib.metadata import version
from pathlib import Path

import httpx2
import pexpect
import pytest

from anoncup.client import Client
from app.config import Settings
from app.operations import demo_contest
from tests.support.environments import EXAMPLE_TRACK, PackageEnvironment, environment
from tests.support.markdown_blocks import ROOT, read_guide
from tests.support.pinned_package import UNREACHABLE
from tests.support.service_processes import build_own_environment, find_free_port, run_worker
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

__all__ = ["environment"]

PASSWORD = "correct horse battery staple"
PROMPT = "anoncup-test> "


class GuideShell:
    """An interactive bash that answers the questions of the commands."""

    def __init__(self, folder: Path, replacements: Mapping[str, str]) -> None:
        environment = build_own_environment() | {
            "PS1": PROMPT,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TERM": "dumb",
            "COLUMNS": "300",
            "UV_SYSTEM_CERTS": "1",
        }
        self.replacements = replacements
        self.answers = {
            "[Pp]assword[^\n]*: ": PASSWORD,
            "confirmation: ": PASSWORD,
            "[Ii]nvite: ": "",
            r"all the same\? \[y/N\]: ": "y",
        }
        self.bash = pexpect.spawn(
            "bash",
            ["--norc", "--noediting"],
            cwd=folder,
            env=environment,
            encoding="utf-8",
            timeout=TIMEOUT_S,
        )
        self.bash.setecho(False)
        self.bash.expect_exact(PROMPT)

    def run(self, text: str) -> str:
        """Type each command, require status 0, and return all output."""
        joined_text = re.sub(
            r"(?ms)^for .*?^done$", lambda loop: loop[0].replace("do\n", "do ").replace("\n", ";"), text
        )
        return "".join(self.run_line(line) for line in joined_text.splitlines() if line.strip())

    def run_line(self, line: str) -> str:
        for old, new in self.replacements.items():
            line = line.replace(old, new)
        output = self.type_line(line, "ready: http" if re.search(r"&\s*(#|$)", line) else PROMPT)
        status = self.type_line("echo $?", PROMPT).split()[-1]
        assert status == "0", f"{line}\n{output}"
        return output

    def type_line(self, line: str, end_text: str) -> str:
        """Send a line, answer its prompts, and return the output up to ``end_text``."""
        self.bash.sendline(line)
        output = ""
        while True:
            match_index = self.bash.expect([re.escape(end_text), *self.answers])
            output += self.bash.before or ""
            if match_index == 0:
                if end_text != PROMPT:
                    self.bash.sendline("")
                    self.bash.expect_exact(PROMPT)
                return output
            self.bash.sendline(list(self.answers.values())[match_index - 1])

    def close(self) -> None:
        """Stop the service as Ctrl-C would, then the shell."""
        self.bash.sendline("kill -INT %1; wait")
        self.bash.expect_exact(PROMPT)
        self.bash.close()


@pytest.fixture
def url() -> str:
    return f"http://127.0.0.1:{find_free_port()}"


@pytest.fixture
def shell(tmp_path: Path, url: str) -> Iterator[GuideShell]:
    make = f"make -C {ROOT} -o runtime -o site/index.html BIN={Path(sys.executable).parent}"
    port, data = url.rpartition(":")[2], str(tmp_path)
    replacements = {
        "make demo &": f"{make} demo PORT={port} DATA={data}/demo &",
        "make serve &": f"{make} serve PORT={port} DATA={data}/.anoncup &",
        "make serve PORT=8000 DATA=./data": f"{make} serve PORT={port} DATA={data}/data",
        "http://127.0.0.1:8000": url,
        "https://cup.example.org": url,
        "seven quiet foxes": PASSWORD,
    }
    guide_shell = GuideShell(tmp_path, replacements)
    yield guide_shell
    guide_shell.close()


def test_contest_can_be_run_by_the_guides(
    shell: GuideShell, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the first phase has passed when the first requests for it arrive, as on a busy machine."""
    monkeypatch.setattr(demo_contest, "_END_DELAY", timedelta(milliseconds=1))
    idle, serve, edit, create, invite, calls = (block.text for block in read_guide("docs/organize.md"))
    assert shell.run(idle).count("the unchanged original leads") == 1  # not in the second report
    shell.run(serve)
    shell.run(edit)
    edit_file(tmp_path / "competition.toml")
    assert "created cup-2015" in shell.run(create)
    link = shell.run(invite).split()[-1]
    assert "Good luck!" in shell.run(calls)
    shell.answers["[Ii]nvite: "] = link
    join, score, score_shop, submit, download, attack = (
        block.text for block in read_guide("docs/take-part.md")
    )
    paste_the_lines_of_the_page(shell, url)
    shell.run(join)
    assert "accepted" in shell.run(score)
    assert "accepted" in shell.run(score_shop)
    assert "accepted" in shell.run(submit)
    submit_for_another_team(url, link.rpartition("=")[2], tmp_path / "cup-2015")
    end_the_first_phase(url)
    shell.run(download)
    assert re.search(r"T\d\d +QUEUED +8333", shell.run(attack))


def test_accounts_of_the_readme_demo_can_sign_in(shell: GuideShell, url: str, tmp_path: Path) -> None:
    (demo,) = (block.text for block in read_guide("README.md"))
    shell.bash.timeout = 5 * TIMEOUT_S
    shell.answers.clear()  # the demo prompts for nothing, but its output looks like a prompt
    assert "identified" in shell.run(f"{demo.strip()} &")
    accounts = json.loads((tmp_path / "demo" / "demo.json").read_text())["accounts"]
    assert {account["role"] for account in accounts} == {"organizer", "team member"}
    for account in accounts:
        with Client(url) as client:
            token = client.create_token(account["name"], account["password"])
        with Client(url, token) as client:
            assert set(account["competitions"]) <= {
                competition.slug for competition in client.list_competitions()
            }


def test_service_can_be_run_and_restored_by_the_guide(shell: GuideShell, tmp_path: Path) -> None:
    serve, _, backup = (block.text for block in read_guide("docs/operate.md"))
    shell.run(serve)
    shell.run(backup)
    assert (tmp_path / "restored" / "keys" / "private").is_dir()


def test_servers_of_ones_own_are_checked_and_backed_up_by_the_guide(
    shell: GuideShell, settings: Settings, tmp_path: Path
) -> None:
    _, checks, _ = (block.text for block in read_guide("docs/operate.md"))
    shell.replacements = {
        "postgresql://anoncup:PASSWORD@db.example.org/anoncup": settings.database_url,
        "redis://:PASSWORD@redis.example.org:6379/0": settings.redis_url,
        "/srv/anoncup": str(settings.data),
        "/etc/anoncup/keys/sealing.pub": str(settings.sealing_key_file),
        "/etc/anoncup/keys/private": str(settings.opening_keys_dir),
    }
    with run_worker(tmp_path, "scores", "guesses", "reports"):
        assert poll_until(lambda: "ready." in (tmp_path / "worker.log").read_text())
        shell.run("export ANONCUP_SANDBOX=wanted")  # this machine may lack Landlock
        output = shell.run(checks)
    assert "problem" not in output
    folders = (tmp_path / "new" / "private", Path(str(settings.opening_keys_dir)))
    restored, backed_up = ([path.name for path in folder.glob("*.key")] for folder in folders)
    assert restored == backed_up


def test_example_track_can_be_tried_by_the_guide(environment: PackageEnvironment, tmp_path: Path) -> None:
    """pip installs without an index, into the environment of the test."""
    (commands,) = (block.text for block in read_guide("docs/tracks.md"))
    for name, module in {"anoncup": "anoncup.cli", "pytest": "pytest"}.items():
        program = environment.folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {environment.python_path} -P -m {module} "$@"\n')
        program.chmod(0o755)
    variables = {
        "PATH": f"{environment.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PIP_PYTHON": str(environment.python_path),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as "without isolation"
    }
    completed = subprocess.run(
        ["bash", "-e"],
        input=commands,
        cwd=shutil.copytree(EXAMPLE_TRACK, tmp_path / "track"),
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "accepted" in completed.stdout


def paste_the_lines_of_the_page(shell: GuideShell, url: str) -> None:
    """Let uv run the wheel of the service. Without a package index it stays the command of the checkout."""
    page = httpx2.get(f"{url}/competitions/cup-2015/rules").text
    lines = unescape(re.findall('<pre class="once"[^>]*>(.*?)</pre>', page, re.DOTALL)[0])
    shell.bash.timeout = 10 * TIMEOUT_S  # uv downloads 180 MB, and loops are compiled
    shell.run(lines)
    output = shell.type_line("anoncup --version || echo no", PROMPT)
    if output.split()[-1] == "no" and any(text in output for text in UNREACHABLE):
        shell.run("unset -f anoncup")
        return
    assert output.split()[-2:] == ["anoncup", version("anoncup")]


def edit_file(file: Path) -> None:
    """Choose address and threshold, and move the phases so that the first one is open."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = iter((now + timedelta(days=days)).isoformat() for days in (0, 10, 10, 20))
    text = re.sub(r"(?m)^((?:start|end) = ).*$", lambda match: match[1] + next(times), file.read_text())
    text = text.replace('slug = "original"', 'slug = "cup-2015"')
    file.write_text(text.replace("[excessive]\n", "[excessive]\nthreshold = 0.2\n"))


def submit_for_another_team(url: str, invite: str, folder: Path) -> None:
    release, secret = (folder / "mine" / name for name in ("anonymized.csv", "secret.csv"))
    with Client(url) as client:
        token = client.sign_up(invite=invite, team="Blue", name="Eve", password=PASSWORD)
    with Client(url, token) as client:
        receipt = client.submit("cup-2015", {"anonymized": release.read_bytes()}, secret=secret.read_bytes())
        client.wait_for_submission(str(receipt.id), timeout_s=TIMEOUT_S, max_outage_s=TIMEOUT_S)


def end_the_first_phase(url: str) -> None:
    with Client(url) as client:
        token = client.create_token("Ada", PASSWORD)
    with Client(url, token, password=lambda: PASSWORD) as client:
        demo_contest.end_first_phase(client, "cup-2015")
