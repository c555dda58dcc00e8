"""Fixtures for the embedded Postgres and Valkey, emptied before every test that uses them."""

import os
from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from psycopg.errors import LockNotAvailable
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import Settings, get_settings
from app.core import sealing
from app.core.db import engine
from app.core.db.models import load_metadata
from app.core.http import throttle
from app.core.identity import password_hashes
from app.core.processes import runners
from app.jobs import queue
from app.operations.embedded_servers import EmbeddedServices, run_embedded_services
from migrations.run import migrate
from tests.support.application import build_application
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.openapi_contract import CheckedClient
from tests.support.queue import clear_retry_delays, empty_queue
from tests.support.role_session import separate_roles
from tests.support.s3_server import S3Server
from tests.support.wait import poll_until

pytest_plugins = ["tests.support.hypothesis_profiles"]
SLOW_FOLDERS = {"faults", "e2e", "documents"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest tests, so that no process is left alone with them at the end."""
    items.sort(key=lambda item: item.path.relative_to(item.config.rootpath).parts[1] not in SLOW_FOLDERS)


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> None:
    """Reduce the cost of password hashes: tests sign up hundreds of people."""
    password_hashes.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServices]:
    with run_embedded_services(tmp_path_factory.mktemp("servers")) as running:
        disable_durability(running)
        migrate(running.database_url)
        yield running


def disable_durability(services: EmbeddedServices) -> None:
    """Let commits return before they are on the disk: test servers need not survive a power failure."""
    db_engine = create_engine(services.database_url, isolation_level="AUTOCOMMIT")
    with db_engine.connect() as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))
    db_engine.dispose()


@pytest.fixture(scope="session")
def session_settings(
    services: EmbeddedServices, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    data = tmp_path_factory.mktemp("data")
    sealing.create_keys(data / "sealing.pub", data / "private")
    os.environ.update(
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        ANONCUP_DATA=str(data),
        ANONCUP_SEALING_KEY_FILE=str(data / "sealing.pub"),
        ANONCUP_OPENING_KEYS_DIR=str(data / "private"),
        ANONCUP_LEASE_S="300",  # tests that claim jobs lease them for minutes
    )
    get_settings.cache_clear()
    with separate_roles():
        yield get_settings()
    runners.end_all()
    engine.get_engine().dispose()
    queue.celery.close()


@pytest.fixture
def settings(session_settings: Settings) -> Settings:
    """Settings with an empty database and an empty queue."""
    assert poll_until(empty_tables), f"somebody still writes: {list_busy_queries()}"
    empty_queue()
    throttle.get_local_limiter.cache_clear()
    clear_retry_delays()
    return session_settings


def empty_tables() -> bool:
    """Delete all rows. Return False if another connection, begun by an earlier test, still writes.

    It takes locks without waiting, so there is no deadlock with the other connection.
    """
    tables = [table.name for table in load_metadata().sorted_tables]
    filled_tables_query = " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables
    )
    try:
        with engine.get_engine().begin() as connection:
            connection.execute(text(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE NOWAIT"))
            # Skips the checks of foreign keys: no rows remain.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            for name in connection.scalars(text(filled_tables_query)).all():
                connection.execute(text(f"DELETE FROM {name}"))
    except OperationalError as problem:
        if isinstance(problem.orig, LockNotAvailable):
            return False
        raise
    return True


def list_busy_queries() -> list[str]:
    """Return the queries of other connections that are not idle."""
    query = "SELECT query FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()"
    with engine.get_engine().connect() as connection:
        return list(connection.scalars(text(query)))


@pytest.fixture(scope="session")
def server(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web server. It is shared, since it keeps no state outside of the database."""
    from tests.support.service_processes import run_web_server

    with run_web_server(tmp_path_factory.mktemp("web")) as url:
        yield url


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with CheckedClient(
        build_application(), base_url="http://localhost", raise_server_exceptions=False
    ) as checked_client:
        yield checked_client


@pytest.fixture
def arena(client: TestClient) -> Arena:
    """A small open competition with its organizer."""
    return Arena.create(client)


@pytest.fixture
def contest(client: TestClient, request: pytest.FixtureRequest) -> Contest:
    """A small contest of two phases, in its first, with the settings and submissions of its mark."""
    mark = request.node.get_closest_marker("contest")
    settings = dict(mark.kwargs) if mark else {}
    teams, is_attacked = settings.pop("teams", ()), settings.pop("attacks", False)
    new_contest = Contest.create(client, **settings)
    for team in teams:
        new_contest.submit(team)
    if is_attacked:
        new_contest.open_attacks()
    return new_contest


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """An S3-compatible server, configured in this process's environment."""
    if s3_server.process is None:
        s3_server.start()
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server
