"""``anoncup``: commands for teams on local files, and for whoever runs the service."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from anoncup.cli import (
    anonymize,
    attack,
    board,
    check,
    competitions,
    download,
    draw,
    exit_status,
    generate,
    guess,
    login,
    organize,
    plugins,
    scales,
    score,
    submissions,
    submit,
    targets,
    tc400,
    template,
    threshold,
)

LOCAL, REMOTE = "On your own files", "At a service"
SERVICE = "app.cli.commands"
"""Adds the commands of the service, where that is importable: a checkout or an image, not the wheel."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command(rich_help_panel=LOCAL)(template.template)
app.command(rich_help_panel=LOCAL)(scales.scales)
app.command(rich_help_panel=LOCAL)(check.check)
app.command(rich_help_panel=LOCAL)(score.score)
app.command(rich_help_panel=LOCAL)(attack.attack)
app.command(rich_help_panel=LOCAL)(anonymize.anonymize)
app.command(rich_help_panel=LOCAL)(draw.draw)
app.command(rich_help_panel=LOCAL)(threshold.threshold)
app.command(rich_help_panel=LOCAL)(generate.generate)
app.command(rich_help_panel=LOCAL)(tc400.tc400)
app.command(rich_help_panel=LOCAL)(plugins.plugins)
app.command(rich_help_panel=REMOTE)(login.login)
app.command(rich_help_panel=REMOTE)(login.sign_up)
app.command(rich_help_panel=REMOTE)(login.logout)
app.command(rich_help_panel=REMOTE)(login.whoami)
app.command(rich_help_panel=REMOTE)(login.join)
app.command(rich_help_panel=REMOTE)(login.team)
app.command(rich_help_panel=REMOTE)(competitions.competitions)
app.command(rich_help_panel=REMOTE)(download.download)
app.command(rich_help_panel=REMOTE)(submit.submit)
app.command(rich_help_panel=REMOTE)(submissions.submissions)
app.command(rich_help_panel=REMOTE)(submissions.cancel)
app.command(rich_help_panel=REMOTE)(submissions.final)
app.command(rich_help_panel=REMOTE)(submissions.quota)
app.command(rich_help_panel=REMOTE)(targets.targets)
app.command(rich_help_panel=REMOTE)(guess.guess)
app.command(rich_help_panel=REMOTE)(targets.guesses)
app.command(rich_help_panel=REMOTE)(board.board)
app.command(rich_help_panel=REMOTE)(competitions.announcements)
app.add_typer(organize.organize, name="organize", rich_help_panel=REMOTE)


def add_service_commands() -> None:
    """Add the commands of the service where it can be imported."""
    try:
        commands = import_module(SERVICE)
    except ModuleNotFoundError as problem:
        if not f"{SERVICE}.".startswith(f"{problem.name}."):
            raise
        return
    commands.add_to(app)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"anoncup {version('anoncup')}")
        raise typer.Exit


add_service_commands()


@app.callback()
def start(
    _: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="print it and leave")
    ] = False,
) -> None:
    """Anonymization and re-identification contests: on your own files, at a service, or as the service."""


def main() -> None:
    """Run the command line; what a person can mend is said without a traceback."""
    exit_status.end(app)
