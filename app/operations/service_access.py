"""Access to the service's database and files for commands that use them directly."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.orm import Session

from anoncup.errors import Forbidden, InvalidInput
from anoncup.schemas.fields import Role
from app.config import get_settings
from app.core.db.transaction import transaction
from app.core.identity import users
from app.core.storage import Store, open_store
from app.jobs import health
from app.operations.embedded_servers import EmbeddedServices, find_running_services, run_embedded_services
from app.operations.local_service import build_address_env, find_configured_services, require_services
from app.operations.supervisor import Program, replace_process
from migrations.run import migrate as migrate_database
from migrations.run import require_migrated

_RETRY_PAUSE_S = 0.5


@contextmanager
def explain_missing_privilege() -> Iterator[None]:
    """Raise Forbidden with one line if the database user may not do what the body does."""
    try:
        yield
    except ProgrammingError as problem:
        if not isinstance(problem.orig, InsufficientPrivilege):
            raise
        raise Forbidden(
            "this database user may not see all of it: {reason}", reason=problem.orig.diag.message_primary
        ) from problem


def become(program: Program) -> NoReturn:
    """Replace this process by a program that uses the servers named in the environment.

    Raise Conflict if the tables are older or newer than this code.
    """
    require_services()
    with explain_missing_privilege():
        require_migrated(get_settings().database_url)
    replace_process(program)


def check_clock() -> None:
    """Raise Unavailable unless a recent heartbeat in the database shows that the clock is running.

    Raise Forbidden if the database user may not read it.
    """
    with explain_missing_privilege(), transaction() as session:
        heartbeat_ages = health.load_heartbeat_ages(session)
    health.require_running_clock(heartbeat_ages, stale_after_s=get_settings().clock_stale_s)


def create_user(data_folder: Path, *, name: str, password: str, role: Role) -> None:
    with reach_services(data_folder) as services:
        if find_configured_services() is None:  # this may begin a service
            migrate_database(services.database_url)
        else:
            require_migrated(services.database_url)
        use_services(services, data_folder)
        with transaction() as session:
            users.create_user(session, name=name, password=password, role=role)


@contextmanager
def open_session(data_folder: Path) -> Iterator[Session]:
    """Open a transaction in the service's database."""
    with reach_services(data_folder) as services:
        use_services(services, data_folder)
        with transaction() as session:
            yield session


def require_data_folder(data_folder: Path, *, default: Path | None = None) -> None:
    """Raise InvalidInput if the folder is missing, so that a typo does not create an empty database."""
    if data_folder != default and is_data_folder_missing(data_folder):
        raise InvalidInput(
            "there is no folder {data}; anoncup serve makes it at its first start", data=str(data_folder)
        )


def is_data_folder_missing(data_folder: Path) -> bool:
    """Return whether the service uses the data folder and the folder does not exist yet."""
    return find_configured_services() is None and not data_folder.exists()


@contextmanager
def reach_services(data_folder: Path) -> Iterator[EmbeddedServices]:
    """Yield the servers named in the environment, or those of the data folder.

    The embedded servers of the folder are started if they are not running, and stopped at the end. Raises
    Forbidden if the database user may not do what the body does.
    """
    existing = find_configured_services() or find_running_services(data_folder)
    if existing is not None:
        _await_database(existing.database_url, get_settings().database_wait_s)
        with explain_missing_privilege():
            yield existing
    else:
        with run_embedded_services(data_folder) as services:
            yield services


def _await_database(url: str, seconds: float) -> None:
    """Wait until the database accepts connections, at most for the given time.

    If it still does not, the first query of the command reports the error.
    """
    deadline = time.monotonic() + seconds
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    while time.monotonic() < deadline:
        try:
            engine.connect().close()
            return
        except OperationalError:
            time.sleep(_RETRY_PAUSE_S)


def open_data_store(data_folder: Path) -> Store:
    """Return the store of the environment, or the one in the data folder."""
    return open_store(get_settings().store or str(data_folder.resolve()))


def use_services(services: EmbeddedServices, data_folder: Path) -> None:
    """Point the settings of this process to these servers."""
    os.environ.update(build_address_env(services, data_folder))
    get_settings.cache_clear()
