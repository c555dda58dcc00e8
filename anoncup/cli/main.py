"""The ``anoncup`` command line: commands for local files, for using a service and for running one."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from anoncup.cli import (
    anonymize,
    attack,
    board,
    check_kit,
    download,
    draw,
    exit_status,
    generate,
    guess,
    login,
    organize,
    plugins,
    score,
    submissions,
    threshold,
)

_LOCAL_PANEL, _REMOTE_PANEL = "On your own files", "At a service"
_SERVICE_COMMANDS = "app.operations.commands"
"""Module that adds the commands of the service. It exists in a checkout or image, but not in the wheel."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
_LOCAL_COMMANDS = (
    generate.template,
    generate.scales,
    score.check,
    score.score,
    check_kit.check_kit,
    attack.attack,
    anonymize.anonymize,
    draw.draw,
    threshold.threshold,
    generate.generate,
    generate.tc400,
    plugins.plugins,
)
_REMOTE_COMMANDS = (
    login.login,
    login.sign_up,
    login.logout,
    login.whoami,
    login.join,
    login.team,
    download.competitions,
    download.download,
    submissions.submit,
    submissions.submissions,
    submissions.cancel,
    submissions.final,
    submissions.quota,
    guess.targets,
    guess.guess,
    guess.guesses,
    board.board,
)
for panel, commands in {_LOCAL_PANEL: _LOCAL_COMMANDS, _REMOTE_PANEL: _REMOTE_COMMANDS}.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(organize.app, name="organize", rich_help_panel=_REMOTE_PANEL)


def _add_service_commands() -> None:
    """Add the commands of the service where it can be imported."""
    try:
        service = import_module(_SERVICE_COMMANDS)
    except ModuleNotFoundError as problem:
        if not f"{_SERVICE_COMMANDS}.".startswith(f"{problem.name}."):
            raise
        return
    service.add_commands(app)


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
