"""``anoncup admin``: accounts and notifications, on the machine that runs the service."""

import sys
from typing import Annotated

import typer

from anoncup.schemas.roles import Role
from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder

admin = typer.Typer(no_args_is_help=True, help="Accounts and notifications, on the machine of the service.")


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
    from app.operations import service_access

    service_access.require_data_folder(data, default=DEFAULT_DATA_FOLDER)
    password = (
        sys.stdin.readline().rstrip("\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    )
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
    from app.operations import service_access

    service_access.require_data_folder(data)
    services = service_access.set_notification_urls(data, slug, sys.stdin.read().split())
    print(f"notifications of {slug}: {', '.join(services) or 'none'}")
