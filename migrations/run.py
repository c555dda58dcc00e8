"""Migrate a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import OperationalError, ProgrammingError

from anoncup.errors import Conflict, Forbidden, Unavailable
from app.core.db.models import load_metadata
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


def migrate(database_url: str, revision: str = "head") -> str | None:
    """Migrate the database and return its revision."""
    engine = create_engine(database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            return _migrate_on(connection, revision)
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


def _migrate_on(connection: Connection, revision: str) -> str | None:
    """Migrate within the connection's transaction, so that it can be rolled back."""
    _lock_schema(connection)
    require_known_revision(connection)
    config = build_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    if revision == "head":
        require_all_tables(connection)
        role_grants.apply_privileges(connection)
    return require_known_revision(connection)


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


def require_newest_revision(connection: Connection) -> str | None:
    """Return the database's revision. Raise Conflict unless it is the newest that this code knows."""
    current_revision = require_known_revision(connection)
    if current_revision is None:
        raise Conflict("the database has no tables of anoncup: run anoncup migrate")
    if current_revision != find_newest_revision():
        raise Conflict("the schema is of revision {at}: run anoncup migrate", at=current_revision)
    return current_revision


def require_migrated(database_url: str) -> None:
    """Raise Conflict unless the revision is the newest. A database that cannot be reached is not checked."""
    engine = create_engine(database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            require_newest_revision(connection)
    except OperationalError:
        return
    finally:
        engine.dispose()


def require_all_tables(connection: Connection) -> None:
    """Raise Conflict if the models have more than the database, as after another development version."""
    for difference in compare_metadata(MigrationContext.configure(connection), load_metadata()):
        if str(difference[0]).startswith("add_"):
            names = [getattr(part, "name", part) for part in difference]
            raise Conflict(
                "the tables are those of another development version ({difference}): use it, or an empty "
                "database",
                difference=" ".join(name for name in names if isinstance(name, str)),
            )


def _lock_schema(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))


def build_unreachable_error(problem: OperationalError) -> Unavailable:
    """Return the error as one line; the driver's text has a line for each address it tried."""
    reason = " ".join(str(problem.orig).split())
    return Unavailable("the database cannot be reached: {reason}", code="database_unavailable", reason=reason)
