"""A service brought up on this machine: its servers, its keys, its processes.

The process that watches over them stays small: what needs the database is a command of its own.
"""

import logging
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from anoncup.errors import InvalidInput
from app.config import DRIVER, get_settings, is_own
from app.crypto import sealing
from app.processes import pg_hba
from app.processes.child_folders import remove_orphans
from app.processes.embedded_servers import Services, embedded_services
from app.processes.supervisor import (
    QUEUES,
    Program,
    Supervisor,
    check_port_is_free,
    forked_program,
    run,
    scheduler_program,
    supervised,
    wait_until_healthy,
    web_program,
    worker_programs,
)

logger = logging.getLogger(__name__)

FINISHING_S = 100.0
"""How long a worker that is asked to end may finish what it has begun; what is cut off is begun again."""
MOST_JOBS = 4
"""Of scores at once, on a machine of many cores that does all the rest besides."""
MOST_WEB_PROCESSES = 4
"""Unless more are asked for: they spend their time on uploads, and scoring those takes far longer."""


def given_services() -> Services | None:
    """The servers that the environment names; one without the other is a mistake."""
    settings = get_settings()
    if bool(settings.database_url) != bool(settings.redis_url):
        raise InvalidInput("set both DATABASE_URL and REDIS_URL, or neither for the embedded default")
    if settings.database_url and not settings.database_url.startswith(DRIVER):
        raise InvalidInput("DATABASE_URL must begin with postgresql://")
    try:
        urlsplit("//" + settings.database_url.rpartition("@")[2]).port  # noqa: B018  # fails if it is none
    except ValueError:
        raise InvalidInput("the port in DATABASE_URL is no number") from None
    return Services(settings.database_url, settings.redis_url) if settings.database_url else None


def usual_web_processes() -> int:
    """As many as there are cores that this process may use, up to a few."""
    return min(len(os.sched_getaffinity(0)), MOST_WEB_PROCESSES)


def become_web_server(host: str, port: int, processes: int | None) -> None:
    program = web_program(host=host, port=port, env={}, processes=processes or usual_web_processes())
    os.environ.update(program.env)
    os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted


def work(queues: Collection[str], jobs: int, name: str | None) -> None:
    """Turn this process into Celery's, which has its own way with signals; or into what watches over two."""
    require_services()
    name = name or str(os.getpid())
    programs = worker_programs(queues=queues, jobs=jobs, name=name)
    if len(programs) > 1:
        programs = [forked_program(queues=queues, jobs=jobs, grace=FINISHING_S, name=name)]
    os.environ.update(programs[0].env)
    os.execv(sys.executable, list(programs[0].command))  # noqa: S606  # no shell is wanted


def become_scheduler() -> None:
    require_services()
    program = scheduler_program(env={})
    os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted


def known_queues(names: str) -> frozenset[str]:
    """The kinds of work in a list with commas."""
    found = frozenset(name.strip() for name in names.split(","))
    if not found <= QUEUES.keys():
        raise InvalidInput("queues are {names}", names=tuple(QUEUES))
    return found


def worker_name(name: str | None) -> str | None:
    """Return the name; InvalidInput if it cannot be part of Celery's name of a worker."""
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        raise InvalidInput("a worker's name is 1 to 60 letters, digits, - and _")
    return name


def require_services() -> None:
    if given_services() is None:
        raise InvalidInput("set DATABASE_URL and REDIS_URL")


@contextmanager
def own_services(data: Path) -> Iterator[Services]:
    given = given_services()
    if given is not None:
        yield given
    else:
        with embedded_services(data) as services:
            yield services


@dataclass(frozen=True, slots=True)
class Running:
    """A service that is up, and how another command reaches it."""

    supervisor: Supervisor
    env: Mapping[str, str]


@contextmanager
def service(host: str, port: int, data: Path, web_processes: int | None = None) -> Iterator[Running]:
    """Database migrated, web application, a worker and the clock running; all of it ends with the context."""
    data = data.resolve()
    check_port_is_free(host, port)
    warn_if_unnamed(host)
    with own_services(data) as services:
        shared, public, private = environment(services, data)
        logger.info("migrating the database")
        roles = ["--roles", str(pg_hba.kept(data))] if services.roles else []
        run(command("migrations", "migrate", *roles, env=shared), check=services.check)
        logs, jobs = data / "logs", min(len(os.sched_getaffinity(0)), MOST_JOBS)
        programs = [
            web_program(
                host=host,
                port=port,
                env=shared | public,
                log=logs / "web.log",
                processes=web_processes or usual_web_processes(),
            ),
            forked_program(
                jobs=jobs,
                env=shared | private,
                logs=logs,
                name=str(os.getpid()),
                clock=services.roles.get("clock", services.database_url),
            ),
        ]
        logger.info("starting the web server, a worker and the clock")
        with supervised(programs, also=services.check) as supervisor:
            wait_until_healthy(f"{local_url(host, port)}/readyz", check=supervisor.check_start)
            yield Running(supervisor, shared)
        remove_orphans()  # of workers that were killed


def local_url(host: str, port: int) -> str:
    """Return the address at which this machine reaches a server that listens on ``host``."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{reached}:{port}"


def warn_if_unnamed(host: str) -> None:
    """Say that other machines are not answered, if the server listens for them without a public address."""
    if not is_own(host) and not get_settings().public_url:
        logger.warning(
            "other machines are not answered until ANONCUP_PUBLIC_URL is set to the address by which they"
            " reach this one"
        )


def command(name: str, *words: str, env: Mapping[str, str]) -> Program:
    """One of our commands as a program of its own: what it loads is gone when it ends."""
    return Program(name=name, command=[sys.executable, "-m", "anoncup.cli", *words], env=env)


def environment(services: Services, data: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """What all are told, what only the web application, and what only the worker and the clock."""
    public, private = data / "keys" / "sealing.pub", data / "keys" / "private"
    if not public.exists():
        sealing.create_keys(public, private)
    return (
        addresses(services, data) | sandbox_setting(services),
        as_role(services, "web") | {"ANONCUP_SEALING_KEY_FILE": str(public)},
        as_role(services, "worker") | {"ANONCUP_OPENING_KEYS_DIR": str(private)},
    )


def sandbox_setting(services: Services) -> dict[str, str]:
    """On one machine with servers of its own a warning is enough, unless somebody says otherwise."""
    chosen = os.environ.get("ANONCUP_SANDBOX") or ("wanted" if services.servers else "")
    return {"ANONCUP_SANDBOX": chosen} if chosen else {}


def as_role(services: Services, process: str) -> dict[str, str]:
    return {"DATABASE_URL": services.roles[process]} if services.roles else {}


def addresses(services: Services, data: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data),
    }
