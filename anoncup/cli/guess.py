"""``anoncup guess``: guesses on targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from anoncup.cli.connection import connected, in_words, said, transfer_bar
from anoncup.cli.options import AsJson
from anoncup.cli.output import Columns, plain, print_json, print_table
from anoncup.cli.submit import Checks, called_by_path, show_warnings, taking_refusals
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup.client import Client


def guess(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="SLUG/NAME or its id; SLUG alone with a folder")
    ],
    file: Annotated[
        Path,
        typer.Option(
            exists=True, help="the CSV file of the guess, or a folder with a file NAME.csv for each target"
        ),
    ],
    *,
    question: Annotated[
        str, typer.Option(metavar="NAME", help="the question that is answered; default: the first")
    ] = "",
    again: Annotated[
        bool, typer.Option("--again", help="send a file again that was sent before, as another guess")
    ] = False,
    checks: Checks = True,
    as_json: AsJson = False,
) -> None:
    """Answer a question about a target, such as which row of the original each of its rows came from.

    The same file sent twice is one guess. What looks like a mistake is warned of and sent all the same.
    """
    asked = Asked(question, again, checks)
    with connected() as client:
        if file.is_dir():
            chosen = folder_of_guesses(client, target, file)
            answers = [handed_in(client, *each, asked) for each in chosen]
        else:
            name, identifier = named_target(client, target)
            with called_by_path({"guess": file}), in_words():
                answers = [sent(client, name, identifier, file, asked)]
    if as_json:
        print_json(answers if file.is_dir() else answers[0])
    else:
        print_table(answers, GUESSED)
    raise typer.Exit(2 if any("refused" in answer for answer in answers) else 0)


@dataclass(frozen=True, slots=True)
class Asked:
    """``again``: though the same file was sent before. ``checks``: have it read first."""

    question: str
    again: bool
    checks: bool


GUESSED: Columns[Mapping[str, object]] = {
    "target": "target",
    "status": "status",
    "answered": "answered",
    "guesses left": "guesses_left",
    "refused": "refused",
}


def named_target(client: Client, target: str) -> tuple[str, str]:
    """The name and the id of a target that is written as SLUG/NAME or as its id."""
    slug, slash, name = target.partition("/")
    if slash:
        return name, identifiers(client, slug, [name])[name]
    try:
        return target, str(UUID(target))
    except ValueError:
        raise InvalidInput(
            "{target!r} is neither SLUG/NAME nor the id of a target", code="target", target=target
        ) from None


def folder_of_guesses(client: Client, slug: str, folder: Path) -> list[tuple[str, str, Path]]:
    """Name and id of each target that the folder has a guess on, and that guess."""
    files = {path.stem: path for path in sorted(folder.glob("*.csv"))}
    if not files:
        raise InvalidInput("{folder} has no NAME.csv", code="files", folder=str(folder))
    known = identifiers(client, slug, list(files))
    return [(name, known[name], path) for name, path in files.items()]


def identifiers(client: Client, slug: str, names: list[str]) -> dict[str, str]:
    """The targets' ids; nothing is sent if one of the names is none."""
    known = {one.name: str(one.id) for one in client.targets(slug)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInput(
            "{slug} has no target {unknown}", code="no_such_target", slug=slug, unknown=tuple(unknown[:20])
        )
    return known


def handed_in(client: Client, name: str, identifier: str, path: Path, asked: Asked) -> dict[str, object]:
    """The receipt of one guess of several; a refusal does not keep the others from being sent."""
    from anoncup.client import Refused

    try:
        return sent(client, name, identifier, path, asked)
    except Refused as refusal:
        problem = refusal.problem.model_dump(mode="json", exclude_unset=True)
        return {"target": name, "refused": str(said(refusal)), "problem": problem}


def sent(client: Client, name: str, identifier: str, path: Path, asked: Asked) -> dict[str, object]:
    content = path.read_bytes()
    if asked.checks:
        with taking_refusals(), transfer_bar(f"checking {plain(name)}") as progress:
            checked = client.check_guess(identifier, content, question=asked.question, progress=progress)
            show_warnings(checked.warnings, f"{name}: ")
    with transfer_bar(f"sending {plain(name)}") as progress:
        receipt = client.guess(
            identifier, content, question=asked.question, again=asked.again, progress=progress
        )
    return {"target": name} | receipt.model_dump(mode="json")
