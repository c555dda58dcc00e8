"""Whether a process has more rights in the database than it needs."""

import structlog
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import get_settings

log = structlog.get_logger(__name__)

MIGHTY = text(
    "SELECT rolname FROM pg_roles WHERE rolname = current_user AND ("
    " rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication"
    " OR EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public'"
    " AND pg_has_role(current_user, tableowner, 'USAGE')))"
)


def warn_of_might() -> None:
    """Say it at the start of a process; it goes on, for one address for all of them is allowed.

    On a connection of its own, which is gone when it returns: the process may still fork.
    """
    url = get_settings().database_url
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            role = connection.scalar(MIGHTY)
    except OperationalError:
        return  # whoever needs it will say so
    finally:
        engine.dispose()
    if role is not None:
        log.warning("database_role_too_mighty", role=role, advice="docs/hosting.md, Roles in the database")
