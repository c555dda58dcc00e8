"""Logins of the embedded Postgres: its owner and the roles, each with a password, and nobody else."""

from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app.core.db.logins import ROLES
from app.operations.embedded_servers import run_embedded_services
from migrations import logins
from migrations.run import migrate
from tests.support.data_folders import data, used_data_folder

__all__ = ["data", "used_data_folder"]


def read_user(url: str) -> str | None:
    """Return the user that the address signs in, or None if the password is refused."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return str(connection.execute(text("SELECT current_user")).scalar_one())
    except OperationalError as problem:
        if "password" not in str(problem.orig):
            raise
        return None
    finally:
        engine.dispose()


def remove_passfile(url: str) -> str:
    return url.partition("&passfile=")[0]


def test_password_is_required(data: Path) -> None:
    with run_embedded_services(data) as services:
        owner = services.database_url
        assert (read_user(owner), read_user(remove_passfile(owner))) == ("anoncup", None)
        assert [read_user(url) for url in services.role_urls.values()] == [None] * 2
        migrate(owner)
        logins.set_passwords(owner, data / "roles")
        assert [read_user(url) for url in services.role_urls.values()] == [*ROLES.values()]
    assert {file.stat().st_mode & 0o777 for file in data.glob("roles/*/pgpass")} == {0o600}
