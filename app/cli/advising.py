"""``anoncup threshold``: advice to organizers, with its tables and histograms."""

import json
from typing import Annotated

import typer

from app.cli.advice import show_advice
from app.cli.options import AsJson, CompetitionFile, OriginalFiles
from app.cli.shown import console, progress_bar
from app.errors import InvalidInput


def threshold(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    groups: Annotated[
        str | None,
        typer.Option(help="columns a cheat may keep, such as sex,country; default: the cross-tables'"),
    ] = None,
    distance: Annotated[str | None, typer.Option(help="default: the competition's")] = None,
    bits: Annotated[int, typer.Option(min=1, max=1000, help="reject cheats but for 2^-BITS")] = 50,
    draws: Annotated[
        int | None, typer.Option(min=0, help="permutations of each type to simulate; default: 10,000")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="time to make more of the bounds exact")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Advise on the threshold of the rule against excessive anonymization."""
    from app.cli.files import contest_of
    from app.scoring.excessive.advisor import DRAWS, advise

    contest = contest_of(competition, original)
    name = contest.rules.excessive.distance if distance is None else distance
    if name not in contest.track.distances:
        known = ", ".join(contest.track.distances)
        raise InvalidInput(f"distances of the {contest.track.name} track: {known}", code="unknown_distance")
    known_columns, usual = contest.track.group_columns(contest.rules)
    chosen = tuple(groups.split(",")) if groups else usual
    unknown = set(chosen) - set(known_columns)
    if unknown:
        said = f"{', '.join(sorted(unknown))}: group columns are {', '.join(known_columns)}"
        raise InvalidInput(said, code="unknown_column")
    with progress_bar("threshold") as progress:
        advice = advise(
            contest.prepared,
            contest.track.distances[name],
            contest.track.groups(contest.prepared, chosen),
            bits=bits,
            draws=DRAWS if draws is None else draws,
            seconds=seconds,
            progress=progress,
        )
    if as_json:
        print(json.dumps(advice.to_json(), indent=2))
    else:
        show_advice(console(), advice.to_json())
