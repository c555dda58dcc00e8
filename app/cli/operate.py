"""Commands for whoever runs the service.

Each imports what it needs when it runs: a team's local commands should not wait for a server's modules.
"""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from anoncup.schemas.roles import Role

admin = typer.Typer(no_args_is_help=True, help="Accounts, from the machine that runs the service.")
keys = typer.Typer(no_args_is_help=True, help="The pair of keys that secrets are sealed with.")

Data = Annotated[
    Path, typer.Option(envvar="ANONCUP_DATA", help="folder of the database, the files and the keys")
]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option()]
WebProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=32,
        envvar="ANONCUP_WEB_PROCESSES",
        help="processes of the web server; default: one per core, up to 4",
    ),
]
DEFAULT_DATA = Path(".anoncup")


def demo(
    port: Port = 8000,
    data: Data = DEFAULT_DATA,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving."""
    from app.cli import running
    from app.processes.supervisor import owned_signals, run

    tell_steps()
    url = running.local_url(host, port)
    with owned_signals(), running.service(host, port, data, web_processes) as found:
        program = running.command("the demo", "play-demo", url, "--data", str(data), env=found.env)
        run(program, check=found.supervisor.check, speaks=True)
        print(f"ready: {url}", flush=True)
        found.supervisor.wait()


def play_demo(url: str, data: Data = DEFAULT_DATA) -> None:
    """The demo's own part, at a service that runs."""
    from app.cli import demonstration

    tell_steps()
    demonstration.play(url, data.resolve())


def serve(
    port: Port = 8000,
    data: Data = DEFAULT_DATA,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Serve. With DATABASE_URL and REDIS_URL: the web application only; without: all of it, embedded."""
    from app.cli import running
    from app.processes.supervisor import owned_signals

    if running.given_services() is not None:
        running.become_web_server(host, port, web_processes)
    tell_steps()
    with owned_signals(), running.service(host, port, data, web_processes) as found:
        print(f"ready: {running.local_url(host, port)}", flush=True)
        found.supervisor.wait()


def tell_steps() -> None:
    """Each step and each trouble is a line, as it comes."""
    told = logging.getLogger("app")
    told.addHandler(logging.StreamHandler(sys.stdout))
    told.setLevel(logging.INFO)


def worker(
    queues: Annotated[
        str, typer.Option(help="what to work on: scores, guesses, reports, separated by commas")
    ] = "scores,guesses,reports",
    jobs: Annotated[int, typer.Option(min=1, help="jobs at a time")] = 1,
    name: Annotated[
        str | None,
        typer.Option(
            help="its name among the workers on this host: letters, digits, - and _; "
            "default: the number of its process"
        ),
    ] = None,
) -> None:
    """Score submissions, judge guesses, make reports until stopped; needs DATABASE_URL and REDIS_URL.

    Reports have a process of their own beside the others, so that they delay none.
    """
    from app.cli import running

    running.work(running.known_queues(queues), jobs, running.worker_name(name))


def scheduler(
    check: Annotated[
        bool, typer.Option(help="only say whether a clock is running; exit status 3: none is")
    ] = False,
) -> None:
    """Turn phases and look for lost work, without a worker; one is enough, and two do no harm."""
    from app.cli import reaching, running

    if check:
        reaching.check_clock()
        return
    running.become_scheduler()


def migrate(
    data: Data = DEFAULT_DATA,
    roles: Annotated[
        Path | None,
        typer.Option(help="let web, workers and clock sign in, with passwords in files in this folder"),
    ] = None,
) -> None:
    """Bring the database to the newest schema, as its owner; grant each kind of process what it needs."""
    from app.cli import reaching
    from migrations import logins
    from migrations.run import migrate as migrate_database

    reaching.check_known(data, default=DEFAULT_DATA)
    with reaching.reached_services(data) as services:
        migrate_database(services.database_url)
        if roles is not None:
            logins.let_in(services.database_url, roles.resolve())


@admin.command("create-user")
def create_user(
    name: str,
    role: Annotated[Role, typer.Option()] = Role.PARTICIPANT,
    password_stdin: Annotated[bool, typer.Option(help="read the password from standard input")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Create an account; the first administrator is made this way."""
    from app.cli import reaching

    reaching.check_known(data, default=DEFAULT_DATA)
    password = (
        sys.stdin.readline().rstrip("\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    )
    began = reaching.is_empty(data)
    reaching.create_user(data, name=name, password=password, role=role)
    print(f"created {role} {name}")
    if began:
        print(
            f"This began a new service in {data}; for one that runs elsewhere, name its --data.",
            file=sys.stderr,
        )


@keys.command("create")
def create_keys(
    public: Annotated[Path, typer.Option(help="the public key, for the web application")],
    private_dir: Annotated[Path, typer.Option(help="the folder of private keys, for workers only")],
) -> None:
    """Make a pair of keys, and the clock's. Older private keys stay, so older secrets still open."""
    from app.crypto import deadline_signing, sealing

    print(f"created key {sealing.create_keys(public, private_dir)}")
    deadline_signing.create_key(private_dir)
