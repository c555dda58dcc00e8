"""Commands for whoever runs the service."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app import sealing
from app.cli import demonstration
from app.config import get_settings
from app.db.models import Role
from app.embedded import Services, embedded_services, running_services
from app.errors import InvalidInput
from app.processes import (
    Supervisor,
    check_port_is_free,
    owned_signals,
    supervised,
    wait_until_healthy,
    web_program,
    worker_program,
)
from app.services import accounts
from app.transaction import transaction
from migrations.run import migrate as migrate_database

admin = typer.Typer(no_args_is_help=True, help="Accounts, from the machine that runs the service.")
keys = typer.Typer(no_args_is_help=True, help="The pair of keys that secrets are sealed with.")

Data = Annotated[Path, typer.Option(help="folder of the database, the files and the keys")]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option()]
DEFAULT_DATA = Path(".anoncup")


def demo(port: Port = 8000, data: Data = DEFAULT_DATA, host: Host = "127.0.0.1") -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving."""
    with running_service(host, port, data) as supervisor:
        url = f"http://{host}:{port}"
        demonstration.play(url, data, meanwhile=supervisor.check)
        print(f"ready: {url}", flush=True)
        supervisor.wait()


def serve(port: Port = 8000, data: Data = DEFAULT_DATA, host: Host = "127.0.0.1") -> None:
    """Serve. With DATABASE_URL and REDIS_URL: the web application only; without: all of it, embedded."""
    if given_services() is not None:
        os.environ["ANONCUP_DATA"] = str(get_settings().data)
        program = web_program(host=host, port=port, env={})
        os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted
    with running_service(host, port, data) as supervisor:
        print(f"ready: http://{host}:{port}", flush=True)
        supervisor.wait()


def worker(
    jobs: Annotated[int, typer.Option(min=1, help="submissions scored at once")] = 1,
) -> None:
    """Score submissions until stopped; needs DATABASE_URL and REDIS_URL."""
    require_given_services()
    arguments = ["-A", "workers.main", "worker", "--concurrency", str(jobs), "--loglevel", "INFO"]
    arguments += ["--queues", "celery,upkeep"]
    run_celery(arguments)


def scheduler() -> None:
    """Ring the workers' clock; exactly one may run. Needs REDIS_URL."""
    require_given_services()
    schedule = str(get_settings().data / "schedule")
    run_celery(["-A", "workers.main", "beat", "--schedule", schedule, "--loglevel", "INFO", "--pidfile="])


def run_celery(arguments: list[str]) -> None:
    os.execv(sys.executable, [sys.executable, "-m", "celery", *arguments])  # noqa: S606  # no shell is wanted


def migrate(data: Data = DEFAULT_DATA) -> None:
    """Bring the database to the newest schema."""
    with reached_services(data) as services:
        migrate_database(services.database_url)


@admin.command("create-user")
def create_user(
    name: str,
    role: Annotated[Role, typer.Option()] = Role.PARTICIPANT,
    password_stdin: Annotated[bool, typer.Option(help="read the password from standard input")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Create an account; the first administrator is made this way."""
    password = (
        sys.stdin.readline().rstrip("\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    )
    with reached_services(data) as services:
        migrate_database(services.database_url)
        use(services, data)
        with transaction() as session:
            accounts.create_user(session, name=name, password=password, role=role)
    print(f"created {role} {name}")


@keys.command("create")
def create_keys(
    public: Annotated[Path, typer.Option(help="the public key, for the web application")],
    private_dir: Annotated[Path, typer.Option(help="the folder of private keys, for workers only")],
) -> None:
    """Make a pair of keys. Older private keys stay, so older secrets still open."""
    print(f"created key {sealing.create_keys(public, private_dir)}")


def given_services() -> Services | None:
    """The servers that the environment names; one without the other is a mistake."""
    settings = get_settings()
    if bool(settings.database_url) != bool(settings.redis_url):
        raise InvalidInput("set both DATABASE_URL and REDIS_URL, or neither for the embedded default")
    return Services(settings.database_url, settings.redis_url) if settings.database_url else None


def require_given_services() -> None:
    if given_services() is None:
        raise InvalidInput("set DATABASE_URL and REDIS_URL")


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
def running_service(host: str, port: int, data: Path) -> Iterator[Supervisor]:
    """Database migrated, web application and one worker running; all of it ends with the context."""
    data = data.resolve()
    check_port_is_free(host, port)
    with owned_signals(), own_services(data) as services:
        migrate_database(services.database_url)
        use(services, data)
        shared, public, private = environment(services, data)
        logs = data / "logs"
        programs = [
            web_program(host=host, port=port, env=shared | public, log=logs / "web.log"),
            worker_program(data=data, env=shared | private, log=logs / "worker.log"),
        ]
        with supervised(programs, also=services.check) as supervisor:
            wait_until_healthy(
                f"http://{host}:{port}/readyz", meanwhile=supervisor.check, log=logs / "web.log"
            )
            yield supervisor


def environment(services: Services, data: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """What both processes are told, what only the web application and what only the worker."""
    public, private = data / "keys" / "sealing.pub", data / "keys" / "private"
    if not public.exists():
        sealing.create_keys(public, private)
    shared = {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data),
    }
    return shared, {"ANONCUP_SEALING_KEY_FILE": str(public)}, {"ANONCUP_OPENING_KEYS_DIR": str(private)}


def use(services: Services, data: Path) -> None:
    """Let this process's own transactions reach the same servers."""
    told: Mapping[str, str] = {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "ANONCUP_DATA": str(data),
    }
    os.environ.update(told)
    get_settings.cache_clear()
