"""Run a service on this machine: embedded servers, keys and processes.

The supervising process stays small: steps that need the database run as separate commands.
"""

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anoncup
from anoncup.errors import InvalidInput
from app.config import DRIVER, get_settings, is_local_host
from app.core import sealing
from app.core.worker_queues import QUEUE_BY_KIND
from app.operations.embedded_servers import EmbeddedServices, get_passwords_folder, run_embedded_services
from app.operations.supervisor import (
    Program,
    Supervisor,
    build_clock_program,
    build_delivery_program,
    build_web_program,
    build_worker_program,
    check_port_is_free,
    run,
    supervise,
    wait_until_healthy,
)

logger = logging.getLogger(__name__)

_MAX_JOBS = 4
"""Maximum number of submissions scored in parallel on one machine, which also runs everything else."""
_MAX_WEB_PROCESSES = 4
"""Maximum by default. More would hardly help: receiving uploads takes far less time than scoring them."""
_PUBLIC_KEY_FILE, _PRIVATE_KEY_FOLDER = Path("keys/sealing.pub"), Path("keys/private")
"""Paths in the data folder."""


def find_configured_services() -> EmbeddedServices | None:
    """Return the database and Redis named in the environment, or None if neither is.

    Raise InvalidInput if only one is named, or if the URL of the database is not valid.
    """
    settings = get_settings()
    if bool(settings.database_url) != bool(settings.redis_url):
        raise InvalidInput("set both DATABASE_URL and REDIS_URL, or neither for the embedded default")
    if not settings.database_url:
        return None
    _check_database_url(settings.database_url)
    return EmbeddedServices(settings.database_url, settings.redis_url)


def _check_database_url(url: str) -> None:
    if not url.startswith(DRIVER):
        raise InvalidInput("DATABASE_URL must begin with postgresql://")
    try:
        _ = urlsplit("//" + url.rpartition("@")[2]).port
    except ValueError:
        raise InvalidInput("the port in DATABASE_URL is no number") from None


def count_web_processes() -> int:
    """Return the default number of web processes: one per available core, up to a maximum."""
    return min(len(os.sched_getaffinity(0)), _MAX_WEB_PROCESSES)


def parse_queues(names: str) -> frozenset[str]:
    """Return the queues in a comma-separated list; raise InvalidInput for an unknown one."""
    queues = frozenset(name.strip() for name in names.split(","))
    if not queues <= QUEUE_BY_KIND.keys():
        raise InvalidInput("queues are {names}", names=tuple(QUEUE_BY_KIND))
    return queues


def check_worker_name(name: str) -> str:
    """Return the name; raise InvalidInput if it cannot be part of a Celery worker name."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        raise InvalidInput("a worker's name is 1 to 60 letters, digits, - and _")
    return name


def require_services() -> None:
    if find_configured_services() is None:
        raise InvalidInput("set DATABASE_URL and REDIS_URL")


@contextmanager
def _start_services(data_folder: Path) -> Iterator[EmbeddedServices]:
    configured = find_configured_services()
    if configured is not None:
        yield configured
    else:
        with run_embedded_services(data_folder) as services:
            yield services


def log_to_stdout() -> None:
    """Print the service's log messages, one line each."""
    app_logger = logging.getLogger("app")
    app_logger.addHandler(logging.StreamHandler(sys.stdout))
    app_logger.setLevel(logging.INFO)


@dataclass(frozen=True, slots=True)
class RunningService:
    """A running service, with the environment for commands that use it."""

    supervisor: Supervisor
    env: Mapping[str, str]


@contextmanager
def run_service(
    host: str, port: int, data_folder: Path, web_processes: int | None = None
) -> Iterator[RunningService]:
    """Migrate the database, and run the web server, a worker and the clock inside the context."""
    data_folder = data_folder.resolve()
    check_port_is_free(host, port)
    warn_if_no_public_url(host)
    with _start_services(data_folder) as services:
        ensure_keys(data_folder)
        env = build_environments(services, data_folder)
        logger.info("migrating the database")
        roles = ["--roles", str(get_passwords_folder(data_folder))] if services.role_urls else []
        run(
            build_command("migrations", "migrate", *roles, env=env.shared),
            check=services.supervisor.restart_ended,
        )
        log_folder = data_folder / "logs"
        programs = [
            build_web_program(
                host=host,
                port=port,
                env=env.shared | env.web,
                log=log_folder / "web.log",
                process_count=web_processes or count_web_processes(),
            ),
            build_worker_program(
                jobs=min(len(os.sched_getaffinity(0)), _MAX_JOBS),
                env=env.shared | env.worker,
                log=log_folder / "worker.log",
                name=str(os.getpid()),
            ),
            build_clock_program(env=env.shared | env.worker, log=log_folder / "scheduler.log"),
            build_delivery_program(
                env=env.shared | _build_role_env(services, "worker"), log=log_folder / "deliveries.log"
            ),
        ]
        logger.info("starting the web server, the worker and the clock")
        with supervise(programs, on_check=services.supervisor.restart_ended) as supervisor:
            wait_until_healthy(f"{build_local_url(host, port)}/readyz", check=supervisor.check_startup)
            yield RunningService(supervisor, env.shared)


def build_local_url(host: str, port: int) -> str:
    """Return the address at which this machine reaches a server that listens on ``host``."""
    reachable_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{reachable_host}:{port}"


def warn_if_no_public_url(host: str) -> None:
    """Warn if the server listens for other machines, whose requests are rejected without a public URL."""
    if not is_local_host(host) and not get_settings().public_url:
        logger.warning(
            "other machines are not answered until ANONCUP_PUBLIC_URL is set to the address by which they"
            " reach this one"
        )


def build_command(name: str, *arguments: str, env: Mapping[str, str]) -> Program:
    """Return an anoncup command as a program of its own, so that its memory is freed when it ends."""
    return Program(name=name, command=[sys.executable, "-m", "anoncup.cli", *arguments], env=env)


def ensure_keys(data_folder: Path) -> None:
    """Create the key pair that seals secrets unless it exists."""
    public_file = data_folder / _PUBLIC_KEY_FILE
    if not public_file.exists():
        sealing.create_keys(public_file, data_folder / _PRIVATE_KEY_FOLDER)


@dataclass(frozen=True, slots=True)
class ServiceEnvironments:
    """Environment variables of all processes, and those that each kind of process gets in addition."""

    shared: dict[str, str]
    web: dict[str, str]
    worker: dict[str, str]


def build_environments(services: EmbeddedServices, data_folder: Path) -> ServiceEnvironments:
    sealing_key = {"ANONCUP_SEALING_KEY_FILE": str(data_folder / _PUBLIC_KEY_FILE)}
    opening_keys = {"ANONCUP_OPENING_KEYS_DIR": str(data_folder / _PRIVATE_KEY_FOLDER)}
    return ServiceEnvironments(
        shared=build_address_env(services, data_folder)
        | build_sandbox_env(services)
        | _build_cache_env(data_folder),
        web=_build_role_env(services, "web") | sealing_key,
        worker=_build_role_env(services, "worker") | opening_keys,
    )


def build_sandbox_env(services: EmbeddedServices) -> dict[str, str]:
    """Return the sandbox setting for the processes.

    With embedded servers, a missing sandbox only causes a warning unless ANONCUP_SANDBOX says otherwise.
    """
    sandbox = os.environ.get("ANONCUP_SANDBOX") or ("wanted" if services.role_urls else "")
    return {"ANONCUP_SANDBOX": sandbox} if sandbox else {}


def _build_cache_env(data_folder: Path) -> dict[str, str]:
    """Return the folder of compiled loops if they cannot be beside the code, which another user installed."""
    if os.environ.get("NUMBA_CACHE_DIR") or os.access(anoncup.__path__[0], os.W_OK):
        return {}
    return {"NUMBA_CACHE_DIR": str(data_folder / "loops")}


def _build_role_env(services: EmbeddedServices, process: str) -> dict[str, str]:
    return {"DATABASE_URL": services.role_urls[process]} if services.role_urls else {}


def build_address_env(services: EmbeddedServices, data_folder: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data_folder),
    }
