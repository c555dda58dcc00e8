"""A service brought up on this machine: its servers, its keys, its processes."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app import sealing
from app.config import get_settings
from app.embedded import Services, embedded_services, running_services
from app.errors import InvalidInput
from app.processes import (
    QUEUES,
    Supervisor,
    check_port_is_free,
    owned_signals,
    scheduler_program,
    supervised,
    wait_until_healthy,
    web_program,
    worker_programs,
)
from app.roles import Role
from app.services import accounts, health
from app.storage import Store, opened
from app.transaction import transaction
from migrations.run import migrate as migrate_database

FINISHING_S = 100.0
"""How long a worker that is asked to end may finish what it has begun; what is cut off is begun again."""
MOST_JOBS = 4
"""Of scores at once, on a machine of many cores that does all the rest besides."""


def given_services() -> Services | None:
    """The servers that the environment names; one without the other is a mistake."""
    settings = get_settings()
    if bool(settings.database_url) != bool(settings.redis_url):
        raise InvalidInput("set both DATABASE_URL and REDIS_URL, or neither for the embedded default")
    return Services(settings.database_url, settings.redis_url) if settings.database_url else None


def become_web_server(host: str, port: int) -> None:
    program = web_program(host=host, port=port, env={})
    os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted


def work(queues: Collection[str], jobs: int) -> None:
    """Turn this process into Celery's, which has its own way with signals; or watch over two of them."""
    require_services()
    programs = worker_programs(queues=queues, jobs=jobs, grace=FINISHING_S)
    if len(programs) == 1:
        os.environ.update(programs[0].env)
        os.execv(sys.executable, list(programs[0].command))  # noqa: S606  # no shell is wanted
    with owned_signals(), supervised(programs) as supervisor:
        supervisor.wait()


def become_scheduler() -> None:
    require_services()
    program = scheduler_program(env={})
    os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted


def known_queues(names: str) -> frozenset[str]:
    """The kinds of work in a list with commas."""
    found = frozenset(name.strip() for name in names.split(","))
    if not found <= QUEUES.keys():
        raise InvalidInput("queues are " + ", ".join(QUEUES))
    return found


def check_clock() -> None:
    """Whether any clock goes, by what it has left in the database."""
    require_services()
    with transaction() as session:
        beats = health.heartbeats(session)
    health.require_clock(beats, stale_after_s=get_settings().clock_stale_s)


def require_services() -> None:
    if given_services() is None:
        raise InvalidInput("set DATABASE_URL and REDIS_URL")


def create_user(data: Path, *, name: str, password: str, role: Role) -> None:
    with reached_services(data) as services:
        migrate_database(services.database_url)
        use(services, data)
        with transaction() as session:
            accounts.create_user(session, name=name, password=password, role=role)


def check_known(data: Path, *, default: Path | None = None) -> None:
    """Refuse a folder that is not there: a slip in its name must not make an empty database."""
    if given_services() is None and data != default and not data.exists():
        raise InvalidInput(f"there is no folder {data}; anoncup serve makes it at its first start")


@contextmanager
def reached_services(data: Path) -> Iterator[Services]:
    """The environment's servers, those that already run on ``data``, or embedded ones for a moment."""
    known = given_services() or running_services(data)
    if known is not None:
        yield known
    else:
        with embedded_services(data) as services:
            yield services


@contextmanager
def own_services(data: Path) -> Iterator[Services]:
    given = given_services()
    if given is not None:
        yield given
    else:
        with embedded_services(data) as services:
            yield services


@contextmanager
def service(host: str, port: int, data: Path) -> Iterator[Supervisor]:
    """Database migrated, web application, a worker and the clock running; all of it ends with the context."""
    data = data.resolve()
    check_port_is_free(host, port)
    with own_services(data) as services:
        migrate_database(services.database_url)
        use(services, data)
        shared, public, private = environment(services, data)
        logs, jobs = data / "logs", min(len(os.sched_getaffinity(0)), MOST_JOBS)
        programs = [
            web_program(host=host, port=port, env=shared | public, log=logs / "web.log"),
            *worker_programs(jobs=jobs, env=shared | private, logs=logs, apart=str(os.getpid())),
            scheduler_program(env=shared | private, log=logs / "scheduler.log"),
        ]
        with supervised(programs, also=services.check) as supervisor:
            wait_until_healthy(f"http://{host}:{port}/readyz", check=supervisor.check_start)
            yield supervisor


def environment(services: Services, data: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """What all are told, what only the web application, and what only the worker and the clock."""
    public, private = data / "keys" / "sealing.pub", data / "keys" / "private"
    if not public.exists():
        sealing.create_keys(public, private)
    shared = {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data),
    }
    return shared, {"ANONCUP_SEALING_KEY_FILE": str(public)}, {"ANONCUP_OPENING_KEYS_DIR": str(private)}


def files_in(data: Path) -> Store:
    """The store of the environment, else the one in the folder of the data."""
    return opened(get_settings().store or str(data.resolve()))


def use(services: Services, data: Path) -> None:
    """Let this process's own transactions reach the same servers."""
    told: Mapping[str, str] = {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data),
    }
    os.environ.update(told)
    get_settings.cache_clear()
