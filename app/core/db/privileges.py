"""Privileges of the database roles, one for web processes and one for workers and the clock.

``anoncup migrate`` creates the roles and grants the privileges (``migrations.role_grants``). The owner of the
tables, who migrates, backs up and restores, may do everything; so may all processes if they share one
``DATABASE_URL``.
"""

from collections.abc import Mapping

import structlog
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import get_settings
from app.core.db import logins

WEB, WORKER = ROLES = tuple(logins.ROLES.values())

_READ = "SELECT"
_ADD = "SELECT, INSERT"
_WRITE = "SELECT, INSERT, UPDATE"
_ALL = "SELECT, INSERT, UPDATE, DELETE"

PRIVILEGES: Mapping[str, tuple[str, str]] = {
    "adjustments": (_WRITE, _READ),
    "alembic_version": (_READ, _READ),
    "allocated_files": (_READ, "SELECT, INSERT, DELETE"),
    "announcements": (_ALL, _ADD),
    "attempts": (_WRITE, _READ),
    "attack_standings": (_ALL, _ALL),
    "audit_entries": (_ADD, _ADD),
    "clarifications": (_WRITE, ""),
    # Locking a row requires UPDATE.
    "competitions": (_WRITE, "SELECT, UPDATE"),
    "deliveries": (_ADD, _ALL),
    "email_addresses": (_ALL, "SELECT, UPDATE, DELETE"),
    "evaluations": (_WRITE, "SELECT, UPDATE"),
    "grants": (_ADD, ""),
    "guesses": (_WRITE, "SELECT, UPDATE"),
    "heartbeats": (_WRITE, _WRITE),
    "identities": ("SELECT, INSERT, DELETE", ""),
    "invites": (_WRITE, ""),
    "members": (_ALL, _READ),
    "notification_urls": ("SELECT, INSERT, DELETE", _READ),
    "openings": (_READ, _ADD),
    "organizer_files": ("SELECT, INSERT, DELETE", _READ),
    "organizers": (_ALL, ""),
    "password_links": (_WRITE, "INSERT"),
    "rejudgements": (_WRITE, "SELECT, UPDATE"),
    "rescores": (_WRITE, _READ),
    "rounds": (_WRITE, "SELECT, UPDATE"),
    "sealed_organizer_files": ("INSERT", _READ),
    "secrets": ("INSERT", _READ),
    "seed_openings": (_READ, _ADD),
    "seeds": ("", _ADD),
    "stale_standings": (_ALL, _ALL),
    "standings": (_ALL, _ALL),
    "submissions": (_WRITE, _READ),
    "targets": (_READ, _WRITE),
    "teams": (_WRITE, _READ),
    "threshold_reports": (_ADD, "SELECT, UPDATE"),
    "tokens": (_WRITE, ""),
    "users": (_WRITE, _READ),
    "verdicts": (_READ, _ADD),
}
"""Privileges of the web role and of the role of workers and clock, by table. Every table is listed."""


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
