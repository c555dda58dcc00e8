"""Library and client where there is no POSIX, and terminals that do not show every character."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.cli.download import SAFE_NAME
from tests.support import other_platforms
from tests.support.arena import PASSWORD, Arena, build_noisy_release
from tests.support.command_line import run_worker
from tests.support.uploads import score_everything

JAPANESE_NAME = "花子"
CALCULATION = """
import anoncup
households, competition = anoncup.generate_households(40), anoncup.template(2015)
made = anoncup.anonymize(households, "add_noise", competition=competition)
for compute in (anoncup.score, anoncup.attack):
    print(compute(households, made.tables, made.secret, competition=competition))
"""


def run(*arguments: str, folder: Path, typed: str = "", **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command, or Python code behind ``-c``, without what only POSIX systems have."""
    return subprocess.run(
        [sys.executable, "-P", "-X", "warn_default_encoding", other_platforms.__file__, *arguments],
        cwd=folder,
        env={name: os.environ[name] for name in ("PATH", "HOME")} | env,
        input=typed.encode(),
        capture_output=True,
        check=False,
    )


@pytest.mark.full
def test_library_computes(tmp_path: Path) -> None:
    completed = run("-c", CALCULATION, folder=tmp_path)
    assert (completed.returncode, completed.stderr) == (0, b"")
    assert b"mean_mae" in completed.stdout


@pytest.mark.full
@pytest.mark.parametrize("encoding", ["cp932", "cp1252"])
def test_a_team_takes_part(
    client: TestClient, url: str, quiet_server: None, folder: Path, encoding: str
) -> None:
    arena = Arena.create(client)
    code = arena.post("/competitions/small/invites", json={}).json()["code"]
    for name, content in zip(("a.csv", "s.csv"), build_noisy_release(5, arena.table), strict=True):
        (folder / name).write_bytes(content)
    env = {"XDG_CONFIG_HOME": str(folder / "config"), "ANONCUP_URL": url, "PYTHONIOENCODING": encoding}

    def play(*arguments: str, typed: str = "") -> str:
        completed = run(*arguments, folder=folder, typed=typed, **env)
        assert completed.returncode == 0, (arguments, completed.stderr)
        return completed.stdout.decode(encoding)

    person = ("--name", JAPANESE_NAME, "--password-stdin")
    play("sign-up", *person, "--team", "赤組 ✓", "--invite", code, typed=PASSWORD)
    play("login", *person, typed=PASSWORD)
    assert (JAPANESE_NAME in play("whoami")) == (encoding == "cp932")
    assert "small" in play("competitions")
    for options in ((), ("--kit",)):
        play("download", "small", *options)
    contest = ("--competition", "small/competition.toml", "--original", "small/original.csv")
    release = ("--anonymized", "a.csv", "--secret", "s.csv")
    assert "accepted" in play("check", *contest, *release)
    with run_worker(score_everything):
        assert "accepted" in play("submit", "small", *release, "--wait")
    assert ("赤組 ?" in play("board", "small")) == (encoding == "cp932")


PRINT = f"from anoncup.cli.exit_status import run; run(lambda: print({'花子 ✓'!a}))"


def test_files_and_pipes_are_utf_8_in_every_region(tmp_path: Path) -> None:
    region = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert run("-c", PRINT, folder=tmp_path, **region).stdout == "花子 ✓\n".encode()
    assert run("-c", PRINT, folder=tmp_path, PYTHONIOENCODING="cp932").stdout == "花子 ?\n".encode("cp932")


@pytest.mark.parametrize(
    "name", ["CON", "nul.csv", "Aux.tar.gz", "com1", "LPT9.csv", "end.", "a:b", "a\\b", "..", "a b"]
)
def test_names_that_a_system_cannot_store_are_refused(name: str) -> None:
    assert SAFE_NAME.fullmatch(name) is None
