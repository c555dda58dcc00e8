"""``anoncup anonymize``: make a release with a sample method."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.options import CompetitionFile, OriginalFiles, RoundName
from anoncup.cli.output import print_table
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup.cli.local_files import LocalContest
    from anoncup.tracks.parts import AnyMethod

Seed = Annotated[int, typer.Option(min=0, metavar="NUMBER", help="seed of the random choices")]


def anonymize(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    method: Annotated[str, typer.Option(help='name of a sample method; "help" describes them')] = "help",
    into: Annotated[
        Path | None, typer.Option(help="a new folder for the release and its secret; needed with a method")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", help="a parameter of the method, such as k=5 or columns=sex,age"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="repeats a release; whoever knows it knows the secret; default: random",
        ),
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="leave the rows in the original's order")
    ] = False,
    secret: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="the data that your team got (membership)"),
    ] = None,
) -> None:
    """Make a release with a sample method: the anonymized files and secret.csv, rows shuffled.

    Where the service draws each team's own file, give it as --secret; else one is drawn here to try.
    """
    import numpy as np

    from anoncup.cli.local_files import load_contest, read_drawn_answer

    contest = load_contest(competition, original, round_name)
    if method == "help":
        methods = sorted(contest.track.methods.values(), key=lambda entry: entry.cheats)
        print_table(methods, {"method": "name", "--set": _format_parameters, "": _describe_method})
        return
    sample_method = _find_method(contest, method)
    folder = _require_no_overwrite(contest, into)
    rng = np.random.default_rng(seed)
    parameter_values = _parse_parameters(contest, sample_method, parameters or [])
    drawn_answer = (
        {"answer": read_drawn_answer(secret, contest)} if contest.track.allocates_answer and secret else {}
    )
    release, answer = contest.track.anonymize(
        sample_method, contest.original, contest.rules, rng, parameter_values, **drawn_answer
    )
    if not keep_order:
        release, answer = contest.track.shuffle(release, answer, rng=rng)
    folder.mkdir(parents=True, exist_ok=True)
    contents = contest.track.files_of(release)
    if not drawn_answer:
        contents |= {contest.track.answer_spec.file.name: contest.track.answer_spec.write(answer)}
    for name, content in contents.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {', '.join(f'{name}.csv' for name in contents)} into {folder}")


def _require_no_overwrite(contest: LocalContest, folder: Path | None) -> Path:
    """Return the output folder; raise InvalidInput if a file, perhaps an original, would be overwritten."""
    if folder is None or str(folder) == ".":
        raise InvalidInput("--into is needed: a folder for the release and its secret", code="files")
    if folder.exists() and not folder.is_dir():
        raise InvalidInput("{into} is not a folder", code="files", into=str(folder))
    for name in (*contest.track.release_file_names, contest.track.answer_spec.file.name):
        if (folder / f"{name}.csv").exists():
            raise InvalidInput(
                "{file} exists already; choose another folder", code="files", file=str(folder / f"{name}.csv")
            )
    return folder


def _describe_method(method: AnyMethod) -> str:
    """Return what a method does, without markup and references; cheats are marked."""
    description = re.sub(r" \([^()]*\bP\d[^()]*\)|:func:|`", "", method.summary[1])
    return f"Cheat, to be rejected: {description}" if method.cheats else description


def _format_parameters(method: AnyMethod) -> str:
    """Return the parameters of a method with their defaults."""
    return " ".join(
        f"{parameter.name}={_format_default(parameter.default)}" for parameter in method.parameters
    )


def _format_default(value: object) -> str:
    if value is None:
        return "…"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _find_method(contest: LocalContest, name: str) -> AnyMethod:
    methods = contest.track.methods
    if name not in methods:
        raise InvalidInput(
            "there is no method {name!r} in the {track} track, but {methods}; --method help describes them",
            code="unknown_method",
            name=name,
            track=contest.track.name,
            methods=tuple(method.name for method in methods.values() if not method.cheats),
        )
    return methods[name]


def _parse_parameters(contest: LocalContest, method: AnyMethod, assignments: list[str]) -> dict[str, object]:
    """Parse ``name=value`` assignments into the parameters of a method."""
    parameters = {parameter.name: parameter for parameter in method.parameters}
    roles = contest.track.settings.list_columns_by_role(contest.rules.columns, contest.rules.settings)
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
