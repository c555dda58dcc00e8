"""The ``anoncup`` command line: commands for local files, for using a service and for running one."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from anoncup.cli import (
    anonymize,
    attack,
    board,
    check,
    check_kit,
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

_LOCAL_PANEL, _REMOTE_PANEL = "On your own files", "At a service"
_SERVICE_COMMANDS = "app.operations.commands"
"""Module that adds the commands of the service. It exists in a checkout or image, but not in the wheel."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command(rich_help_panel=_LOCAL_PANEL)(template.template)
app.command(rich_help_panel=_LOCAL_PANEL)(scales.scales)
app.command(rich_help_panel=_LOCAL_PANEL)(check.check)
app.command(rich_help_panel=_LOCAL_PANEL)(score.score)
app.command(rich_help_panel=_LOCAL_PANEL)(check_kit.check_kit)
app.command(rich_help_panel=_LOCAL_PANEL)(attack.attack)
app.command(rich_help_panel=_LOCAL_PANEL)(anonymize.anonymize)
app.command(rich_help_panel=_LOCAL_PANEL)(draw.draw)
app.command(rich_help_panel=_LOCAL_PANEL)(threshold.threshold)
app.command(rich_help_panel=_LOCAL_PANEL)(generate.generate)
app.command(rich_help_panel=_LOCAL_PANEL)(tc400.tc400)
app.command(rich_help_panel=_LOCAL_PANEL)(plugins.plugins)
app.command(rich_help_panel=_REMOTE_PANEL)(login.login)
app.command(rich_help_panel=_REMOTE_PANEL)(login.sign_up)
app.command(rich_help_panel=_REMOTE_PANEL)(login.logout)
app.command(rich_help_panel=_REMOTE_PANEL)(login.whoami)
app.command(rich_help_panel=_REMOTE_PANEL)(login.join)
app.command(rich_help_panel=_REMOTE_PANEL)(login.team)
app.command(rich_help_panel=_REMOTE_PANEL)(competitions.competitions)
app.command(rich_help_panel=_REMOTE_PANEL)(download.download)
app.command(rich_help_panel=_REMOTE_PANEL)(submit.submit)
app.command(rich_help_panel=_REMOTE_PANEL)(submissions.submissions)
app.command(rich_help_panel=_REMOTE_PANEL)(submissions.cancel)
app.command(rich_help_panel=_REMOTE_PANEL)(submissions.final)
app.command(rich_help_panel=_REMOTE_PANEL)(submissions.quota)
app.command(rich_help_panel=_REMOTE_PANEL)(targets.targets)
app.command(rich_help_panel=_REMOTE_PANEL)(guess.guess)
app.command(rich_help_panel=_REMOTE_PANEL)(targets.guesses)
app.command(rich_help_panel=_REMOTE_PANEL)(board.board)
app.command(rich_help_panel=_REMOTE_PANEL)(competitions.announcements)
app.add_typer(organize.app, name="organize", rich_help_panel=_REMOTE_PANEL)


def _add_service_commands() -> None:
    """Add the commands of the service where it can be imported."""
    try:
        commands = import_module(_SERVICE_COMMANDS)
    except ModuleNotFoundError as problem:
        if not f"{_SERVICE_COMMANDS}.".startswith(f"{problem.name}."):
            raise
        return
    commands.add_commands(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"anoncup {version('anoncup')}")
        raise typer.Exit


_add_service_commands()


@app.callback()
def start(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="print the version and exit"),
    ] = False,
) -> None:
    """Anonymization and re-identification contests: on your own files, at a service, or as the service."""


def main() -> None:
    """Run the command line; errors that users can fix are printed without a traceback."""
    exit_status.run(app)
