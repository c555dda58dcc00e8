"""What a team does with its files before it submits: anonymize, attack, and find a threshold."""

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

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
from app.cli.shown import console, numbered, progress_bar, show_attackers
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
    method: Annotated[str, typer.Option(help='its name; "help" lists them')] = "help",
    into: Annotated[Path | None, typer.Option(help="a folder for the release and its secret")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="a parameter, such as k=5 or columns=sex,age")
    ] = None,
    seed: Seed = 0,
    keep_order: Annotated[bool, typer.Option(help="leave the rows in the original's order")] = False,
) -> None:
    """Make a release with a sample method: the anonymized files and secret.csv, rows shuffled."""
    contest = contest_of(competition, original)
    if method == "help":
        console().print(methods_table(contest))
        return
    chosen, folder = method_of(contest, method), empty_place(contest, into)
    rng = np.random.default_rng(seed)
    given = read_parameters(contest, chosen, parameters or [])
    release, source = contest.track.anonymize(chosen, contest.tables, contest.rules, rng, given)
    if not keep_order:
        release, source = contest.track.shuffle(release, source, rng=rng)
    folder.mkdir(parents=True, exist_ok=True)
    contents = contest.track.files_of(release) | {"secret": secret_csv(source)}
    for name, content in contents.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {', '.join(f'{name}.csv' for name in contents)} into {folder}")


def empty_place(contest: Contest, into: Path | None) -> Path:
    """The folder to write into; nothing in it is overwritten, for it may be an original."""
    if into is None or str(into) == ".":
        raise InvalidInput("--into names the folder for the release and its secret", code="files")
    if into.exists() and not into.is_dir():
        raise InvalidInput(f"{into} is not a folder", code="files")
    for name in (*contest.track.files, "secret"):
        if (into / f"{name}.csv").exists():
            raise InvalidInput(f"{into / f'{name}.csv'} exists already; choose another folder", code="files")
    return into


def methods_table(contest: Contest) -> Table:
    """The methods with their parameters' usual values."""
    table = numbered("method", "--set")
    for each in contest.track.methods.values():
        usual = inspect.signature(each.apply).parameters
        said = (f"{name}={shown_default(usual[name].default)}" for name in each.parameters)
        table.add_row(each.name, " ".join(said))
    return table


def shown_default(value: object) -> str:
    if value is None:
        return "…"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def method_of(contest: Contest, name: str) -> Method:
    methods = contest.track.methods
    if name not in methods:
        raise InvalidInput(
            f"methods of the {contest.track.name} track: {', '.join(methods)}", code="unknown_method"
        )
    return methods[name]


def read_parameters(contest: Contest, method: Method, given: list[str]) -> dict[str, Any]:
    """``name=value`` as the method wants it: numbers, or columns of the contest."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in method.parameters:
            takes = ", ".join(method.parameters) or "no parameters"
            raise InvalidInput(f"{method.name} takes {takes}; not {text!r}", code="unknown_parameter")
        found[name] = columns_in(contest, value) if name == "columns" else NUMBERS[name](value, text)
    return found


def columns_in(contest: Contest, value: str) -> tuple[str, ...]:
    known = contest.track.group_columns(contest.rules)[0]
    chosen = tuple(value.split(","))
    for name in chosen:
        if name not in known:
            raise InvalidInput(f"{name!r} is none of {', '.join(known)}", code="unknown_column")
    return chosen


def whole(value: str, text: str) -> int:
    if not (value.isascii() and value.isdecimal()) or not 1 <= int(value[:9]) == int(value):
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


def share(value: str, text: str) -> float:
    found = amount(value, text)
    if found > 1:
        raise InvalidInput(f"{text!r}: a share from 0 to 1 is needed", code="wrong_value")
    return found


NUMBERS: Mapping[str, Callable[[str, str], float]] = {
    "k": whole,
    "clusters": whole,
    "smallest": whole,
    "strength": amount,
    "share": share,
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
            show_attackers(console(), rates)


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
