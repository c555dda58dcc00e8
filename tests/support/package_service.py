"""A service in an environment with installed packages."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anoncup.client import Client
from app.core.processes import child_process
from app.operations.supervisor import wait_until_healthy
from tests.support.arena import PASSWORD
from tests.support.environments import PackageEnvironment
from tests.support.service_processes import QUICK_SETTINGS, find_free_port, require_running
from tests.support.wait import TIMEOUT_S


@contextmanager
def run_service(environment: PackageEnvironment, data: Path, log: Path) -> Iterator[str]:
    """Run ``anoncup serve`` in the environment. Yield its URL."""
    port = find_free_port()
    program = [str(environment.python_path), "-P", "-m", "anoncup.cli"]
    command = [*program, "serve", "--port", str(port), "--data", str(data)]
    process = child_process.start(command, log=log, env=environment.variables | QUICK_SETTINGS)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/readyz", check=lambda: require_running(process, log))
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT_S)


def create_organizer(environment: PackageEnvironment, data: Path, url: str) -> str:
    arguments = (
        "admin",
        "create-user",
        "Ada",
        "--role",
        "organizer",
        "--password-stdin",
        "--data",
        str(data),
    )
    program = [str(environment.python_path), "-P", "-m", "anoncup.cli", *arguments]
    subprocess.run(
        program, env=environment.variables, input=PASSWORD.encode(), check=True, capture_output=True
    )
    with Client(url) as client:
        return client.create_token("Ada", PASSWORD)
