"""Backups for tests: one of a contest, a database to restore it into, and what either holds."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select

from app.cli.backup import service
from app.cli.backup.keys import Places
from app.config import Settings, get_settings
from app.db import engine
from app.db.models import Base
from app.storage import Store, opened, store
from tests.support import cli_zygote
from tests.support.application import application
from tests.support.arena import Arena
from tests.support.uploads import score_everything
from workers import child_manager


@pytest.fixture
def target(settings: Settings) -> Iterator[str]:
    """The URL of another, new database on the same server."""
    admin = create_engine(settings.database_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS another WITH (FORCE)")
        connection.exec_driver_sql("CREATE DATABASE another")
    yield settings.database_url.replace("@/anoncup?", "@/another?")
    with admin.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE another WITH (FORCE)")
    admin.dispose()


@pytest.fixture
def made(arena: Arena, settings: Settings, tmp_path: Path) -> Path:
    """A backup of a contest with a scored and a queued submission."""
    arena.submit("red", seed=1)
    score_everything()
    arena.submit("blue", seed=2)
    service.backup(settings.database_url, store(), tmp_path / "made.tar")
    return tmp_path / "made.tar"


def restore(path: Path, url: str, data: Path, *, into: Store | None = None) -> None:
    with service.opened(path) as (found, contents):
        places = Places(data / "keys" / "sealing.pub", data / "keys" / "private")
        service.restore(found, contents, url=url, store=into or opened(str(data)), places=places)


def command(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """``anoncup`` without any environment, as on a new machine."""
    return cli_zygote.run(words, cwd=Path.cwd(), env={"PATH": os.defpath})


@contextmanager
def living_on(monkeypatch: pytest.MonkeyPatch, url: str, data: Path) -> Iterator[TestClient]:
    """This process's web application and tasks, on another database and folder."""
    with monkeypatch.context() as environment:
        for name, value in {
            "DATABASE_URL": url,
            "ANONCUP_DATA": str(data),
            "ANONCUP_SEALING_KEY_FILE": str(data / "keys" / "sealing.pub"),
            "ANONCUP_OPENING_KEYS_DIR": str(data / "keys" / "private"),
        }.items():
            environment.setenv(name, value)
        forget()
        with TestClient(application(), base_url="http://localhost") as client:
            yield client
    forget()


def forget() -> None:
    child_manager.keeper.discard()
    engine.get_engine().dispose()
    for kept in (get_settings, engine.get_engine, engine.session_factory):
        kept.cache_clear()


def everything(url: str) -> dict[str, list[Any]]:
    """All rows of all tables of a database, in an order of their own."""
    made = create_engine(url)
    with made.connect() as connection:
        connection.exec_driver_sql("SET timezone = 'UTC'")
        found = {
            table.name: sorted(map(repr, connection.execute(select(table))))
            for table in Base.metadata.sorted_tables
        }
    made.dispose()
    return found


def blobs(data: Path) -> set[str]:
    return {path.name for path in (data / "blobs").rglob("*") if path.is_file()}


def read(path: Path) -> list[tuple[str, bytes]]:
    """All rows and files of a backup."""
    with service.opened(path) as (found, _):
        return [
            (name, content.read())
            for folder in ("tables", "blobs")
            for name, content in found.members(folder)
        ]


def blobs_in(path: Path) -> list[tuple[str, bytes]]:
    with service.opened(path) as (found, _):
        return [(name, content.read()) for name, content in found.members("blobs")]
