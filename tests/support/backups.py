"""A backup of a contest, a database to restore it into, and readers of both."""

import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select

from app.config import Settings, get_settings
from app.core.db import engine
from app.core.db.models import load_metadata
from app.core.processes import runners
from app.core.storage import Store, get_store, open_store
from app.operations.backup import backup_and_restore
from app.operations.backup.backup_and_restore import RestoreSummary
from tests.support.application import build_application
from tests.support.arena import Arena
from tests.support.shell_commands import start_program
from tests.support.uploads import score_everything


@pytest.fixture
def restore_url(settings: Settings) -> Iterator[str]:
    """The URL of another, empty database on the same server."""
    admin = create_engine(settings.database_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS another WITH (FORCE)")
        connection.exec_driver_sql("CREATE DATABASE another")
    yield settings.database_url.replace("@/anoncup?", "@/another?")
    with admin.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE another WITH (FORCE)")
    admin.dispose()


BACKED_UP_SEEDS = (71, 72)
"""Seeds of the releases in ``backup_file``. No other test reveals their secrets, which stay in the store."""


@pytest.fixture
def backup_file(arena: Arena, settings: Settings, tmp_path: Path) -> Path:
    """A backup of a contest with a scored and a queued submission."""
    arena.submit("red", seed=BACKED_UP_SEEDS[0])
    score_everything()
    arena.submit("blue", seed=BACKED_UP_SEEDS[1])
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "made.tar")
    return tmp_path / "made.tar"


def restore(path: Path, url: str, data: Path, *, target_store: Store | None = None) -> RestoreSummary:
    with backup_and_restore.open_backup(path) as backup_archive:
        return backup_and_restore.restore(
            backup_archive,
            url=url,
            store=target_store or open_store(str(data)),
            private_keys=data / "keys" / "private",
        )


def run_command(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run ``anoncup`` with an empty environment, as on a new machine."""
    return start_program(*arguments, cwd=Path.cwd())


@contextmanager
def open_restored_client(monkeypatch: pytest.MonkeyPatch, url: str, data: Path) -> Iterator[TestClient]:
    """Yield a client of an application that uses another database and data folder, as its tasks do."""
    with monkeypatch.context() as environment:
        for name, value in {
            "DATABASE_URL": url,
            "ANONCUP_DATA": str(data),
            "ANONCUP_SEALING_KEY_FILE": str(data / "keys" / "sealing.pub"),
            "ANONCUP_OPENING_KEYS_DIR": str(data / "keys" / "private"),
        }.items():
            environment.setenv(name, value)
        clear_caches()
        with TestClient(build_application(), base_url="http://localhost") as client:
            yield client
    clear_caches()


def clear_caches() -> None:
    runners.end_all()
    engine.get_engine().dispose()
    for cached_function in (get_settings, engine.get_engine, engine.get_session_factory):
        cached_function.cache_clear()


def read_database(url: str) -> dict[str, list[Any]]:
    """Return the sorted rows of all tables of a database."""
    db_engine = create_engine(url)
    with db_engine.connect() as connection:
        connection.exec_driver_sql("SET timezone = 'UTC'")
        rows = {
            table.name: sorted(map(repr, connection.execute(select(table))))
            for table in load_metadata().sorted_tables
            if table.name != "heartbeats"
        }
    db_engine.dispose()
    return rows


def list_blobs(data: Path) -> set[str]:
    return {path.name for path in (data / "blobs").rglob("*") if path.is_file()}


def read_members(path: Path) -> dict[str, bytes]:
    """Return the content of each member of an archive by its name."""
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def read_blobs(path: Path) -> dict[str, bytes]:
    """Return the stored files of a backup by their SHA-256."""
    members = read_members(path)
    return {
        name.removeprefix("blobs/"): content for name, content in members.items() if name.startswith("blobs/")
    }
