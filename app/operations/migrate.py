"""``anoncup migrate``: upgrade the database to the newest schema."""

from pathlib import Path
from typing import Annotated

import typer

from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder


def migrate(
    data: DataFolder = DEFAULT_DATA_FOLDER,
    roles: Annotated[
        Path | None,
        typer.Option(help="let web, workers and clock sign in, with passwords in files in this folder"),
    ] = None,
) -> None:
    """Bring the database to the newest schema, as its owner; grant each kind of process what it needs."""
    from app.operations import service_access
    from migrations import logins
    from migrations.run import migrate as migrate_database

    service_access.require_data_folder(data, default=DEFAULT_DATA_FOLDER)
    with service_access.reach_services(data) as services:
        migrate_database(services.database_url)
        if roles is not None:
            logins.set_passwords(services.database_url, roles.resolve())
