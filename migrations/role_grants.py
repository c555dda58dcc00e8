"""Apply ``app.db.privileges`` to the database: the processes' roles, their privileges and row security.

Every migration to the newest schema ends with this, unless the database has exactly these privileges already:
the statements take locks that would briefly block a running service.
"""

import hashlib
import logging
from collections.abc import Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from app.db import privileges
from app.db.privileges import DELETE_PRIVILEGES, PRIVILEGES, ROLES, ROW_POLICIES
from migrations.guards import GUARDS

logger = logging.getLogger(__name__)

_NO_PARAMETERS = {"no_parameters": True}
"""Execution option with which a percent sign in a statement is literal."""

COMMAND_BY_LETTER = {"r": "SELECT", "i": "INSERT", "u": "UPDATE"}


def apply_privileges(connection: Connection) -> None:
    """Apply roles, privileges and guards in the migration's transaction, to the newest revision's tables.

    If this user may not create the missing roles, only the owner keeps access to the tables.
    """
    if _read_applied_digest(connection) == _compute_grants_digest():
        return
    if not _ensure_roles(connection):
        logger.warning(
            "the database's roles for web, workers and clock are not there, and this user may not make them: "
            "they would protect secrets; docs/hosting.md says how"
        )
        return
    for statement in _build_statements():
        connection.exec_driver_sql(statement, execution_options=_NO_PARAMETERS)
    connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS 'privileges {_compute_grants_digest()}'")
    logger.info("the database's roles have their privileges")


def _compute_grants_digest() -> str:
    """Return a digest of all statements that would be executed."""
    return hashlib.sha256("\n".join([*_build_statements()]).encode()).hexdigest()


def _read_applied_digest(connection: Connection) -> str:
    """Return the digest of the privileges applied to this database; empty if none were."""
    result = connection.exec_driver_sql("SELECT obj_description('alembic_version'::regclass, 'pg_class')")
    return str(result.scalar() or "").removeprefix("privileges ")


def _ensure_roles(connection: Connection) -> bool:
    """Create missing roles; return whether all exist.

    Roles belong to the whole server, so they may have been created for another of our databases.
    """
    for role in _list_missing_roles(connection):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
        except ProgrammingError:
            # Not allowed, or another process has just created it.
            continue
    return not _list_missing_roles(connection)


def _list_missing_roles(connection: Connection) -> list[str]:
    return [
        role
        for role in ROLES
        if connection.exec_driver_sql("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first() is None
    ]


def _build_statements() -> Iterator[str]:
    all_roles = ", ".join(ROLES)
    yield f"GRANT USAGE ON SCHEMA public TO {all_roles}"
    yield f"REVOKE CREATE ON SCHEMA public FROM PUBLIC, {all_roles}"
    yield from _build_database_statements(all_roles)
    yield f"REVOKE ALL ON {', '.join(PRIVILEGES)} FROM PUBLIC, {all_roles}"
    for role in ROLES:
        yield from _build_grants(role)
    guarded_tables = {table for guard in GUARDS if not guard.checks_role for table in guard.tables}
    for table in sorted(guarded_tables | {policy.table for policy in ROW_POLICIES}):
        yield from _build_policies(table)
    for guard in GUARDS:
        yield from guard.build_statements()


def _build_database_statements(all_roles: str) -> Iterator[str]:
    """Yield statements about the database itself. The server inserts the database's name.

    For a user who does not own the database they have no effect and raise no error.
    """
    for statement in (
        f"GRANT CONNECT ON DATABASE %I TO {all_roles}",
        "REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC",
    ):
        yield f"DO $$ BEGIN EXECUTE format('{statement}', current_database()); END $$"


def _build_grants(role: str) -> Iterator[str]:
    for letter, command in COMMAND_BY_LETTER.items():
        for table, columns in privileges.list_granted_columns(role, letter):
            yield f"GRANT {command} ({', '.join(columns)}) ON {table} TO {role}"
    for table, deleting_roles in DELETE_PRIVILEGES.items():
        if role in deleting_roles:
            yield f"GRANT DELETE ON {table} TO {role}"


def _build_policies(table: str) -> Iterator[str]:
    """Yield statements that give roles access to all rows that ``ROW_POLICIES`` does not restrict."""
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"DROP POLICY IF EXISTS everybody ON {table}"
    yield f"CREATE POLICY everybody ON {table} USING (true) WITH CHECK (true)"
    for policy in ROW_POLICIES:
        if policy.table == table:
            kind = "WITH CHECK" if policy.command == "INSERT" else "USING"
            yield f"DROP POLICY IF EXISTS {policy.name} ON {table}"
            yield (
                f"CREATE POLICY {policy.name} ON {table} AS RESTRICTIVE FOR {policy.command}"
                f" TO {policy.role} {kind} ({policy.condition})"
            )
