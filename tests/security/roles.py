"""Signing in to the database as a process of a service does."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import ProgrammingError

from app.config import Settings
from app.db import logins
from migrations.logins import let_in

SignedIn = Callable[[str], AbstractContextManager[Connection]]


@pytest.fixture(scope="module")
def folder(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The passwords of the roles, which may sign in with them."""
    made = tmp_path_factory.mktemp("roles")
    let_in(session_settings.database_url, made)
    return made


@pytest.fixture
def signed_in(settings: Settings, folder: Path) -> SignedIn:
    return lambda role: connected(login_url(settings.database_url, folder, role))


def login_url(url: str, folder: Path, role: str) -> str:
    """As an operator gives it to a process: its own name and password in place of the owner's."""
    process = next(process for process, each in logins.ROLES.items() if each == role)
    place, _, options = url.partition("?")
    kept = "&".join(option for option in options.split("&") if not option.startswith("passfile="))
    file = quote(str(logins.login_file(folder, process)))
    return f"{place.replace('//anoncup@', f'//{role}@')}?{kept}&passfile={file}"


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def refusal(connection: Connection, statement: str) -> str:
    """What Postgres says, if it is for want of a right."""
    with pytest.raises(ProgrammingError) as refused, connection.begin_nested():
        connection.execute(text(statement))
    assert isinstance(refused.value.orig, InsufficientPrivilege), refused.value.orig
    return str(refused.value.orig)
