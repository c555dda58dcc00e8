"""``anoncup``: commands for teams on local files, and for whoever runs the service."""

from importlib.metadata import version
from typing import Annotated

import typer

from app.cli import (
    advising,
    boards,
    endings,
    fetching,
    keeping,
    local,
    login,
    operate,
    organize,
    packages,
    playing,
    redrawing,
    remote,
    sending,
)

LOCAL, REMOTE, SERVER = "On your own files", "At a service", "Running a service"

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command(rich_help_panel=LOCAL)(local.template)
app.command(rich_help_panel=LOCAL)(local.scales)
app.command(rich_help_panel=LOCAL)(local.check)
app.command(rich_help_panel=LOCAL)(local.score)
app.command(rich_help_panel=LOCAL)(playing.attack)
app.command(rich_help_panel=LOCAL)(playing.anonymize)
app.command(rich_help_panel=LOCAL)(redrawing.draw)
app.command(rich_help_panel=LOCAL)(advising.threshold)
app.command(rich_help_panel=LOCAL)(local.generate)
app.command(rich_help_panel=LOCAL)(local.tc400)
app.command(rich_help_panel=LOCAL)(packages.plugins)
app.command(rich_help_panel=REMOTE)(login.login)
app.command(rich_help_panel=REMOTE)(login.sign_up)
app.command(rich_help_panel=REMOTE)(login.logout)
app.command(rich_help_panel=REMOTE)(login.whoami)
app.command(rich_help_panel=REMOTE)(login.join)
app.command(rich_help_panel=REMOTE)(login.team)
app.command(rich_help_panel=REMOTE)(remote.competitions)
app.command(rich_help_panel=REMOTE)(fetching.download)
app.command(rich_help_panel=REMOTE)(sending.submit)
app.command(rich_help_panel=REMOTE)(remote.submissions)
app.command(rich_help_panel=REMOTE)(remote.cancel)
app.command(rich_help_panel=REMOTE)(remote.final)
app.command(rich_help_panel=REMOTE)(remote.quota)
app.command(rich_help_panel=REMOTE)(remote.targets)
app.command(rich_help_panel=REMOTE)(sending.guess)
app.command(rich_help_panel=REMOTE)(remote.guesses)
app.command(rich_help_panel=REMOTE)(boards.board)
app.command(rich_help_panel=REMOTE)(remote.announcements)
app.add_typer(organize.organize, name="organize", rich_help_panel=REMOTE)
app.command(rich_help_panel=SERVER)(operate.demo)
app.command(hidden=True)(operate.play_demo)
app.command(rich_help_panel=SERVER)(operate.serve)
app.command(rich_help_panel=SERVER)(operate.worker)
app.command(rich_help_panel=SERVER)(operate.scheduler)
app.command(rich_help_panel=SERVER)(operate.migrate)
app.command(rich_help_panel=SERVER)(keeping.backup)
app.command(rich_help_panel=SERVER)(keeping.restore)
app.add_typer(operate.admin, name="admin", rich_help_panel=SERVER)
app.add_typer(operate.keys, name="keys", rich_help_panel=SERVER)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"anoncup {version('anoncup')}")
        raise typer.Exit


@app.callback()
def start(
    _: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="print it and leave")
    ] = False,
) -> None:
    """Anonymization and re-identification contests: on your own files, at a service, or as the service."""


def main() -> None:
    """Run the command line; what a person can mend is said without a traceback."""
    endings.end(app)
