"""``make serve`` with the real make: no process survives when make is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.service_processes import find_free_port, read_command_line
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
OWN_VARIABLES = ("DATABASE_URL", "REDIS_URL", "ANONCUP_")


@contextmanager
def run_make(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """Run a target of the Makefile until it is ready. Yield its process and all descendants."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
    unchanged = ("-o", "runtime", "-o", "site/index.html")
    command = ["make", *unchanged, f"BIN={Path(sys.executable).parent}", *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert any(line.startswith("ready: ") for line in process.stdout)
        children = psutil.Process(process.pid).children(recursive=True)
        try:
            yield process, children
        finally:
            for child in children:
                if is_alive(child):
                    child.kill()
            process.kill()


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that the tests use one after the other."""
    return tmp_path_factory.mktemp("make") / "data"


@pytest.mark.parametrize(
    "signal_number",
    [
        pytest.param(signal.SIGTERM, id="make is asked to end"),
        pytest.param(signal.SIGKILL, id="make is killed"),
    ],
)
def test_no_process_survives(signal_number: signal.Signals, data: Path) -> None:
    with run_make("serve", f"PORT={find_free_port()}", f"DATA={data}") as (process, children):
        names = " ".join(" ".join(read_command_line(child)) for child in children)
        assert all(
            part in names
            for part in ("valkey", "postgres", "app.operations.web_server", "workers.main", "workers.clock")
        )
        process.send_signal(signal_number)
        assert poll_until(lambda: not any(map(is_alive, children)))
        process.wait(TIMEOUT_S)
