"""``anoncup attack``: run the built-in attackers on a release."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.anonymize import Seed
from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    OptionalSecretFile,
    OriginalFiles,
    ReleasePaths,
    accept_release_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import make_console, show_attackers
from anoncup.errors import InvalidInput


@accept_release_files
def attack(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    release: ReleasePaths,
    secret: OptionalSecretFile = None,
    attackers: Annotated[
        list[str] | None, typer.Option("--attacker", help="name of an attacker; default: all")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="a folder to write the guesses into")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run the built-in attackers on a release: their guesses as files, and, given the secret, their rates."""
    if secret is None and into is None:
        raise InvalidInput("give --secret to see rates, or --into to keep the guesses", code="files")
    from anoncup.cli.attacker_runs import compute_rates, run_attackers, select_attackers, write_guesses
    from anoncup.cli.local_files import load_contest, read_release, read_secret, read_target

    contest = load_contest(competition, original)
    tables = read_target(contest, release) if secret is None else read_release(contest, release)[0]
    answers = run_attackers(contest, tables, select_attackers(contest, attackers or []))
    if into is not None:
        write_guesses(answers, contest, into, seed)
    if secret is not None:
        rates = compute_rates(answers, contest, tables, read_secret(secret, contest, tables)[0])
        if as_json:
            print_json(rates)
        else:
            show_attackers(make_console(), rates)
