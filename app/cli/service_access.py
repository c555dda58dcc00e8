"""The service's database and files, for a command that works on them by itself."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import OperationalError

from anoncup.errors import InvalidInput
from anoncup.schemas.roles import Role
from app.cli.local_service import addresses, given_services, require_services
from app.config import get_settings
from app.db.transaction import transaction
from app.processes.embedded_servers import Services, embedded_services, running_services
from app.services.accounts import accounts
from app.services.jobs import health
from app.storage import Store, opened
from migrations.run import migrate as migrate_database

PAUSE_S = 0.5


def check_clock() -> None:
    """Whether any clock goes, by what it has left in the database."""
    require_services()
    with transaction() as session:
        beats = health.heartbeats(session)
    health.require_clock(beats, stale_after_s=get_settings().clock_stale_s)


def create_user(data: Path, *, name: str, password: str, role: Role) -> None:
    with reached_services(data) as services:
        migrate_database(services.database_url)
        use(services, data)
        with transaction() as session:
            accounts.create_user(session, name=name, password=password, role=role)


def check_known(data: Path, *, default: Path | None = None) -> None:
    """Refuse a folder that is not there: a slip in its name must not make an empty database."""
    if data != default and is_empty(data):
        raise InvalidInput(
            "there is no folder {data}; anoncup serve makes it at its first start", data=str(data)
        )


def is_empty(data: Path) -> bool:
    """Whether the folder, if it is what a service lives on, is not there yet."""
    return given_services() is None and not data.exists()


@contextmanager
def reached_services(data: Path) -> Iterator[Services]:
    """The environment's servers, those that already run on ``data``, or embedded ones for a moment."""
    known = given_services() or running_services(data)
    if known is not None:
        await_database(known.database_url, get_settings().database_wait_s)
        yield known
    else:
        with embedded_services(data) as services:
            yield services


def await_database(url: str, seconds: float) -> None:
    """Return when the database takes connections or the time is up; its first use says what is wrong."""
    deadline = time.monotonic() + seconds
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    while time.monotonic() < deadline:
        try:
            engine.connect().close()
            return
        except OperationalError:
            time.sleep(PAUSE_S)


def files_in(data: Path) -> Store:
    """The store of the environment, else the one in the folder of the data."""
    return opened(get_settings().store or str(data.resolve()))


def use(services: Services, data: Path) -> None:
    """Let this process's own transactions reach the same servers."""
    os.environ.update(addresses(services, data))
    get_settings.cache_clear()
