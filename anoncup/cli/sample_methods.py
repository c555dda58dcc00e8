"""Look up a sample method and parse its parameters for ``anoncup anonymize``."""

from pathlib import Path

from rich.table import Table

from anoncup.cli.local_files import LocalContest
from anoncup.cli.terminal import make_table
from anoncup.errors import InvalidInput
from anoncup.tracks.parts import Method


def require_no_overwrite(contest: LocalContest, folder: Path | None) -> Path:
    """Return the output folder; raise InvalidInput if a file, perhaps an original, would be overwritten."""
    if folder is None or str(folder) == ".":
        raise InvalidInput("--into names the folder for the release and its secret", code="files")
    if folder.exists() and not folder.is_dir():
        raise InvalidInput("{into} is not a folder", code="files", into=str(folder))
    for name in (*contest.track.release_file_names, contest.track.answer_spec.file.name):
        if (folder / f"{name}.csv").exists():
            raise InvalidInput(
                "{file} exists already; choose another folder", code="files", file=str(folder / f"{name}.csv")
            )
    return folder


def build_methods_table(contest: LocalContest) -> Table:
    """Build a table of the methods with the defaults of their parameters."""
    table = make_table("method", "--set")
    for method in contest.track.methods.values():
        table.add_row(
            method.name,
            " ".join(
                f"{parameter.name}={_format_default(parameter.default)}" for parameter in method.parameters
            ),
        )
    return table


def _format_default(value: object) -> str:
    if value is None:
        return "…"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def find_method(contest: LocalContest, name: str) -> Method:
    methods = contest.track.methods
    if name not in methods:
        raise InvalidInput(
            "methods of the {track} track: {methods}",
            code="unknown_method",
            track=contest.track.name,
            methods=tuple(methods),
        )
    return methods[name]


def parse_parameters(contest: LocalContest, method: Method, assignments: list[str]) -> dict[str, object]:
    """Parse ``name=value`` assignments into the parameters of a method."""
    parameters = {parameter.name: parameter for parameter in method.parameters}
    roles = contest.track.list_columns_by_role(contest.rules.columns, contest.rules.settings)
    values: dict[str, object] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or name not in parameters:
            raise InvalidInput(
                "{name} takes {takes}; not {text!r}",
                code="unknown_parameter",
                name=method.name,
                takes=", ".join(parameters) or "no parameters",
                text=text,
            )
        values[name] = parameters[name].parse_text(value, roles)
    return values
