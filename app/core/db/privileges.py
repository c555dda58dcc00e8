"""Privileges of the database roles, one for web processes and one for workers and the clock.

``anoncup migrate`` creates the roles and grants the privileges (``migrations.role_grants``). The owner of the
tables, who migrates, backs up and restores, may do everything; so may all processes if they share one
``DATABASE_URL``.
"""

import structlog
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import get_settings
from app.core.db import logins

WEB, WORKER = ROLES = tuple(logins.ROLES.values())

NONE = ""
READ = "SELECT"
ADD = "SELECT, INSERT"
WRITE = "SELECT, INSERT, UPDATE"
ALL = "SELECT, INSERT, UPDATE, DELETE"


log = structlog.get_logger(__name__)
_OVERPRIVILEGED_QUERY = text(
    "SELECT rolname FROM pg_roles WHERE rolname = current_user AND ("
    " rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication"
    " OR EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public'"
    " AND pg_has_role(current_user, tableowner, 'USAGE')))"
)


def warn_if_overprivileged() -> None:
    """Log a warning at the start of a process if its role has more privileges than it needs.

    The process continues, because one ``DATABASE_URL`` for all processes is allowed. The connection is closed
    before the function returns, because a Celery worker forks afterwards.
    """
    url = get_settings().database_url
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            role = connection.scalar(_OVERPRIVILEGED_QUERY)
    except OperationalError:
        return  # reported when the database is first used
    finally:
        engine.dispose()
    if role is not None:
        log.warning("database_role_too_mighty", role=role, advice="docs/hosting.md, Roles in the database")
