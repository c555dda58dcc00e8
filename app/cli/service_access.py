"""Access to the service's database and files for commands that use them directly."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import OperationalError

from anoncup.errors import InvalidInput
from anoncup.schemas.roles import Role
from app.cli.local_service import build_address_env, find_configured_services, require_services
from app.config import get_settings
from app.db.transaction import transaction
from app.processes.embedded_servers import EmbeddedServices, find_running_services, run_embedded_services
from app.services.accounts import accounts
from app.services.jobs import health
from app.storage import Store, open_store
from migrations.run import migrate as migrate_database

_RETRY_PAUSE_S = 0.5


def check_clock() -> None:
    """Raise Unavailable unless the heartbeats in the database show a running clock."""
    require_services()
    with transaction() as session:
        heartbeat_ages = health.load_heartbeat_ages(session)
    health.require_clock(heartbeat_ages, stale_after_s=get_settings().clock_stale_s)


def create_user(data: Path, *, name: str, password: str, role: Role) -> None:
    with reach_services(data) as services:
        migrate_database(services.database_url)
        use_services(services, data)
        with transaction() as session:
            accounts.create_user(session, name=name, password=password, role=role)


def require_data_folder(data: Path, *, default: Path | None = None) -> None:
    """Raise InvalidInput if the folder is missing, so that a typo does not create an empty database."""
    if data != default and is_missing(data):
        raise InvalidInput(
            "there is no folder {data}; anoncup serve makes it at its first start", data=str(data)
        )


def is_missing(data: Path) -> bool:
    """Return whether the service uses the data folder and the folder does not exist yet."""
    return find_configured_services() is None and not data.exists()


@contextmanager
def reach_services(data: Path) -> Iterator[EmbeddedServices]:
    """Yield the servers of the environment, those already running on ``data``, or temporary embedded ones."""
    existing = find_configured_services() or find_running_services(data)
    if existing is not None:
        _await_database(existing.database_url, get_settings().database_wait_s)
        yield existing
    else:
        with run_embedded_services(data) as services:
            yield services


def _await_database(url: str, seconds: float) -> None:
    """Wait until the database accepts connections or the time is up; its first use then reports the error."""
    deadline = time.monotonic() + seconds
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    while time.monotonic() < deadline:
        try:
            engine.connect().close()
            return
        except OperationalError:
            time.sleep(_RETRY_PAUSE_S)


def open_data_store(data: Path) -> Store:
    """Return the store of the environment, or the one in the data folder."""
    return open_store(get_settings().store or str(data.resolve()))


def use_services(services: EmbeddedServices, data: Path) -> None:
    """Point the settings of this process to these servers."""
    os.environ.update(build_address_env(services, data))
    get_settings.cache_clear()
