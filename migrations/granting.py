"""Put in force what ``app.db.privileges`` says: the processes' roles, what each may do, and their fences.

Done at the end of every migration to the newest schema, unless the database has exactly that already: it
takes locks for which a running service would have to stop a moment.
"""

import hashlib
import logging
from collections.abc import Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from app.db import privileges
from app.db.privileges import DELETES, FENCES, PRIVILEGES, ROLES
from migrations.guards import GUARDS

logger = logging.getLogger(__name__)

AS_IT_STANDS = {"no_parameters": True}
"""A percent sign in a statement is one."""

VERBS = {"r": "SELECT", "i": "INSERT", "u": "UPDATE"}


def put_in_force(connection: Connection) -> None:
    """Within the migration's transaction, on the tables of the newest revision.

    Without the right to make roles it leaves the tables to their owner.
    """
    if in_force(connection) == wanted():
        return
    if not made_roles(connection):
        logger.warning(
            "the database's roles for web, workers and clock are not there, and this user may not make them: "
            "they would protect secrets; docs/hosting.md says how"
        )
        return
    for statement in statements():
        connection.exec_driver_sql(statement, execution_options=AS_IT_STANDS)
    connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS 'privileges {wanted()}'")
    logger.info("the database's roles have their privileges")


def wanted() -> str:
    """A digest of all that would be put in force."""
    return hashlib.sha256("\n".join([*statements()]).encode()).hexdigest()


def in_force(connection: Connection) -> str:
    """The digest of what was put in force here; empty if nothing was."""
    said = connection.exec_driver_sql("SELECT obj_description('alembic_version'::regclass, 'pg_class')")
    return str(said.scalar() or "").removeprefix("privileges ")


def made_roles(connection: Connection) -> bool:
    """Whether all are there now. They are the whole server's: another database of ours may have made them."""
    for role in missing_roles(connection):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
        except ProgrammingError:
            # No right to, or somebody was faster.
            continue
    return not missing_roles(connection)


def missing_roles(connection: Connection) -> list[str]:
    return [
        role
        for role in ROLES
        if connection.exec_driver_sql("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first() is None
    ]


def statements() -> Iterator[str]:
    everybody = ", ".join(ROLES)
    yield f"GRANT USAGE ON SCHEMA public TO {everybody}"
    yield f"REVOKE CREATE ON SCHEMA public FROM PUBLIC, {everybody}"
    yield from on_the_database(everybody)
    yield f"REVOKE ALL ON {', '.join(PRIVILEGES)} FROM PUBLIC, {everybody}"
    for role in ROLES:
        yield from grants(role)
    for table in sorted({fence.table for fence in FENCES}):
        yield from fenced(table)
    for guard in GUARDS:
        yield from guard.statements()


def on_the_database(everybody: str) -> Iterator[str]:
    """Its name is known to itself only. A user who does not own it can change nothing here: no error."""
    for act in (
        f"GRANT CONNECT ON DATABASE %I TO {everybody}",
        "REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC",
    ):
        yield f"DO $$ BEGIN EXECUTE format('{act}', current_database()); END $$"


def grants(role: str) -> Iterator[str]:
    for letter, verb in VERBS.items():
        for table, columns in privileges.granted(role, letter):
            yield f"GRANT {verb} ({', '.join(columns)}) ON {table} TO {role}"
    for table, whose in DELETES.items():
        if role in whose:
            yield f"GRANT DELETE ON {table} TO {role}"


def fenced(table: str) -> Iterator[str]:
    """Open to all who have the privilege, but for the fences."""
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"DROP POLICY IF EXISTS everybody ON {table}"
    yield f"CREATE POLICY everybody ON {table} USING (true) WITH CHECK (true)"
    for fence in FENCES:
        if fence.table == table:
            kind = "WITH CHECK" if fence.verb == "INSERT" else "USING"
            yield f"DROP POLICY IF EXISTS {fence.name} ON {table}"
            yield (
                f"CREATE POLICY {fence.name} ON {table} AS RESTRICTIVE FOR {fence.verb} TO {fence.role} "
                f"{kind} ({fence.rows})"
            )
