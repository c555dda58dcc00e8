"""Migrate a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import OperationalError, ProgrammingError

from anoncup.errors import Conflict, Forbidden, Unavailable
from migrations import role_grants

_SCHEMA_LOCK = 7366228
"""Key of the advisory lock held while changing the schema, so that starting processes take turns."""


def build_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def list_revisions() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(build_config()).walk_revisions()}


def find_newest_revision() -> str | None:
    return ScriptDirectory.from_config(build_config()).get_current_head()


def migrate(database_url: str, revision: str = "head") -> None:
    engine = create_engine(database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            _migrate_on(connection, revision)
    except OperationalError as problem:
        raise build_unreachable_error(problem) from problem
    except ProgrammingError as problem:
        if isinstance(problem.orig, InsufficientPrivilege):
            raise Forbidden(
                "this database user may not change the tables: migrate with their owner's DATABASE_URL"
            ) from problem
        raise
    finally:
        engine.dispose()


def _migrate_on(connection: Connection, revision: str) -> None:
    """Migrate within the connection's transaction, so that it can be rolled back."""
    _lock_schema(connection)
    require_known_revision(connection)
    config = build_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    if revision == "head":
        role_grants.apply_privileges(connection)


def require_known_revision(connection: Connection) -> str | None:
    """Return the database's revision. Raise Conflict if it is unknown: a later or a removed one."""
    current_revision = MigrationContext.configure(connection).get_current_revision()
    if current_revision is not None and current_revision not in list_revisions():
        raise Conflict(
            "the database is of revision {at}, which this version of anoncup does not know: "
            "install the version that made it, or restore the backup from before the upgrade",
            at=current_revision,
        )
    return current_revision


def _lock_schema(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))


def build_unreachable_error(problem: OperationalError) -> Unavailable:
    """Return the error as one line; the driver's text has a line for each address it tried."""
    reason = " ".join(str(problem.orig).split())
    return Unavailable("the database cannot be reached: {reason}", code="database_unavailable", reason=reason)
