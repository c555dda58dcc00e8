"""A service to measure: what ``anoncup serve`` starts, in a folder of its own."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from app.config import get_settings
from app.db import engine
from app.processes import child_process
from app.processes.embedded_servers import running_services
from app.processes.supervisor import wait_until_healthy
from benchmarks.load import HOST
from tests.e2e.stack import check_runs, free_port


@dataclass(frozen=True, slots=True)
class Service:
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def served(
    folder: Path, more: Sequence[str] = (), env: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Service]:
    """The embedded default as a program of its own, and this process connected to its database."""
    data, port = folder / "data", free_port()
    command = [sys.executable, "-m", "anoncup.cli", "serve", "--port", str(port), "--data", str(data), *more]
    process = child_process.start(command, log=folder / "serve.log", env=os.environ | env)
    try:
        wait_until_healthy(
            f"http://{HOST}:{port}/readyz", check=lambda: check_runs(process, folder / "serve.log")
        )
        found = running_services(data)
        assert found is not None
        os.environ.update(DATABASE_URL=found.database_url, REDIS_URL=found.redis_url)
        get_settings.cache_clear()
        yield Service(port, process.pid)
    finally:
        engine.get_engine().dispose()
        process.terminate()
        process.wait()
