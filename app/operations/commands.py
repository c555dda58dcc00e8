"""Commands of the service. They import what they need when they run, so that other commands start quickly."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import AsJson
from anoncup.schemas.fields import Role
from app.operations import demo, packages
from app.operations.backup import command
from app.operations.service_options import (
    DEFAULT_DATA_FOLDER,
    DataFolder,
    Host,
    Port,
    PrivateKeyFolder,
    PublicKeyFile,
    WebProcesses,
    get_key_paths,
)

_SERVER_PANEL = "Running a service"

admin = typer.Typer(no_args_is_help=True, help="Accounts and notifications, on the machine of the service.")


def add_commands(main: typer.Typer) -> None:
    """Add the commands of the service to the command line ``anoncup``."""
    main.command(hidden=True)(demo.check_demo)
    main.command(hidden=True)(demo.play_demo)
    commands = (
        demo.demo,
        serve,
        worker,
        scheduler,
        deliver,
        migrate,
        doctor,
        command.backup,
        command.restore,
    )
    for function in commands:
        main.command(rich_help_panel=_SERVER_PANEL)(function)
    for name, group in {"admin": admin, "packages": packages.packages, "keys": command.keys}.items():
        main.add_typer(group, name=name, rich_help_panel=_SERVER_PANEL)


def serve(
    port: Port = 8000,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Serve. With DATABASE_URL and REDIS_URL: the web application only; without: all of it, embedded."""
    from app.operations import local_service, supervisor

    if local_service.find_configured_services() is not None:
        count = web_processes or local_service.count_web_processes()
        supervisor.replace_process(
            supervisor.build_web_program(host=host, port=port, env={}, process_count=count)
        )
    local_service.log_to_stdout()
    with (
        supervisor.stop_on_signals(),
        local_service.run_service(host, port, data, web_processes) as service,
    ):
        print(f"ready: {local_service.build_local_url(host, port)}", flush=True)
        service.supervisor.wait()


def worker(
    queues: Annotated[
        str, typer.Option(help="what to work on: scores, guesses, reports, separated by commas")
    ] = "scores,guesses,reports",
    jobs: Annotated[int, typer.Option(min=1, help="scores and guesses at a time")] = 1,
    name: Annotated[
        str | None,
        typer.Option(
            help="its name among the workers on this host: letters, digits, - and _; "
            "default: the number of its process"
        ),
    ] = None,
) -> None:
    """Score submissions, judge guesses, make reports until stopped; needs DATABASE_URL and REDIS_URL.

    It makes one report at a time, beside the other jobs. Start several workers for more.
    """
    from app.operations import local_service, supervisor

    program = supervisor.build_worker_program(
        kinds=local_service.parse_queues(queues),
        jobs=jobs,
        name=local_service.check_worker_name(name or str(os.getpid())),
    )
    local_service.require_services()
    supervisor.replace_process(program)


def scheduler(
    check: Annotated[
        bool, typer.Option("--check", help="only say whether a clock is running; exit status 3: none is")
    ] = False,
) -> None:
    """Turn phases and look for lost work, without a worker; one is enough, and two do no harm."""
    from app.operations import local_service, service_access, supervisor

    local_service.require_services()
    if check:
        service_access.check_clock()
    else:
        supervisor.replace_process(supervisor.build_clock_program(env={}))


def deliver(
    *,
    send_waiting: Annotated[
        bool,
        typer.Option(
            "--send-waiting", help="only release what a restore has held back, for the sender that runs"
        ),
    ] = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """Send notifications and mail until stopped; needs DATABASE_URL, a way out and no keys."""
    from app.notifications import deliveries
    from app.operations import local_service, service_access, supervisor

    if not send_waiting:
        local_service.require_services()
        supervisor.replace_process(supervisor.build_delivery_program(env={}))
    service_access.require_data_folder(data)
    with service_access.open_session(data) as session:
        count = deliveries.release_held(session)
    print(f"released: {count} notifications and mails")


def migrate(
    data: DataFolder = DEFAULT_DATA_FOLDER,
    roles: Annotated[
        Path | None,
        typer.Option(help="let web, workers and clock sign in, with passwords in files in this folder"),
    ] = None,
) -> None:
    """Bring the database to the newest schema, as its owner; grant each kind of process what it needs."""
    from app.operations import service_access
    from migrations import logins, run

    service_access.require_data_folder(data, default=DEFAULT_DATA_FOLDER)
    with service_access.reach_services(data) as services:
        run.migrate(services.database_url)
        if roles is not None:
            logins.set_passwords(services.database_url, roles.resolve())


def doctor(
    data: DataFolder = DEFAULT_DATA_FOLDER,
    *,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
    as_json: AsJson = False,
) -> None:
    """Check versions, sandbox, disk, mail, sign-in, keys, servers, outbox, store, clock and workers.

    It says what to do. Run it with the environment of the service. Exit status 1: there is a problem.
    """
    from anoncup.cli.output import print_entries
    from app.operations.installation_checks import check_installation

    results = list(check_installation(data, get_key_paths(data, public, private_dir)))
    print_entries(results, {name: name for name in ("check", "status", "detail")}, as_json=as_json)
    raise typer.Exit(any(result["status"] == "problem" for result in results))


@admin.command("create-user")
def create_user(
    name: str,
    role: Annotated[
        Role, typer.Option(metavar="ROLE", help="participant, organizer or administrator")
    ] = Role.PARTICIPANT,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="read the password from standard input")
    ] = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """Create an account; the first administrator is made this way."""
    from anoncup.cli.connection import read_password
    from app.operations import service_access

    service_access.require_data_folder(data, default=DEFAULT_DATA_FOLDER)
    password = read_password(from_stdin=password_stdin, confirm=True)
    is_new_service = service_access.is_data_folder_missing(data)
    service_access.create_user(data, name=name, password=password, role=role)
    print(f"created {role} {name}")
    if is_new_service:
        print(
            f"This began a new service in {data}; for one that runs elsewhere, name its --data.",
            file=sys.stderr,
        )


@admin.command("notify")
def notify(slug: str, data: DataFolder = DEFAULT_DATA_FOLDER) -> None:
    """Have phase changes and announcements of a competition sent to the URLs of apprise on standard input.

    There is one URL per line. They replace earlier ones; no line ends the notifications.
    """
    from app.notifications import organizer_notifications
    from app.operations import service_access

    service_access.require_data_folder(data)
    with service_access.open_session(data) as session:
        services = organizer_notifications.set_urls(session, slug, sys.stdin.read().split())
    print(f"notifications of {slug}: {', '.join(services) or 'none'}")
