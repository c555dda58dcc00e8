"""A service with installed packages."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anoncup.client import Client
from app.processes import child_process
from app.processes.supervisor import wait_until_healthy
from tests.e2e.stack import QUICK, check_runs, free_port
from tests.support.arena import PASSWORD
from tests.support.environments import Environment
from tests.support.wait import PATIENCE_S


@contextmanager
def serving(installed: Environment, data: Path, log: Path) -> Iterator[str]:
    """All of a service, by the command that an organizer starts, with what is installed there."""
    port = free_port()
    command = [
        str(installed.python),
        "-P",
        "-m",
        "anoncup.cli",
        "serve",
        "--port",
        str(port),
        "--data",
        str(data),
    ]
    process = child_process.start(command, log=log, env=installed.variables | QUICK)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/readyz", check=lambda: check_runs(process, log))
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def organizer_at(installed: Environment, data: Path, url: str) -> str:
    made = ("admin", "create-user", "Ada", "--role", "organizer", "--password-stdin", "--data", str(data))
    program = [str(installed.python), "-P", "-m", "anoncup.cli", *made]
    subprocess.run(program, env=installed.variables, input=PASSWORD.encode(), check=True, capture_output=True)
    with Client(url) as client:
        return client.token("Ada", PASSWORD)
