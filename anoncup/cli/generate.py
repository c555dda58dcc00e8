"""``anoncup generate``, ``tc400`` and ``template``: write example data and competition files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import (
    EXAMPLE_TRACKS,
    TEMPLATES_HELP,
    CompetitionFile,
    OriginalFiles,
    RoundName,
    assign_originals,
    read_text,
    use_local_names,
)
from anoncup.errors import InvalidInput

_DATA_CREDIT = """Data: Chen, D. (2015). Online Retail. UCI Machine Learning Repository, CC BY 4.0;
a selection, with invented sex and birthday."""


def generate(
    folder: Annotated[
        Path | None, typer.Argument(help="the folder to write into; a single file is printed without it")
    ] = None,
    *,
    rows: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="number of rows; default: as in the contest of the track"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    track: Annotated[str, typer.Option(help=f"the track: {', '.join(EXAMPLE_TRACKS)}")] = EXAMPLE_TRACKS[0],
    competition: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="a competition file, whose track and rules are taken"),
    ] = None,
) -> None:
    """Print a generated table of the 2015 contest's shape, or write the example data of a track."""
    from anoncup.competition.parser import parse_rounds
    from anoncup.competition.templates import template
    from anoncup.plugins import TRACKS

    text = read_text(competition) if competition else None
    if text is None and track in EXAMPLE_TRACKS:
        text = template(next(iter(TRACKS[track].examples.templates), track))
    rules = next(iter(parse_rounds(text).values())) if text is not None else None
    if rules is None or rules.track not in EXAMPLE_TRACKS:
        raise InvalidInput("tracks with generated data: {names}", code="unknown_track", names=EXAMPLE_TRACKS)
    examples = TRACKS[rules.track].examples
    assert examples.make_data is not None  # noqa: S101  # EXAMPLE_TRACKS contains only tracks with example data
    files = examples.make_data(rules, rows, seed)
    if folder is not None:
        _write_files(files, folder)
        if examples.known_datasets:
            print(_DATA_CREDIT)
    elif len(files) == 1:
        print(*(content.decode() for content in files.values()), end="")
    else:
        names = tuple(f"{name}.csv" for name in files)
        raise InvalidInput("name a folder for {names}", code="folder_missing", names=names)


def tc400(folder: Annotated[Path, typer.Argument(help="the folder to write into")] = Path()) -> None:
    """Write the 2016 contest's data, customers.csv and transactions.csv, into a folder."""
    from anoncup.tracks.transactions.example import load_tc400
    from anoncup.tracks.transactions.tables import files_of

    _write_files(files_of(load_tc400()), folder)
    print(_DATA_CREDIT)


def _write_files(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {' and '.join(f'{name}.csv' for name in files)} into {folder}")


def template(
    name: Annotated[str, typer.Argument(help=f"the template; {TEMPLATES_HELP}; or a track")],
    *,
    original: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="your original data, once for each file of the track: their columns get suggested roles",
        ),
    ] = None,
) -> None:
    """Print a complete competition file to start from.

    With ``--from``, it is the draft that the pages make of your data, with suggested roles of the columns.
    The name of the first file is its title and address. From a track instead of a template, all measures
    get equal weight, and all realistic attackers count. What was guessed and left out is printed to standard
    error.
    """
    from anoncup.competition.templates import template as template_text

    print(_suggest_file(name, original) if original else template_text(name), end="")


def _suggest_file(name: str, original: Sequence[str]) -> str:
    from anoncup.cli.score import build_notices
    from anoncup.cli.submissions import show_warnings
    from anoncup.competition.drafts import create_named_draft
    from anoncup.competition.parser import parse_common_rules
    from anoncup.competition.templates import template as template_text
    from anoncup.plugins import TRACKS
    from anoncup.runner.imported_tables import suggest_file

    track = TRACKS[parse_common_rules(template_text(name)).track]
    paths = assign_originals(track, original, option="--from")
    draft = create_named_draft(name, next(iter(paths.values())).stem)
    with use_local_names(paths):
        text, remarks = suggest_file(draft, {file: path.read_bytes() for file, path in paths.items()})
    show_warnings(build_notices(remarks))
    return f"{text.rstrip()}\n"


def scales(competition: CompetitionFile, original: OriginalFiles, *, round_name: RoundName = None) -> None:
    """Print the competition file, or that of one round, with the scales of its utility scores.

    A scale of 0 is refused as the service does, unless the file has another one for the measure.
    """
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.scales import compute_usable_scales
    from anoncup.rules.toml_text import replace_scales

    contest = load_contest(competition, original, round_name)
    values = compute_usable_scales(contest.rules, contest.track, contest.original)
    print(replace_scales(contest.text, values), end="")
