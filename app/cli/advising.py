"""``anoncup threshold``: advice to organizers, with its tables and histograms."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from app.cli.files import AsJson, CompetitionFile, OriginalFiles, contest_of
from app.cli.shown import console, digits, numbered, progress_bar
from app.errors import InvalidInput
from app.scoring.excessive.advisor import DRAWS, Advice, advise

BLOCKS = " ▁▂▃▄▅▆▇█"


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
    draws: Annotated[int, typer.Option(min=0, help="permutations of each type to simulate")] = DRAWS,
    seconds: Annotated[float, typer.Option(min=0, help="time to make more of the bounds exact")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Advise on the threshold of the rule against excessive anonymization."""
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
            draws=draws,
            seconds=seconds,
            progress=progress,
        )
    if as_json:
        print(json.dumps(advice.to_json(), indent=2))
    else:
        show(console(), advice)


def show(out: Console, advice: Advice) -> None:
    out.print(f"{advice.individuals} individuals, {advice.groups} groups, {advice.alone} of one individual")
    cheats = numbered("cheat", "most that stay in place", "chance of more", "on average")
    for cheat in advice.cheats:
        chance = "0" if cheat.log2_chance is None else f"2^{cheat.log2_chance:.2f}"
        cheats.add_row(cheat.name, str(cheat.fixed), chance, digits(cheat.expected))
    out.print(cheats)
    bounds = numbered("in place", "s_lower/n", "certified from", "to", "exact")
    for bound in advice.bounds:
        exact = "yes" if bound.exact else ""
        bounds.add_row(
            str(bound.fixed), digits(bound.s_lower), digits(bound.lower), digits(bound.upper), exact
        )
    out.print(bounds)
    for name, histogram in advice.histograms.items():
        line = f"{digits(histogram.least)} |{bars(histogram.counts)}| {digits(histogram.largest)}"
        out.print(f"{name:>7}  {line}", soft_wrap=True)
    for histogram in list(advice.histograms.values())[:1]:
        out.print(
            f"         mean {advice.distance} distance over {histogram.draws} permutations of each kind"
        )
    kind = "certified" if advice.certified else "by s_lower"
    out.print(f"above Min/2 = {digits(advice.low)} and below {digits(advice.high)} ({kind}):")
    if advice.threshold is None:
        out.print(f"there is no such threshold: {advice.remedy}", style="red", soft_wrap=True)
    else:
        out.print(f"recommended: threshold = {advice.threshold!r}", style="green")
        for name, histogram in advice.histograms.items():
            side = "all above it" if histogram.least > advice.threshold else "some below it"
            out.print(f"  {name}: {side}")
        out.print(
            f"  honest releases may still move up to {advice.escapes} individuals past half the way to "
            "their nearest other",
            soft_wrap=True,
        )


def bars(counts: Any) -> str:
    """A histogram in a line of text."""
    most = max(counts)
    return "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // most)] for count in counts)
