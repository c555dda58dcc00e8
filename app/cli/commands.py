"""The commands of the service, added to those of ``anoncup``."""

import typer

from app.cli import keeping, operate

SERVER = "Running a service"


def add_to(main: typer.Typer) -> None:
    main.command(rich_help_panel=SERVER)(operate.demo)
    main.command(hidden=True)(operate.play_demo)
    main.command(rich_help_panel=SERVER)(operate.serve)
    main.command(rich_help_panel=SERVER)(operate.worker)
    main.command(rich_help_panel=SERVER)(operate.scheduler)
    main.command(rich_help_panel=SERVER)(operate.migrate)
    main.command(rich_help_panel=SERVER)(keeping.backup)
    main.command(rich_help_panel=SERVER)(keeping.restore)
    main.add_typer(operate.admin, name="admin", rich_help_panel=SERVER)
    main.add_typer(operate.keys, name="keys", rich_help_panel=SERVER)
