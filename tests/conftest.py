"""Real servers for every test that asks: the embedded Postgres and Valkey, migrated and emptied."""

import fcntl
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from psycopg.errors import LockNotAvailable
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app import queue, sealing, throttle, witnessing
from app.config import Settings, get_settings
from app.db import engine
from app.db.models import Base
from app.local.embedded import Services, embedded_services
from app.scoring import kernels
from app.services.people import accounts
from migrations.run import migrate
from tests.acting import roles_apart
from tests.application import application
from tests.arena import Arena
from tests.contract import CheckedClient
from tests.patience import eventually
from tests.s3 import S3Server
from tests.trying import shortened
from workers import child, fitness

COMPILING = Path(kernels.__file__).with_name("__pycache__") / "compiling"
ROOM = Path(__file__).parent
LOOPS = ("kernels.warm_microdata()", "kernels.warm_baskets(); kernels.warm_bounds()")

gc.disable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """One process makes the bytecode of a new checkout while the others wait: each would by itself."""
    folder = os.open(ROOM, os.O_RDONLY)
    try:
        if hasattr(session.config, "workerinput") and not sys.dont_write_bytecode:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if any(ROOM.glob("__pycache__/test_*.pyc")):
                fcntl.flock(folder, fcntl.LOCK_UN)
        return (yield)
    finally:
        os.close(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not names_a_file(config):
        shortened(items)


def pytest_collection_finish() -> None:
    """What has been imported and collected stays: who looks for garbage need not look through it again."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than cores for the whole suite, since many tests wait for processes that they have started.

    A file alone starts sooner in this process (0).
    """
    cores = len(os.sched_getaffinity(0))
    return 0 if names_a_file(config) or cores == 1 else min(cores + 1, 4)


def names_a_file(config: pytest.Config) -> bool:
    return any(Path(argument.partition("::")[0]).is_file() for argument in config.args)


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Two processes compile the loops of a new checkout while the others start: each would by itself."""
    COMPILING.parent.mkdir(exist_ok=True)
    with COMPILING.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The lock is theirs, and ends with the last of them.
        code = [f"from app.scoring import kernels; {loops}" for loops in LOOPS]
        started = [subprocess.Popen([sys.executable, "-c", each], pass_fds=[lock.fileno()]) for each in code]

    def end() -> None:
        for process in started:
            process.terminate()
            process.wait()

    config.add_cleanup(end)


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """The loops, if a process is compiling them."""
    if COMPILING.exists():
        with COMPILING.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> None:
    """Hundreds of sign-ups: the same hash function with little work."""
    accounts.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with embedded_services(tmp_path_factory.mktemp("servers")) as running:
        forget_the_disk(running)
        migrate(running.database_url)
        yield running


def forget_the_disk(running: Services) -> None:
    """Nobody cuts the power of these: commits need not wait for the disk."""
    made = create_engine(running.database_url, isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))
    made.dispose()


@pytest.fixture(scope="session")
def session_settings(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    data = tmp_path_factory.mktemp("data")
    sealing.create_keys(data / "sealing.pub", data / "private")
    witnessing.create_key(data / "private")
    os.environ.update(
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        ANONCUP_DATA=str(data),
        ANONCUP_SEALING_KEY_FILE=str(data / "sealing.pub"),
        ANONCUP_OPENING_KEYS_DIR=str(data / "private"),
    )
    get_settings.cache_clear()
    with roles_apart():
        yield get_settings()
    child.keeper.discard()
    engine.get_engine().dispose()
    queue.celery.close()


@pytest.fixture
def settings(session_settings: Settings) -> Settings:
    """An empty database, an empty queue, and what reaches them."""
    assert eventually(empty_tables), f"somebody still writes: {busy()}"
    empty_queue()
    throttle.alone.cache_clear()
    rested()
    return session_settings


def empty_tables() -> bool:
    """Delete every row, unless what an earlier test began still writes; then False.

    It waits for nobody while it holds a lock, so the two cannot wait for each other.
    """
    tables = [table.name for table in Base.metadata.sorted_tables]
    written = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables)
    try:
        with engine.get_engine().begin() as connection:
            connection.execute(text(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE NOWAIT"))
            # No row stays to which another could refer.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            for name in connection.scalars(text(written)).all():
                connection.execute(text(f"DELETE FROM {name}"))
    except OperationalError as problem:
        if isinstance(problem.orig, LockNotAvailable):
            return False
        raise
    return True


def busy() -> list[str]:
    """What other connections to the database do or did last."""
    query = "SELECT query FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()"
    with engine.get_engine().connect() as connection:
        return list(connection.scalars(text(query)))


def rested() -> None:
    """The pause that follows a claim given back has passed, for the work and for this process as a worker."""
    with engine.get_engine().begin() as connection:
        for table in ("evaluations", "guesses", "threshold_reports"):
            connection.execute(text(f"UPDATE {table} SET not_before = NULL"))
    for worker in (fitness.FOR_SECRETS, fitness.FOR_REPORTS):
        worker.reason, worker.believed_until, worker.resting_until = None, 0.0, 0.0


def empty_queue() -> None:
    with queue.celery.connection_for_write() as connection:
        connection.default_channel.client.flushall()


@pytest.fixture(scope="session")
def server(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web server; it keeps nothing between requests that the database does not say."""
    from tests.e2e.stack import web

    with web(tmp_path_factory.mktemp("web")) as url:
        yield url


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with CheckedClient(application(), raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def arena(client: TestClient) -> Arena:
    """A small open competition with its organizer."""
    return Arena.opened(client)


@pytest.fixture
def reference_data() -> Path:
    """The folder of real data, where there is one."""
    folder = os.environ.get("ANONCUP_REFERENCE_DATA")
    if not folder:
        pytest.skip("ANONCUP_REFERENCE_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """An S3-compatible store that this process's environment names."""
    if s3_server.process is None:
        s3_server.start()
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server
