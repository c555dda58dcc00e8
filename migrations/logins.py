"""Set the database passwords of the processes' roles."""

from pathlib import Path

import psycopg
from psycopg.errors import InsufficientPrivilege, UndefinedObject
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import OperationalError

from anoncup.errors import Forbidden
from app.core.db import logins
from migrations.run import build_unreachable_error


def set_passwords(database_url: str, folder: Path) -> None:
    """Let each role sign in with the password in its file in ``folder``. Missing files are created.

    Raises Forbidden if this user may not change roles; ``docs/hosting.md`` says how another user can do it.
    """
    engine = create_engine(database_url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)  # noqa: S101  # the only driver there is
            for process, role in logins.ROLES.items():
                logins.allow_login(
                    driver, role, logins.load_or_create_password(logins.get_login_path(folder, process), role)
                )
    except (InsufficientPrivilege, UndefinedObject) as problem:
        raise Forbidden(
            "this user may not let roles sign in: {reason}", reason=problem.diag.message_primary
        ) from problem
    except OperationalError as problem:
        raise build_unreachable_error(problem) from problem
    finally:
        engine.dispose()
