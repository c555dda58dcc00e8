"""``make serve``, with the real make, and what is left when one of them is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.stack import free_port
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
OWN = ("DATABASE_URL", "REDIS_URL", "ANONCUP_")


@contextmanager
def make(*words: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A target of the Makefile that has become ready, and all the processes below it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    command = ["make", "-o", "runtime", f"BIN={Path(sys.executable).parent}", *words]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert any(line.startswith("ready: ") for line in process.stdout)
        below = psutil.Process(process.pid).children(recursive=True)
        try:
            yield process, below
        finally:
            for each in below:
                if goes_on(each):
                    each.kill()
            process.kill()


def of(program: str, below: list[psutil.Process]) -> psutil.Process:
    return next(each for each in below if any(program in word for word in each.cmdline()))


def goes_on(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that one has left to the next."""
    return tmp_path_factory.mktemp("make") / "data"


@pytest.mark.parametrize(
    ("program", "number"),
    [
        pytest.param("make", signal.SIGTERM, marks=pytest.mark.full, id="make is asked to end"),
        pytest.param("make", signal.SIGKILL, id="make is killed"),
        pytest.param("bin/anoncup", signal.SIGKILL, marks=pytest.mark.full, id="the supervisor is killed"),
    ],
)
def test_nothing_goes_on_when(program: str, number: signal.Signals, data: Path) -> None:
    with make("serve", f"PORT={free_port()}", f"DATA={data}") as (process, below):
        names = " ".join(" ".join(each.cmdline()) for each in below)
        assert all(part in names for part in ("valkey", "postgres", "app.cli.web_server", "workers.forked"))
        ended = psutil.Process(process.pid) if program == "make" else of(program, below)
        ended.send_signal(number)
        assert eventually(lambda: not any(map(goes_on, below)))
        process.wait(PATIENCE_S)
