"""Start web server, clock and workers on one host or on two, as ``docs/hosting.md`` describes."""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.config import get_settings
from app.core.db import engine
from app.operations.embedded_servers import (
    EmbeddedServices,
    get_passwords_folder,
    run_embedded_services,
)
from app.operations.local_service import build_command, build_environments, ensure_keys
from app.operations.supervisor import (
    Program,
    build_clock_program,
    build_web_program,
    build_worker_program,
    run,
)
from benchmarks.load import HOST
from tests.support.s3_server import BUCKET, S3Server
from tests.support.service_processes import find_free_port


@dataclass(frozen=True, slots=True)
class Installation:
    """A folder and the environment variables of the programs.

    ``shared_env`` is for all programs, ``web_env`` for the web server, ``private_env`` for workers and clock,
    and ``clock_env`` for the clock in addition.
    """

    folder: Path
    shared_env: Mapping[str, str]
    web_env: Mapping[str, str]
    private_env: Mapping[str, str]
    clock_env: Mapping[str, str]


@contextmanager
def run_installation(folder: Path) -> Iterator[tuple[Installation, EmbeddedServices]]:
    """Run the servers with a migrated database, and connect this process as the owner."""
    data = folder / "data"
    data.mkdir(parents=True)
    with run_embedded_services(data) as services:
        ensure_keys(data)
        env = build_environments(services, data)
        run(
            build_command("migrations", "migrate", "--roles", str(get_passwords_folder(data)), env=env.shared)
        )
        os.environ.update(env.shared)
        for cached_function in (get_settings, engine.get_engine, engine.get_session_factory):
            cached_function.cache_clear()
        yield Installation(folder, env.shared, env.web, env.worker, env.worker), services
        engine.get_engine().dispose()


# Two hosts, connected by TCP


async def _copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(1 << 16):
        writer.write(chunk)
        await writer.drain()
    writer.close()


async def _relay_connection(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    far_reader, far_writer = await asyncio.open_unix_connection(path)
    await asyncio.gather(
        _copy_stream(reader, far_writer), _copy_stream(far_reader, writer), return_exceptions=True
    )


def _start_relay(path: str) -> int:
    """Relay a local port to a unix socket as long as this process lives; return the port."""
    port, loop = find_free_port(), asyncio.new_event_loop()
    loop.run_until_complete(asyncio.start_server(partial(_relay_connection, path), HOST, port))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return port


@contextmanager
def run_over_network(installation: Installation, services: EmbeddedServices) -> Iterator[Installation]:
    """Yield the installation with an S3 bucket for the files and TCP addresses of the servers."""
    socket_folder = services.redis_py_url.removeprefix("unix://").removesuffix("/valkey.sock")
    postgres_port, valkey_port = (
        _start_relay(f"{socket_folder}/.s.PGSQL.5432"),
        _start_relay(f"{socket_folder}/valkey.sock"),
    )
    (installation.folder / "bucket").mkdir()
    bucket = S3Server(installation.folder / "bucket")
    bucket.start()

    def replace_database_url(env: Mapping[str, str]) -> dict[str, str]:
        socket_part = f"@/anoncup?host={socket_folder}&port=5432&"
        url = env.get("DATABASE_URL", "").replace(socket_part, f"@{HOST}:{postgres_port}/anoncup?")
        return {**env, "DATABASE_URL": url} if url else dict(env)

    shared = {
        **replace_database_url(installation.shared_env),
        **bucket.environment,
        "REDIS_URL": f"redis://{HOST}:{valkey_port}/0",
        "ANONCUP_STORE": f"s3://{BUCKET}/scale",
    }
    environments = [
        replace_database_url(env)
        for env in (installation.web_env, installation.private_env, installation.clock_env)
    ]
    try:
        yield Installation(installation.folder, shared, *environments)
    finally:
        bucket.kill()


def build_programs(installation: Installation, port: int, hosts: int, jobs: int) -> Iterator[Program]:
    """Yield the programs of the web server, the clock, and a worker with ``jobs`` jobs on each host."""
    log_folder = installation.folder / f"logs-{port}"
    log_folder.mkdir()
    web_env = {**installation.shared_env, **installation.web_env}
    private_env = {**installation.shared_env, **installation.private_env}
    yield build_web_program(host=HOST, port=port, env=web_env, log=log_folder / "web.log", process_count=2)
    yield build_clock_program(env={**private_env, **installation.clock_env}, log=log_folder / "clock.log")
    for number in range(hosts):
        host_folder = log_folder / f"host-{number}"
        host_folder.mkdir()
        env = {"ANONCUP_STORE": installation.shared_env["ANONCUP_DATA"], **private_env}
        env |= {"ANONCUP_DATA": str(host_folder), "TMPDIR": str(host_folder)}
        yield build_worker_program(
            kinds=("scores", "guesses"),
            jobs=jobs,
            env=env,
            log=host_folder / "worker.log",
            name=f"{port}-{number}",
        )
