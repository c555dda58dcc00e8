"""``anoncup``: commands for teams on local files, and for whoever runs the service."""

import sys
import traceback

import typer

from app.cli import advising, keeping, local, operate, playing
from app.errors import DomainError, InvalidUpload, Unavailable

WRONG_INPUT = 2
UNREACHABLE = 3
BROKEN = 70
"""A fault of ours, which must not look like a release that the rules reject."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(local.template)
app.command()(local.scales)
app.command()(local.check)
app.command()(local.score)
app.command()(playing.attack)
app.command()(playing.anonymize)
app.command()(advising.threshold)
app.command()(local.generate)
app.command()(local.tc400)
app.command()(operate.demo)
app.command()(operate.serve)
app.command()(operate.worker)
app.command()(operate.scheduler)
app.command()(operate.migrate)
app.command()(keeping.backup)
app.command()(keeping.restore)
app.add_typer(operate.admin, name="admin")
app.add_typer(operate.keys, name="keys")


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
