"""Let the processes' roles sign in."""

from pathlib import Path

import psycopg
from psycopg.errors import InsufficientPrivilege, UndefinedObject
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import OperationalError

from anoncup.errors import NotAllowed
from app.db import logins
from migrations.run import unreachable


def let_in(database_url: str, folder: Path) -> None:
    """Each with the password in its file in ``folder``, which is made if it is not there.

    NotAllowed for a user who may not make roles: one who may must do this, by ``docs/hosting.md``.
    """
    engine = create_engine(database_url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)  # noqa: S101  # the only driver there is
            for process, role in logins.ROLES.items():
                logins.let_in(driver, role, logins.password_of(logins.login_file(folder, process), role))
    except (InsufficientPrivilege, UndefinedObject) as problem:
        raise NotAllowed(
            "this user may not let roles sign in: {reason}", reason=problem.diag.message_primary
        ) from problem
    except OperationalError as problem:
        raise unreachable(problem) from problem
    finally:
        engine.dispose()
