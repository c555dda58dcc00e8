"""``anoncup attack``: the built-in attackers on a release."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.anonymize import Seed
from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    MaybeSecretFile,
    OriginalFiles,
    Release,
    takes_release,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import console, show_attackers
from anoncup.errors import InvalidInput


@takes_release
def attack(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    release: Release,
    secret: MaybeSecretFile = None,
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
    from anoncup.cli.attacker_runs import answers_of, chosen_attackers, rates_of, write_guesses
    from anoncup.cli.local_files import contest_of, release_in, secret_in, target_in

    contest = contest_of(competition, original)
    table = target_in(contest, release) if secret is None else release_in(contest, release)[0]
    answers = answers_of(contest, table, chosen_attackers(contest, attackers or []))
    if into is not None:
        write_guesses(answers, contest, into, seed)
    if secret is not None:
        rates = rates_of(answers, contest, table, secret_in(secret, contest, table)[0])
        if as_json:
            print_json(rates)
        else:
            show_attackers(console(), rates)
