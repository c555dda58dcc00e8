"""Database connections in the role of a process."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import ProgrammingError

from app.config import Settings
from app.core.db import logins
from migrations.logins import set_passwords

SignInAsRole = Callable[[str], AbstractContextManager[Connection]]


@pytest.fixture(scope="module")
def logins_folder(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the roles' passwords, with which they can sign in."""
    passwords_folder = tmp_path_factory.mktemp("roles")
    set_passwords(session_settings.database_url, passwords_folder)
    return passwords_folder


@pytest.fixture
def sign_in(settings: Settings, logins_folder: Path) -> SignInAsRole:
    return lambda role: connect_to(build_login_url(settings.database_url, logins_folder, role))


def build_login_url(url: str, folder: Path, role: str) -> str:
    """Return a database URL with a role's name and password file instead of the owner's."""
    process = next(process for process, name in logins.ROLES.items() if name == role)
    address, _, options = url.partition("?")
    other_options = "&".join(option for option in options.split("&") if not option.startswith("passfile="))
    file = quote(str(logins.get_login_path(folder, process)))
    return f"{address.replace('//anoncup@', f'//{role}@')}?{other_options}&passfile={file}"


@contextmanager
def connect_to(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def require_refusal(connection: Connection, statement: str) -> str:
    """Require that a statement is refused for a missing privilege, and return the message."""
    with pytest.raises(ProgrammingError) as excinfo, connection.begin_nested():
        connection.execute(text(statement))
    assert isinstance(excinfo.value.orig, InsufficientPrivilege), excinfo.value.orig
    return str(excinfo.value.orig)
