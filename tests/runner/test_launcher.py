"""Hostile code that a package's interpreter runs when it starts, before it forks sandboxed children."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anoncup.runner import sandbox
from anoncup.runner.client import Runner, RunnerOptions
from anoncup.runner.sandbox import landlock, privileges
from tests.support.environments import PackageEnvironment, create_environment
from tests.support.hostile_jobs import Deed, Identify
from tests.support.runners import LIMITS, find_template, read_status

pytestmark = pytest.mark.full
SCOPES_SIGNALS = landlock.get_abi_version() >= 6
HOSTILE = """
import json, os
from pathlib import Path
from tests.support.forbidden_actions import try_action

def act(name):
    deeds = json.loads(Path({deeds!r}).read_text().replace("PARENT", str(os.getppid())))
    results = [[*deed, *try_action(deed[0], deed[1:]).items()] for deed in deeds]
    Path({folder!r}, "loops", name).write_text(json.dumps(results))
"""


@pytest.fixture
def environment(tmp_path: Path) -> PackageEnvironment:
    """An environment whose ``.pth`` file and ``sitecustomize`` are hostile."""
    made = create_environment(tmp_path / "packages/hostile")
    (made.folder / "loops").mkdir()
    (packages,) = made.folder.glob("lib/python*/site-packages")
    code = HOSTILE.format(deeds=str(made.folder / "deeds.json"), folder=str(made.folder))
    for name, text in {
        "hostile.py": code,
        "hostile.pth": "import hostile; hostile.act('pth')\n",
        "sitecustomize.py": "import hostile; hostile.act('sitecustomize')\n",
    }.items():
        (packages / name).write_text(text)
    return made


@pytest.fixture
def deeds(environment: PackageEnvironment, tmp_path: Path) -> Iterator[list[list[Any]]]:
    """The actions, by name and arguments, that the code tries."""
    key = tmp_path / "keys/private.key"
    key.parent.mkdir(mode=0o700)
    key.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "local"))
        local.listen()
        actions: list[list[Any]] = [
            ["read", str(key)],
            ["read", "/proc/PARENT/environ"],
            ["list", str(key.parent)],
            ["mode", str(key), 0o777],
            ["append", str(key)],
            ["append", str(tmp_path / "written")],
            ["append", str(environment.folder / "package.json")],
            ["connect", int(socket.AF_INET), int(socket.SOCK_STREAM), list(server.getsockname())],
            ["connect", int(socket.AF_INET), int(socket.SOCK_DGRAM), list(server.getsockname())],
            ["connect", int(socket.AF_UNIX), int(socket.SOCK_STREAM), str(tmp_path / "local")],
            ["start_program", "/bin/true"],
            *([["kill", os.getpid(), 0]] if SCOPES_SIGNALS else []),
            ["truncate", str(key)],
        ]
        (environment.folder / "deeds.json").write_text(json.dumps(actions))
        yield actions


def start(environment: PackageEnvironment, setting: str) -> Runner:
    options = RunnerOptions(str(environment.python_path), sandbox.choose(setting), preloads=False)
    return Runner(options)


def read_results(environment: PackageEnvironment) -> list[list[Any]]:
    texts = [(environment.folder / "loops" / name).read_text() for name in ("pth", "sitecustomize")]
    return [result for text in texts for result in json.loads(text)]


@pytest.mark.skipif(not sandbox.get_available().is_complete, reason="needs Landlock and seccomp")
def test_start_of_an_interpreter_is_confined(environment: PackageEnvironment, deeds: list[list[Any]]) -> None:
    runner = start(environment, "required")
    try:
        identity = runner.run(Identify(), LIMITS)
        assert runner.run(Deed(name="nothing"), LIMITS) == {"done": "None"}
        template = find_template(runner)
        status = read_status(template.pid)
    finally:
        runner.end()
    results = read_results(environment)
    assert len(results) == 2 * len(deeds)
    assert [result for result in results if result[-1][0] != "denied"] == []
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
    assert int(status["CapEff"], 16) in {0, 1 << privileges.CAP_DAC_READ_SEARCH}
    owner = (environment.folder / "loops").stat().st_uid
    assert identity["uid"] == owner
    assert (owner in privileges.SANDBOX_UIDS) == (os.geteuid() == 0)


def test_start_can_do_everything_without_a_sandbox(
    environment: PackageEnvironment, deeds: list[list[Any]]
) -> None:
    """Control experiment for the test above."""
    runner = start(environment, "off")
    try:
        runner.run(Identify(), LIMITS)
    finally:
        runner.end()
    assert [result for result in read_results(environment)[: len(deeds)] if result[-1][0] != "done"] == []
