"""Real servers for every test that asks: the embedded Postgres and Valkey, migrated and emptied."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from hypothesis import settings as hypothesis_settings
from psycopg.errors import LockNotAvailable
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import Settings, get_settings
from app.crypto import deadline_signing, sealing
from app.db import engine
from app.db.models import Base
from app.http import throttle
from app.processes.embedded_servers import Services, embedded_services
from app.services.accounts import accounts
from app.services.jobs import queue
from migrations.run import migrate
from tests.support.application import application
from tests.support.arena import Arena
from tests.support.openapi_contract import CheckedClient
from tests.support.queue import empty_queue, rested
from tests.support.role_session import roles_apart
from tests.support.s3_server import S3Server
from tests.support.wait import eventually
from workers import child_manager

hypothesis_settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
hypothesis_settings.register_profile("full", hypothesis_settings.get_profile("quick"), max_examples=1000)
hypothesis_settings.load_profile("quick")


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
    deadline_signing.create_key(data / "private")
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
    child_manager.keeper.discard()
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


@pytest.fixture(scope="session")
def server(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web server; it keeps nothing between requests that the database does not say."""
    from tests.e2e.stack import web

    with web(tmp_path_factory.mktemp("web")) as url:
        yield url


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with CheckedClient(application(), base_url="http://localhost", raise_server_exceptions=False) as made:
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
