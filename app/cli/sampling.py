"""A sample method by its name and parameters, as ``anoncup anonymize`` takes them."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.table import Table

from app.cli.files import LocalContest
from app.cli.terminal import numbered
from app.errors import InvalidInput
from app.scoring.registry import Method


def empty_place(contest: LocalContest, into: Path | None) -> Path:
    """The folder to write into; nothing in it is overwritten, for it may be an original."""
    if into is None or str(into) == ".":
        raise InvalidInput("--into names the folder for the release and its secret", code="files")
    if into.exists() and not into.is_dir():
        raise InvalidInput("{into} is not a folder", code="files", into=str(into))
    for name in (*contest.track.files, "secret"):
        if (into / f"{name}.csv").exists():
            raise InvalidInput(
                "{file} exists already; choose another folder", code="files", file=str(into / f"{name}.csv")
            )
    return into


def methods_table(contest: LocalContest) -> Table:
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


def method_of(contest: LocalContest, name: str) -> Method:
    methods = contest.track.methods
    if name not in methods:
        raise InvalidInput(
            "methods of the {track} track: {methods}",
            code="unknown_method",
            track=contest.track.name,
            methods=tuple(methods),
        )
    return methods[name]


def read_parameters(contest: LocalContest, method: Method, given: list[str]) -> dict[str, object]:
    """``name=value`` as the method wants it: numbers, or columns of the contest."""
    found: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in method.parameters:
            takes = ", ".join(method.parameters) or "no parameters"
            raise InvalidInput(
                "{name} takes {takes}; not {text!r}",
                code="unknown_parameter",
                name=method.name,
                takes=takes,
                text=text,
            )
        found[name] = columns_in(contest, value) if name == "columns" else NUMBERS[name](value, text)
    return found


def columns_in(contest: LocalContest, value: str) -> tuple[str, ...]:
    known = contest.track.group_columns(contest.rules)[0]
    chosen = tuple(value.split(","))
    for name in chosen:
        if name not in known:
            raise InvalidInput(
                "{name!r} is none of {known}", code="unknown_column", name=name, known=tuple(known)
            )
    return chosen


def whole(value: str, text: str) -> int:
    if not (value.isascii() and value.isdecimal()) or not 1 <= int(value[:9]) == int(value):
        raise InvalidInput("{text!r}: a whole number above 0 is needed", code="wrong_value", text=text)
    return int(value)


def amount(value: str, text: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not 0 <= found < float("inf"):
        raise InvalidInput("{text!r}: a number from 0 up is needed", code="wrong_value", text=text)
    return found


def share(value: str, text: str) -> float:
    found = amount(value, text)
    if found > 1:
        raise InvalidInput("{text!r}: a share from 0 to 1 is needed", code="wrong_value", text=text)
    return found


NUMBERS: Mapping[str, Callable[[str, str], float]] = {
    "k": whole,
    "clusters": whole,
    "smallest": whole,
    "strength": amount,
    "share": share,
}
