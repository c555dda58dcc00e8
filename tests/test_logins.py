"""Who signs in to the private Postgres: its owner and the roles, each with a password, and nobody else."""

import shutil
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app.db.logins import ROLES
from app.processes.embedded_servers import embedded_services
from migrations import logins
from migrations.run import migrate
from tests.support.data_folders import data, made_once

__all__ = ["data", "made_once"]


def user_at(url: str) -> str | None:
    """Whom the address signs in; None where the password keeps it out."""
    engine = create_engine(url)
    try:
        with engine.connect() as opened:
            return str(opened.execute(text("SELECT current_user")).scalar_one())
    except OperationalError as problem:
        if "password" not in str(problem.orig):
            raise
        return None
    finally:
        engine.dispose()


def without_password(url: str) -> str:
    return url.partition("&passfile=")[0]


def test_nobody_signs_in_without_a_password(data: Path) -> None:
    with embedded_services(data) as services:
        owner = services.database_url
        assert (user_at(owner), user_at(without_password(owner))) == ("anoncup", None)
        assert [user_at(url) for url in services.roles.values()] == [None] * 3
        migrate(owner)
        logins.let_in(owner, data / "roles")
        assert [user_at(url) for url in services.roles.values()] == [*ROLES.values()]
    assert {file.stat().st_mode & 0o777 for file in data.glob("roles/*/pgpass")} == {0o600}


def test_a_folder_of_an_older_version_is_locked_at_its_next_start(data: Path) -> None:
    shutil.rmtree(data / "roles")
    (data / "postgres" / "pg_hba.conf").write_text("local all all trust\n")
    with embedded_services(data) as services:
        assert user_at(services.database_url) == "anoncup"
        assert user_at(without_password(services.database_url)) is None


def test_an_owner_whose_password_is_lost_gets_another(data: Path) -> None:
    shutil.rmtree(data / "roles")
    with embedded_services(data) as services:
        assert user_at(services.database_url) == "anoncup"
