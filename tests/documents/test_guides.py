"""The guides' commands, typed into a shell in the order of the documents against a real service."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pexpect
import pytest

from anoncup.client import Client
from app.processes import readiness
from tests.documents.blocks import ROOT, blocks
from tests.e2e.stack import free_port
from tests.support.wait import PATIENCE_S

pytestmark = pytest.mark.full

PASSWORD = "correct horse battery staple"
PROMPT = "anoncup-test> "
OWN = ("DATABASE_URL", "REDIS_URL", "ANONCUP_")


class Shell:
    """An interactive bash that answers the questions of the commands."""

    def __init__(self, folder: Path, replacements: Mapping[str, str]) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        environment |= {"PS1": PROMPT, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        environment |= {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TERM": "dumb",
            "COLUMNS": "300",
        }
        self.replacements = replacements
        self.answers = {"[Pp]assword[^\n]*: ": PASSWORD, "confirmation: ": PASSWORD, "[Ii]nvite: ": ""}
        self.bash = pexpect.spawn(
            "bash",
            ["--norc", "--noediting"],
            cwd=folder,
            env=environment,
            encoding="utf-8",
            timeout=PATIENCE_S,
        )
        self.bash.setecho(False)
        self.bash.expect_exact(PROMPT)

    def run(self, text: str) -> str:
        """Type each command, wait for its end, require status 0, and return all output."""
        one_line_each = re.sub(
            r"(?ms)^for .*?^done$", lambda loop: loop[0].replace("do\n", "do ").replace("\n", ";"), text
        )
        return "".join(self.run_line(line) for line in one_line_each.splitlines() if line.strip())

    def run_line(self, line: str) -> str:
        for old, new in self.replacements.items():
            line = line.replace(old, new)
        output = self.type(line, "ready: http" if re.search(r"&\s*(#|$)", line) else PROMPT)
        status = self.type("echo $?", PROMPT).split()[-1]
        assert status == "0", f"{line}\n{output}"
        return output

    def type(self, line: str, until: str) -> str:
        """Send a line, answer what it asks, and return the output up to ``until``."""
        self.bash.sendline(line)
        output = ""
        while True:
            which = self.bash.expect([re.escape(until), *self.answers])
            output += self.bash.before or ""
            if which == 0:
                if until != PROMPT:
                    self.bash.sendline("")
                    self.bash.expect_exact(PROMPT)
                return output
            self.bash.sendline(list(self.answers.values())[which - 1])

    def close(self) -> None:
        """End the service as Ctrl-C would, then the shell."""
        self.bash.sendline("kill -INT %1; wait")
        self.bash.expect_exact(PROMPT)
        self.bash.close()


@pytest.fixture
def url() -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture
def shell(tmp_path: Path, url: str) -> Iterator[Shell]:
    make = f"make -C {ROOT} -o runtime BIN={Path(sys.executable).parent}"
    port, data = url.rpartition(":")[2], str(tmp_path)
    replacements = {
        "make demo &": f"{make} demo PORT={port} DATA={data}/demo &",
        "make serve &": f"{make} serve PORT={port} DATA={data}/.anoncup &",
        "make serve PORT=8000 DATA=./data": f"{make} serve PORT={port} DATA={data}/data",
        "http://127.0.0.1:8000": url,
        "https://cup.example.org": url,
    }
    opened = Shell(tmp_path, replacements)
    yield opened
    opened.close()


def guide(name: str) -> list[str]:
    """Return the shell blocks of a guide, without those that install."""
    return [
        block.text
        for block in blocks(ROOT / "docs" / name)
        if block.language == "sh" and "install" not in block.labels
    ]


def test_a_contest_is_organized_and_played_with_the_commands_of_the_guides(
    shell: Shell, url: str, tmp_path: Path
) -> None:
    serve, edit, create = guide("organize.md")
    shell.run(serve)
    shell.run(edit)
    open_now(tmp_path / "competition.toml")
    code = shell.run(create).split()[-1]
    shell.answers["[Ii]nvite: "] = code
    join, score, shop, submit, download, attack = guide("take-part.md")
    shell.run(join)
    assert "accepted" in shell.run(score)
    assert "accepted" in shell.run(shop)
    assert "accepted" in shell.run(submit)
    submit_for_another_team(url, code, tmp_path / "cup-2015")
    end_the_first_phase(url)
    shell.run(download)
    assert re.search(r"T\d\d +QUEUED +8333", shell.run(attack))


def test_the_demo_of_the_readme_can_be_signed_in_to_as_its_list_of_accounts_says(
    shell: Shell, url: str, tmp_path: Path
) -> None:
    demo, _ = [block.text for block in blocks(ROOT / "README.md") if block.language == "sh"]
    shell.bash.timeout = 5 * PATIENCE_S
    shell.answers.clear()  # the demo asks nothing, and what it prints looks like a question
    assert "records identified" in shell.run(f"{demo.strip()} &")
    accounts = json.loads((tmp_path / "demo" / "demo.json").read_text())["accounts"]
    assert {each["role"] for each in accounts} == {"organizer", "team member"}
    for each in accounts:
        with Client(url) as client:
            token = client.token(each["name"], each["password"])
        with Client(url, token) as client:
            assert set(each["competitions"]) <= {one.slug for one in client.competitions()}


def test_a_service_is_started_backed_up_and_restored_with_the_commands_of_the_guide(
    shell: Shell, tmp_path: Path
) -> None:
    serve, backup = guide("operate.md")
    shell.run(serve)
    shell.run(backup)
    assert (tmp_path / "restored" / "keys" / "private").is_dir()


def open_now(file: Path) -> None:
    """Move the phases of a competition file so that the first one is open."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = iter((now + timedelta(days=days)).isoformat() for days in (0, 10, 10, 20))
    file.write_text(
        re.sub(r"(?m)^((?:start|end) = ).*$", lambda match: match[1] + next(times), file.read_text())
    )


def submit_for_another_team(url: str, invite: str, folder: Path) -> None:
    release, secret = (folder / "mine" / name for name in ("anonymized.csv", "secret.csv"))
    with Client(url) as client:
        token = client.sign_up(invite=invite, team="Blue", name="Eve", password=PASSWORD)
    with Client(url, token) as client:
        receipt = client.submit("cup-2015", {"anonymized": release.read_bytes()}, secret=secret.read_bytes())
        client.wait(str(receipt.id), timeout_s=PATIENCE_S, patience_s=PATIENCE_S)


def end_the_first_phase(url: str) -> None:
    with Client(url) as client:
        token = client.token("Ada", PASSWORD)
    with Client(url, token, password=lambda: PASSWORD) as client:
        end = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
        client.extend("cup-2015", "anonymization", end=end, move_following=True)
        readiness.until(
            lambda: client.competition("cup-2015").state == "reidentification", "the second phase", pause=0.2
        )
