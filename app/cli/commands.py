"""The commands of the service, added to those of ``anoncup``."""

import typer

from app.cli import admin, demo, keys, migrate, scheduler, serve, worker
from app.cli.backup import command

SERVER = "Running a service"


def add_to(main: typer.Typer) -> None:
    main.command(rich_help_panel=SERVER)(demo.demo)
    main.command(hidden=True)(demo.play_demo)
    main.command(rich_help_panel=SERVER)(serve.serve)
    main.command(rich_help_panel=SERVER)(worker.worker)
    main.command(rich_help_panel=SERVER)(scheduler.scheduler)
    main.command(rich_help_panel=SERVER)(migrate.migrate)
    main.command(rich_help_panel=SERVER)(command.backup)
    main.command(rich_help_panel=SERVER)(command.restore)
    main.add_typer(admin.admin, name="admin", rich_help_panel=SERVER)
    main.add_typer(keys.keys, name="keys", rich_help_panel=SERVER)
