"""Commands of the service. They import what they need when they run, so that other commands start quickly."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.options import AsJson, CompetitionFile, OptionalOriginalFiles, OriginalFiles
from anoncup.errors import InvalidInput
from anoncup.schemas.fields import Role

if TYPE_CHECKING:
    from app.operations.backup.keys import KeyPaths

_SERVER_PANEL = "Running a service"

admin = typer.Typer(no_args_is_help=True, help="Accounts and notifications, on the machine of the service.")
keys = typer.Typer(no_args_is_help=True, help="Key pairs that seal secrets.")
packages = typer.Typer(
    no_args_is_help=True, help="Packages of tracks that run in an interpreter of their own."
)

DataFolder = Annotated[
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
DEFAULT_DATA_FOLDER = Path(".anoncup")
OutputFile = Annotated[Path, typer.Option(help="the file to write, a tar.gz")]
ReplaceOption = Annotated[bool, typer.Option("--replace", "--force", help="replace an existing file")]
ArchivePath = Annotated[Path, typer.Argument(help="a file that the backup command wrote")]
PublicKeyFile = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_SEALING_KEY_FILE", help="default: keys/sealing.pub in --data")
]
PrivateKeyFolder = Annotated[
    Path | None,
    typer.Option(envvar="ANONCUP_OPENING_KEYS_DIR", readable=False, help="default: keys/private in --data"),
]
"""The user of the web application cannot read it."""
_OwnCompetition = Annotated[
    Path | None,
    typer.Option(
        "--competition", exists=True, dir_okay=False, help="play your own contest, from its competition.toml"
    ),
]
PackageName = Annotated[str, typer.Argument(help="the name of the environment, such as that of the package")]
PackagesFolder = Annotated[
    Path | None, typer.Option("--into", envvar="ANONCUP_PACKAGES", help="default: packages in --data")
]


def add_commands(main: typer.Typer) -> None:
    """Add the commands of the service to the command line ``anoncup``."""
    main.command(hidden=True)(check_demo)
    main.command(hidden=True)(play_demo)
    for function in (demo, serve, worker, scheduler, deliver, migrate, doctor, backup, restore):
        main.command(rich_help_panel=_SERVER_PANEL)(function)
    for name, group in {"admin": admin, "packages": packages, "keys": keys}.items():
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
        from app.operations import service_access

        count = web_processes or local_service.count_web_processes()
        service_access.become(supervisor.build_web_program(host=host, port=port, env={}, process_count=count))
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
    from app.operations import local_service, service_access, supervisor

    service_access.become(
        supervisor.build_worker_program(
            kinds=local_service.parse_queues(queues),
            jobs=jobs,
            name=local_service.check_worker_name(name or str(os.getpid())),
        )
    )


def scheduler(
    check: Annotated[
        bool, typer.Option("--check", help="only say whether a clock is running; exit status 3: none is")
    ] = False,
) -> None:
    """Turn phases and look for lost work, without a worker; one is enough, and two do no harm."""
    from app.operations import local_service, service_access, supervisor

    if not check:
        service_access.become(supervisor.build_clock_program(env={}))
    local_service.require_services()
    service_access.check_clock()


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
    from app.operations import service_access, supervisor

    if not send_waiting:
        service_access.become(supervisor.build_delivery_program(env={}))
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
        revision = run.migrate(services.database_url)
        print(f"the database is at revision {revision}")
        if roles is not None:
            logins.set_passwords(services.database_url, roles.resolve())
            print(f"web and workers sign in with the passwords in {roles}")


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

    results = list(check_installation(data, _get_key_paths(data, public, private_dir)))
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


# The demo


def demo(
    *,
    competition: _OwnCompetition = None,
    original: OptionalOriginalFiles = None,
    port: Port = 8000,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving.

    With --competition and --original it is your own contest, which begins now.
    """
    from app.operations import local_service
    from app.operations.supervisor import run, stop_on_signals

    if (competition is None) != (not original):
        raise InvalidInput("--competition and --original belong together", code="files")
    local_service.log_to_stdout()
    url = local_service.build_local_url(host, port)
    own_contest = _list_options(competition, original or [])
    with stop_on_signals():
        if own_contest:  # before anything is started, in a process that reads tables
            check = local_service.build_command("the check", "check-demo", *own_contest, env={})
            run(check, reports_progress=True)
        with local_service.run_service(host, port, data, web_processes) as service:
            program = local_service.build_command(
                "the demo", "play-demo", url, "--data", str(data), *own_contest, env=service.env
            )
            run(program, check=service.supervisor.restart_ended, reports_progress=True)
            print(f"ready: {url}", flush=True)
            service.supervisor.wait()


def _list_options(competition: Path | None, original: list[str]) -> list[str]:
    if competition is None:
        return []
    return ["--competition", str(competition), *(word for file in original for word in ("--original", file))]


def check_demo(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Refuse a contest that cannot be played."""
    from app.operations import demo_contest

    demo_contest.load_own_contest(competition, original)


def play_demo(
    url: str,
    *,
    competition: _OwnCompetition = None,
    original: OptionalOriginalFiles = None,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """The demo's own part, at a service that runs."""
    from anoncup.cli.connection import translate_api_errors
    from app.operations import demo_contest, local_service

    local_service.log_to_stdout()
    contests = (
        [demo_contest.prepare(demo) for demo in demo_contest.DEMO_CONTESTS]
        if competition is None
        else [demo_contest.load_own_contest(competition, original or [])]
    )
    with translate_api_errors():
        demo_contest.play(url, data.resolve(), contests)


# Backups and keys


def _get_key_paths(data_folder: Path, public: Path | None, private_dir: Path | None) -> "KeyPaths":
    from app.operations.backup.keys import KeyPaths

    folder = data_folder / "keys"
    return KeyPaths(public or folder / "sealing.pub", private_dir or folder / "private")


def backup(
    into: OutputFile,
    *,
    replace: ReplaceOption = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """Copy the database and all stored files into one file, while the service runs."""
    from app.operations import service_access
    from app.operations.backup import backup_and_restore

    service_access.require_data_folder(data)
    with service_access.reach_services(data) as services:
        store = service_access.open_data_store(data)
        file_count = backup_and_restore.backup(services.database_url, store, into, replace=replace)
    print(f"{into}: the database and {file_count} files, without private keys")


def restore(
    archive: ArchivePath,
    *,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Bring a service up from a backup, in a database without tables. All of it is checked before."""
    from app.operations import service_access
    from app.operations.backup import backup_and_restore

    private_keys = _get_key_paths(data, None, private_dir).private
    with (
        backup_and_restore.open_backup(archive) as backup_archive,
        service_access.reach_services(data) as services,
    ):
        summary = backup_and_restore.restore(
            backup_archive,
            url=services.database_url,
            store=service_access.open_data_store(data),
            private_keys=private_keys,
        )
    print(f"restored the database and {summary.files} files")
    if summary.held:
        print(f"held back: {summary.held} notifications and mails; anoncup deliver --send-waiting sends them")
    if summary.missing_keys:
        print(
            f"not in {private_keys}: the private keys {', '.join(summary.missing_keys)}; nothing is "
            "scored without them. Bring them back with anoncup keys restore before the workers start."
        )


@keys.command("rotate")
def rotate(
    data: DataFolder = DEFAULT_DATA_FOLDER, public: PublicKeyFile = None, private_dir: PrivateKeyFolder = None
) -> None:
    """Seal new secrets to a new key, without a restart. Older private keys stay, for older secrets."""
    from app.operations.backup import keys as key_pairs

    key_id = key_pairs.rotate(_get_key_paths(data, public, private_dir))
    print(f"secrets are sealed to key {key_id} from now on")


@keys.command("backup")
def backup_keys(
    into: Annotated[Path, typer.Option(help="the file to write; whoever has it reads secrets")],
    replace: ReplaceOption = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Copy all private keys, and the public one, into one file that only its owner can read."""
    from app.operations.backup import keys as key_pairs

    ids = key_pairs.backup(_get_key_paths(data, public, private_dir), into, replace=replace)
    print(f"{into}: private keys {', '.join(ids)}")


@keys.command("restore")
def restore_keys(
    archive: ArchivePath,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Put back the keys that are missing; none is overwritten."""
    from app.operations.backup import keys as key_pairs

    ids = key_pairs.restore(archive, _get_key_paths(data, public, private_dir))
    print(f"private keys are in place: {', '.join(ids)}")


@keys.command("create")
def create_keys(
    public: Annotated[Path, typer.Option(help="the public key, for the web application")],
    private_dir: Annotated[Path, typer.Option(help="the folder of private keys, for workers only")],
) -> None:
    """Create a key pair for secrets. Older private keys stay, so older secrets still open."""
    from app.core import sealing

    key_id = sealing.create_keys(public, private_dir)
    print(f"created key {key_id}")


# Packages


@packages.command("add")
def add(
    name: PackageName,
    requirements: Annotated[
        list[str], typer.Argument(help="what to install: packages with versions, wheels or folders")
    ],
    *,
    python: Annotated[str, typer.Option(help="version or path of the interpreter; default: this one")] = "",
    data: DataFolder = DEFAULT_DATA_FOLDER,
    into: PackagesFolder = None,
) -> None:
    """Make an environment with the library and the requirements, or make it anew."""
    from app.operations import package_environments
    from app.operations.supervisor import stop_on_signals

    folder = into or data / "packages"
    with stop_on_signals():
        for package in package_environments.add(folder, name, requirements, python=python):
            versions = ", ".join(f"{key} {value}" for key, value in package.versions.items())
            print(f"{package.name} {package.version}: {', '.join(package.parts)} ({versions})")
        print("restart the service to use it")
        return
    print("interrupted: everything is as before", file=sys.stderr)
    raise typer.Exit(130)


@packages.command("list")
def list_packages(
    *,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    into: PackagesFolder = None,
    as_json: AsJson = False,
) -> None:
    """Start each package that has an environment; list its versions and why it cannot be used."""
    from anoncup.cli.output import print_entries
    from app.operations import package_environments

    folder = into or data / "packages"
    columns = ("environment", "name", "version", "python", "numpy", "pandas", "parts", "broken")
    rows = [
        {
            "environment": package.environment,
            "name": package.name,
            "version": package.version,
            **{key: package.versions.get(key, "") for key in ("python", "numpy", "pandas")},
            "parts": list(package.parts),
            "broken": package_environments.find_failure(package, folder) or None,
        }
        for package in package_environments.find_packages(folder)
    ]
    print_entries(
        rows, dict(zip(columns, columns, strict=True)), as_json=as_json, empty_text="no package is installed"
    )


@packages.command("remove")
def remove(name: PackageName, *, data: DataFolder = DEFAULT_DATA_FOLDER, into: PackagesFolder = None) -> None:
    """Remove an environment. Competitions that need its packages are unavailable after the next restart."""
    from app.operations import package_environments

    package_environments.remove(into or data / "packages", name)
    print(f"removed {name}")
