"""Add the commands of the service to the command line ``anoncup``."""

import typer

from app.operations import admin, deliver, demo, doctor, keys, migrate, packages, scheduler, serve, worker
from app.operations.backup import command

_SERVER_PANEL = "Running a service"


def add_commands(main: typer.Typer) -> None:
    main.command(rich_help_panel=_SERVER_PANEL)(demo.demo)
    main.command(hidden=True)(demo.check_demo)
    main.command(hidden=True)(demo.play_demo)
    main.command(rich_help_panel=_SERVER_PANEL)(serve.serve)
    main.command(rich_help_panel=_SERVER_PANEL)(worker.worker)
    main.command(rich_help_panel=_SERVER_PANEL)(scheduler.scheduler)
    main.command(rich_help_panel=_SERVER_PANEL)(deliver.deliver)
    main.command(rich_help_panel=_SERVER_PANEL)(migrate.migrate)
    main.command(rich_help_panel=_SERVER_PANEL)(doctor.doctor)
    main.command(rich_help_panel=_SERVER_PANEL)(command.backup)
    main.command(rich_help_panel=_SERVER_PANEL)(command.restore)
    main.add_typer(admin.admin, name="admin", rich_help_panel=_SERVER_PANEL)
    main.add_typer(packages.packages, name="packages", rich_help_panel=_SERVER_PANEL)
    main.add_typer(keys.keys, name="keys", rich_help_panel=_SERVER_PANEL)
