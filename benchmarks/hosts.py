"""Web server, clock and workers on one host or on two, started as ``docs/hosting.md`` does."""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.cli.local_service import command, environment
from app.config import get_settings
from app.db import engine
from app.processes import pg_hba
from app.processes.embedded_servers import Services, embedded_services
from app.processes.supervisor import Program, run, scheduler_program, web_program, worker_programs
from benchmarks.load import HOST
from tests.e2e.stack import free_port
from tests.support.s3_server import BUCKET, S3Server


@dataclass(frozen=True, slots=True)
class Plant:
    """Servers; what all are told, the web server alone, workers and the clock alone, and the clock."""

    folder: Path
    shared: Mapping[str, str]
    public: Mapping[str, str]
    private: Mapping[str, str]
    clock: Mapping[str, str]


@contextmanager
def planted(folder: Path) -> Iterator[tuple[Plant, Services]]:
    """A migrated database, and this process connected to it as its owner."""
    data = folder / "data"
    data.mkdir(parents=True)
    with embedded_services(data) as services:
        shared, public, private = environment(services, data)
        run(command("migrations", "migrate", "--roles", str(pg_hba.kept(data)), env=shared))
        os.environ.update(shared)
        for known in (get_settings, engine.get_engine, engine.session_factory):
            known.cache_clear()
        clock = {"DATABASE_URL": services.roles["clock"]}
        yield Plant(folder, shared, public, private, clock), services
        engine.get_engine().dispose()


# Two hosts: what lies between them is TCP


async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.close()


async def joined(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    far_reader, far_writer = await asyncio.open_unix_connection(path)
    await asyncio.gather(copied(reader, far_writer), copied(far_reader, writer), return_exceptions=True)


def relayed(path: str) -> int:
    """A port of this machine that leads to the socket, as long as this process lives."""
    port, loop = free_port(), asyncio.new_event_loop()
    loop.run_until_complete(asyncio.start_server(partial(joined, path), HOST, port))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return port


@contextmanager
def networked(plant: Plant, services: Services) -> Iterator[Plant]:
    """The same with a bucket for the files, and addresses that lead there from other hosts."""
    sockets = services.redis_py_url.removeprefix("unix://").removesuffix("/valkey.sock")
    postgres, valkey = relayed(f"{sockets}/.s.PGSQL.5432"), relayed(f"{sockets}/valkey.sock")
    (plant.folder / "bucket").mkdir()
    bucket = S3Server(plant.folder / "bucket")
    bucket.start()

    def by_network(env: Mapping[str, str]) -> dict[str, str]:
        place = f"@/anoncup?host={sockets}&port=5432&"
        url = env.get("DATABASE_URL", "").replace(place, f"@{HOST}:{postgres}/anoncup?")
        return {**env, "DATABASE_URL": url} if url else dict(env)

    shared = {
        **by_network(plant.shared),
        **bucket.environment,
        "REDIS_URL": f"redis://{HOST}:{valkey}/0",
        "ANONCUP_STORE": f"s3://{BUCKET}/scale",
    }
    told = [by_network(env) for env in (plant.public, plant.private, plant.clock)]
    try:
        yield Plant(plant.folder, shared, *told)
    finally:
        bucket.kill()


def programs(plant: Plant, port: int, hosts: int, jobs: int) -> Iterator[Program]:
    """The web server and the clock, and on each host a worker of so many jobs."""
    logs = plant.folder / f"logs-{port}"
    logs.mkdir()
    web, private = {**plant.shared, **plant.public}, {**plant.shared, **plant.private}
    yield web_program(host=HOST, port=port, env=web, log=logs / "web.log", processes=2)
    yield scheduler_program(env={**private, **plant.clock}, log=logs / "clock.log")
    for number in range(hosts):
        home = logs / f"host-{number}"
        home.mkdir()
        own = {"ANONCUP_STORE": plant.shared["ANONCUP_DATA"], **private}
        own |= {"ANONCUP_DATA": str(home), "TMPDIR": str(home)}
        yield from worker_programs(
            queues=("scores", "guesses"), jobs=jobs, env=own, logs=home, name=f"{port}-{number}"
        )
