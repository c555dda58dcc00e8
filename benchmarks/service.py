"""Start a service to measure with ``anoncup serve``."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from app.config import get_settings
from app.core.db import engine
from app.core.processes import child_process
from app.operations.embedded_servers import find_running_services
from app.operations.supervisor import wait_until_healthy
from benchmarks.load import HOST
from tests.support.service_processes import find_free_port, require_running


@dataclass(frozen=True, slots=True)
class BenchmarkService:
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def run_service(
    folder: Path, extra_arguments: Sequence[str] = (), env: Mapping[str, str] = MappingProxyType({})
) -> Iterator[BenchmarkService]:
    """Run the service with embedded servers, and connect this process to its database."""
    data, port = folder / "data", find_free_port()
    command = [
        sys.executable,
        "-m",
        "anoncup.cli",
        "serve",
        "--port",
        str(port),
        "--data",
        str(data),
        *extra_arguments,
    ]
    process = child_process.start(command, log=folder / "serve.log", env=os.environ | env)
    try:
        wait_until_healthy(
            f"http://{HOST}:{port}/readyz", check=lambda: require_running(process, folder / "serve.log")
        )
        services = find_running_services(data)
        assert services is not None
        os.environ.update(DATABASE_URL=services.database_url, REDIS_URL=services.redis_url)
        get_settings.cache_clear()
        yield BenchmarkService(port, process.pid)
    finally:
        engine.get_engine().dispose()
        process.terminate()
        process.wait()
