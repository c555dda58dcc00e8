"""``anoncup targets``, ``guess`` and ``guesses``: list targets, send guesses on them, and list these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from anoncup.cli.connection import build_domain_error, connect, print_round, translate_api_errors
from anoncup.cli.options import AsJson, Slug, use_local_names
from anoncup.cli.output import (
    ColumnSpec,
    make_time_column,
    print_entries,
    print_json,
    print_table,
    replace_unprintable,
)
from anoncup.cli.submissions import (
    EXIT_STATUSES,
    MAX_OUTAGE_S,
    MAX_WAIT_S,
    Checks,
    ignore_api_errors,
    mention_received,
    show_warnings,
)
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
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
    wait: Annotated[
        bool, typer.Option("--wait", help="wait until it is judged, then show what the competition shows")
    ] = False,
    checks: Checks = True,
    as_json: AsJson = False,
) -> None:
    """Answer a question about a target, such as which row of the original each of its rows came from.

    The same file sent twice is one guess. What looks like a mistake is warned of and sent all the same.

    With --wait: exit status 0: judged; 1: refused by the judge; 2: not accepted; 70: judging failed.
    Of several guesses the highest counts.
    """
    with connect() as client:
        send = partial(_send_guess, client, question=question, resend=again, checks_first=checks)
        if file.is_dir():
            answers = [_catch_refusal(send, *entry) for entry in _list_guess_files(client, target, file)]
        else:
            with use_local_names({"guess": file}), translate_api_errors():
                answers = [send(*_resolve_target(client, target), file)]
        if wait:
            answers = [_wait_for_judge(client, answer) for answer in answers]
    if as_json:
        print_json(answers if file.is_dir() else answers[0])
    else:
        print_table(answers, _RESULT_COLUMNS if wait else _RECEIPT_COLUMNS)
    raise typer.Exit(max(map(_get_exit_status, answers)))


def _wait_for_judge(client: Client, answer: Mapping[str, object]) -> dict[str, object]:
    """Return the guess as it was judged, or the error of one that was not accepted."""
    if "refused" in answer:
        return dict(answer)
    identifier = str(answer["id"])
    title = f"judging {replace_unprintable(str(answer['target']))}"
    with progress_bar(title), mention_received("guess", identifier):
        guess = client.wait_for_guess(identifier, timeout_s=MAX_WAIT_S, max_outage_s=MAX_OUTAGE_S)
    return guess.model_dump(mode="json")


def _get_exit_status(answer: Mapping[str, object]) -> int:
    return 2 if "refused" in answer else EXIT_STATUSES.get(str(answer["status"]), 0)


def _describe_refusal(answer: Mapping[str, object]) -> object:
    """Return why a guess was not accepted, or which errors the judge found; None for others."""
    from anoncup import schemas

    if "refused" in answer:
        return answer["refused"]
    return _describe_errors(schemas.Guess.model_validate(answer))


_RECEIPT_COLUMNS: ColumnSpec[Mapping[str, object]] = {
    "target": "target",
    "status": "status",
    "answered": "answered",
    "guesses left": "guesses_left",
    "refused": "refused",
}
_RESULT_COLUMNS: ColumnSpec[Mapping[str, object]] = {
    "target": "target",
    "status": "status",
    "rows": "rows",
    "answered": "answered",
    "correct": "correct",
    "rate": "rate",
    "guesses left": "guesses_left",
    "refused": _describe_refusal,
}


def _resolve_target(client: Client, target: str) -> tuple[str, str]:
    """Return the name and id of a target given as SLUG/NAME or as its id."""
    slug, slash, name = target.partition("/")
    if slash:
        return name, _find_target_ids(client, slug, [name])[name]
    try:
        return target, str(UUID(target))
    except ValueError:
        raise InvalidInput(
            "{target!r} is neither SLUG/NAME nor the id of a target", code="target", target=target
        ) from None


def _list_guess_files(client: Client, slug: str, folder: Path) -> list[tuple[str, str, Path]]:
    """Return the name, id and guess file of each target that has a file in the folder.

    Hidden files are left out: macOS adds ``._NAME.csv`` to folders of other file systems.
    """
    files = {path.stem: path for path in sorted(folder.glob("[!.]*.csv"))}
    if not files:
        raise InvalidInput("{folder} has no NAME.csv", code="files", folder=str(folder))
    ids = _find_target_ids(client, slug, list(files))
    return [(name, ids[name], path) for name, path in files.items()]


def _find_target_ids(client: Client, slug: str, names: list[str]) -> dict[str, str]:
    """Return the ids of targets by name; raise InvalidInput if a name is unknown."""
    ids = {target.name: str(target.id) for target in client.list_targets(slug)}
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise InvalidInput(
            "{slug} has no target {unknown}", code="no_such_target", slug=slug, unknown=tuple(unknown[:20])
        )
    return ids


def _catch_refusal(
    send: Callable[[str, str, Path], dict[str, object]], target_name: str, target_id: str, path: Path
) -> dict[str, object]:
    """Return the error of one of several guesses instead of raising it, so that the others are still sent."""
    from anoncup.client import ApiError

    try:
        return send(target_name, target_id, path)
    except ApiError as error:
        problem = error.problem.model_dump(mode="json", exclude_unset=True)
        return {"target": target_name, "refused": str(build_domain_error(error)), "problem": problem}


def _send_guess(
    client: Client,
    target_name: str,
    target_id: str,
    path: Path,
    *,
    question: str,
    resend: bool,
    checks_first: bool,
) -> dict[str, object]:
    content, name = path.read_bytes(), replace_unprintable(target_name)
    if checks_first:
        with ignore_api_errors(), progress_bar(f"checking {name}"):
            show_warnings(client.check_guess(target_id, content, question=question).warnings, f"{name}: ")
    with progress_bar(f"sending {name}"):
        receipt = client.send_guess(target_id, content, question=question, resend=resend)
    return {"target": target_name} | receipt.model_dump(mode="json")


def targets(slug: Slug, as_json: AsJson = False) -> None:
    """List the targets: the releases that may be attacked."""
    columns: ColumnSpec[schemas.Target] = {
        "name": "name",
        "team": "team",
        "id": "id",
        "rows": "rows",
        "own": "own",
        "guesses left": "guesses_left",
    }
    with connect() as client:
        rows = client.list_targets(slug)
        if not as_json:
            print_round(client, slug)
    if any(len(target.guesses_left_by_question or ()) > 1 for target in rows):
        columns = {**columns, "left by question": "guesses_left_by_question"}
    print_entries(rows, columns, as_json=as_json, empty_text="no targets")


def guesses(slug: Slug, as_json: AsJson = False) -> None:
    """List your team's guesses, with the number of correct rows if the competition shows it."""
    columns: ColumnSpec[schemas.Guess] = {
        "target": "target",
        "received": make_time_column("received_at"),
        "status": "status",
        "rows": "rows",
        "answered": "answered",
        "correct": "correct",
        "rate": "rate",
    }
    with connect() as client:
        rows = client.list_guesses(slug)
    if any(row.errors for row in rows):
        columns = {**columns, "refused": _describe_errors}
    if len({row.question for row in rows}) > 1:
        columns = {"target": "target", "question": "question", **columns}
    print_entries(rows, columns, as_json=as_json, empty_text="no guesses")


def _describe_errors(row: schemas.Guess) -> str | None:
    """Return the errors in a refused guess with their places; None for other guesses."""
    errors = [
        f"{entry.file}{f', row {entry.row}' if entry.row else ''}: {entry.code}: {entry.message}"
        for entry in row.errors
    ]
    if row.total > len(errors):
        errors.append(f"{row.total - len(errors)} more")
    return "; ".join(errors) or None
