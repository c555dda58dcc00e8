"""Bring a database to the newest schema, or to an older one that a backup has."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import OperationalError, ProgrammingError

from anoncup.errors import Conflict, NotAllowed, Unavailable
from migrations import granting

LOCK = 7366228
"""Held for a transaction by whoever changes the schema: two starting processes take turns."""


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def known_revisions() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()}


def migrate(database_url: str, revision: str = "head") -> None:
    engine = create_engine(database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            migrate_on(connection, revision)
    except OperationalError as problem:
        raise unreachable(problem) from problem
    except ProgrammingError as problem:
        if isinstance(problem.orig, InsufficientPrivilege):
            raise NotAllowed(
                "this database user may not change the tables: migrate with their owner's DATABASE_URL"
            ) from problem
        raise
    finally:
        engine.dispose()


def migrate_on(connection: Connection, revision: str) -> None:
    """Within the connection's transaction, so that it can be taken back."""
    hold(connection)
    refuse_unknown(connection)
    config = configuration()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    if revision == "head":
        granting.put_in_force(connection)


def refuse_unknown(connection: Connection) -> None:
    """Conflict if the database has a revision that is not one of these: a later or a removed one."""
    at = MigrationContext.configure(connection).get_current_revision()
    if at is not None and at not in known_revisions():
        raise Conflict("the database is of revision {at}, which this version of anoncup does not know", at=at)


def hold(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (LOCK,))


def unreachable(problem: OperationalError) -> Unavailable:
    """In one line; the driver's own text has one per address it tried."""
    reason = " ".join(str(problem.orig).split())
    return Unavailable("the database cannot be reached: {reason}", code="database_unavailable", reason=reason)
