"""What a team does with its files before it submits: anonymize, attack, and find a threshold."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from app.cli.files import (
    AnonymizedFile,
    AsJson,
    CompetitionFile,
    Contest,
    CustomersFile,
    MaybeSecretFile,
    OriginalFiles,
    TransactionsFile,
    contest_of,
    release_in,
    secret_in,
)
from app.cli.shown import attackers_table, console, progress_bar
from app.errors import InvalidInput
from app.scoring.arrays import IntArray
from app.scoring.competition import AttackerSettings
from app.scoring.evaluate import Json, attacker_json
from app.scoring.permutation import guess_csv, secret_csv
from app.scoring.rates import Answer, guess_of, rate_of
from app.scoring.registry import Method, Tables

Seed = Annotated[int, typer.Option(min=0, help="of the random choices")]


def anonymize(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    method: Annotated[str, typer.Option(help="its name; --method help lists them")],
    into: Annotated[Path, typer.Option(help="the folder to write the release and its secret into")],
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="a parameter, such as k=5 or columns=sex,age")
    ] = None,
    seed: Seed = 0,
    keep_order: Annotated[bool, typer.Option(help="leave the rows in the original's order")] = False,
) -> None:
    """Make a release with a sample method: the anonymized files and secret.csv, rows shuffled."""
    contest = contest_of(competition, original)
    chosen = method_of(contest, method)
    rng = np.random.default_rng(seed)
    given = read_parameters(chosen, parameters or [])
    with progress_bar(method) as progress:
        progress(0, 1, "anonymizing")
        release, source = contest.track.anonymize(chosen, contest.tables, contest.rules, rng, given)
    if not keep_order:
        release, source = contest.track.shuffle(release, source, rng=rng)
    into.mkdir(parents=True, exist_ok=True)
    contents = contest.track.files_of(release) | {"secret": secret_csv(source)}
    for name, content in contents.items():
        (into / f"{name}.csv").write_bytes(content)
    print(f"wrote {', '.join(f'{name}.csv' for name in contents)} into {into}")


def method_of(contest: Contest, name: str) -> Method:
    methods = contest.track.methods
    if name not in methods:
        known = ", ".join(
            f"{each.name}({', '.join(each.parameters)})" if each.parameters else each.name
            for each in methods.values()
        )
        raise InvalidInput(f"methods of the {contest.track.name} track: {known}", code="unknown_method")
    return methods[name]


def read_parameters(method: Method, given: list[str]) -> dict[str, Any]:
    """``name=value`` as the method wants it: lists of names, numbers."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in method.parameters:
            takes = ", ".join(method.parameters) or "no parameters"
            raise InvalidInput(f"{method.name} takes {takes}; not {text!r}", code="unknown_parameter")
        found[name] = PARAMETERS[name](value, text)
    return found


def whole(value: str, text: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise InvalidInput(f"{text!r}: a whole number above 0 is needed", code="wrong_value")
    return int(value)


def amount(value: str, text: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not 0 <= found < float("inf"):
        raise InvalidInput(f"{text!r}: a number from 0 up is needed", code="wrong_value")
    return found


PARAMETERS: Mapping[str, Any] = {
    "k": whole,
    "clusters": whole,
    "smallest": whole,
    "strength": amount,
    "share": amount,
    "columns": lambda value, _: tuple(value.split(",")),
}


def attack(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    anonymized: AnonymizedFile = None,
    customers: CustomersFile = None,
    transactions: TransactionsFile = None,
    secret: MaybeSecretFile = None,
    attackers: Annotated[
        list[str] | None, typer.Option("--attacker", help="its name; default: all of them")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="a folder to write the guesses into")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run the built-in attackers on a release: their guesses as files, and, given the secret, their rates."""
    if secret is None and into is None:
        raise InvalidInput("give --secret to see rates, or --into to keep the guesses", code="files")
    contest = contest_of(competition, original)
    release, _ = release_in(contest, anonymized, customers, transactions)
    answers = answers_of(contest, release, chosen_attackers(contest, attackers or []))
    if into is not None:
        write_guesses(answers, into, seed)
    if secret is not None:
        rates = rates_of(answers, contest, secret_in(secret, contest, release))
        if as_json:
            print(json.dumps(rates, indent=2))
        else:
            console().print(attackers_table(rates))


def answers_of(contest: Contest, release: Tables, names: list[str]) -> dict[str, Answer]:
    target = contest.track.target_of(contest.prepared, release)
    answers = {}
    with progress_bar("attacking") as progress:
        for step, name in enumerate(names, 1):
            progress(step, len(names), name)
            settings = contest.rules.attackers.get(name, AttackerSettings())
            answers[name] = contest.track.attackers[name].attack(target, **settings.parameters)
    return answers


def rates_of(answers: Mapping[str, Answer], contest: Contest, source: IntArray) -> dict[str, Json]:
    attackers = contest.track.attackers
    return {
        name: attacker_json(rate_of(answer, source, rows=contest.prepared.rows), attackers[name].version)
        for name, answer in answers.items()
    }


def write_guesses(answers: Mapping[str, Answer], into: Path, seed: int) -> None:
    """A guess file of each attacker that can make a guess."""
    into.mkdir(parents=True, exist_ok=True)
    for name, answer in answers.items():
        guess = guess_of(answer, np.random.default_rng(seed))
        if guess is not None:
            (into / f"{name}.csv").write_bytes(guess_csv(guess))


def chosen_attackers(contest: Contest, names: list[str]) -> list[str]:
    known = list(contest.track.attackers)
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"attackers of the {contest.track.name} track: {', '.join(known)}", code="unknown_attacker"
            )
    return names or known
