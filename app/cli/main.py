"""``anoncup``: commands for teams on local files, and for whoever runs the service."""

import sys
import traceback

import typer

from app.cli import (
    advising,
    boards,
    fetching,
    keeping,
    local,
    login,
    operate,
    organize,
    playing,
    remote,
    sending,
)
from app.errors import DomainError, InvalidUpload, Unavailable

WRONG_INPUT = 2
UNREACHABLE = 3
BROKEN = 70
"""A fault of ours, which must not look like a release that the rules reject."""

LOCAL, REMOTE, SERVER = "On your own files", "At a service", "Running a service"

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command(rich_help_panel=LOCAL)(local.template)
app.command(rich_help_panel=LOCAL)(local.scales)
app.command(rich_help_panel=LOCAL)(local.check)
app.command(rich_help_panel=LOCAL)(local.score)
app.command(rich_help_panel=LOCAL)(playing.attack)
app.command(rich_help_panel=LOCAL)(playing.anonymize)
app.command(rich_help_panel=LOCAL)(advising.threshold)
app.command(rich_help_panel=LOCAL)(local.generate)
app.command(rich_help_panel=LOCAL)(local.tc400)
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
app.command(rich_help_panel=SERVER)(operate.serve)
app.command(rich_help_panel=SERVER)(operate.worker)
app.command(rich_help_panel=SERVER)(operate.scheduler)
app.command(rich_help_panel=SERVER)(operate.migrate)
app.command(rich_help_panel=SERVER)(keeping.backup)
app.command(rich_help_panel=SERVER)(keeping.restore)
app.add_typer(operate.admin, name="admin", rich_help_panel=SERVER)
app.add_typer(operate.keys, name="keys", rich_help_panel=SERVER)


def main() -> None:
    """Run the command line; what a person can mend is said without a traceback."""
    try:
        app()
    except DomainError as problem:
        print(f"anoncup: {problem.detail}", file=sys.stderr)
        if isinstance(problem, InvalidUpload):
            list_problems(problem)
        sys.exit(UNREACHABLE if isinstance(problem, Unavailable) else WRONG_INPUT)
    except OSError as problem:
        print(f"anoncup: {problem}", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    except Exception:
        traceback.print_exc()
        sys.exit(BROKEN)


def list_problems(problem: InvalidUpload) -> None:
    for entry in problem.problems:
        where = f"{entry.file}, row {entry.row}" if entry.row else entry.file
        print(f"  {where}: {entry.code}: {entry.message}", file=sys.stderr)
    if problem.total > len(problem.problems):
        print(f"  … {problem.total} problems in all", file=sys.stderr)
