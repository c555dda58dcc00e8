"""``anoncup deliver``: send notifications and mail."""

from pathlib import Path
from typing import Annotated

import typer

from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder


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
    from app.operations import local_service

    if send_waiting:
        _release_held(data)
    else:
        local_service.exec_deliveries()


def _release_held(data: Path) -> None:
    from app.core.db.transaction import transaction
    from app.notifications import deliveries
    from app.operations import service_access

    service_access.require_data_folder(data)
    with service_access.reach_services(data) as services:
        service_access.use_services(services, data)
        with transaction() as session:
            count = deliveries.release_held(session)
    print(f"released: {count} notifications and mails")
