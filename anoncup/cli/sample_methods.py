"""A sample method by its name and parameters, as ``anoncup anonymize`` takes them."""

from pathlib import Path

from rich.table import Table

from anoncup.cli.local_files import LocalContest
from anoncup.cli.terminal import numbered
from anoncup.errors import InvalidInput
from anoncup.tracks.parts import Method


def empty_place(contest: LocalContest, into: Path | None) -> Path:
    """The folder to write into; nothing in it is overwritten, for it may be an original."""
    if into is None or str(into) == ".":
        raise InvalidInput("--into names the folder for the release and its secret", code="files")
    if into.exists() and not into.is_dir():
        raise InvalidInput("{into} is not a folder", code="files", into=str(into))
    for name in (*contest.track.files, contest.track.answers.file.name):
        if (into / f"{name}.csv").exists():
            raise InvalidInput(
                "{file} exists already; choose another folder", code="files", file=str(into / f"{name}.csv")
            )
    return into


def methods_table(contest: LocalContest) -> Table:
    """The methods with their parameters' usual values."""
    table = numbered("method", "--set")
    for each in contest.track.methods.values():
        table.add_row(each.name, " ".join(f"{one.name}={shown(one.default)}" for one in each.parameters))
    return table


def shown(value: object) -> str:
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
    """``name=value`` as the method wants it."""
    known = {one.name: one for one in method.parameters}
    roles = contest.track.roles(contest.rules.columns, contest.rules.settings)
    found: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise InvalidInput(
                "{name} takes {takes}; not {text!r}",
                code="unknown_parameter",
                name=method.name,
                takes=", ".join(known) or "no parameters",
                text=text,
            )
        found[name] = known[name].typed(value, roles)
    return found
