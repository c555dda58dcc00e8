"""``anoncup threshold``: advise organizers on the threshold against excessive anonymization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    GroupColumns,
    OriginalFiles,
    RoundName,
    parse_group_columns,
)
from anoncup.cli.output import make_console, print_json
from anoncup.cli.terminal import format_number, make_table, progress_bar
from anoncup.rules.parameters import describe_parameters

if TYPE_CHECKING:
    from anoncup import schemas

_BLOCKS = " ▁▂▃▄▅▆▇█"


def threshold(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    groups: GroupColumns = None,
    distance: Annotated[
        str | None, typer.Option(help="how individuals are compared; default: the competition's distance")
    ] = None,
    bits: Annotated[
        int, typer.Option(min=1, max=1000, help="a cheat passes with probability at most 2^-BITS")
    ] = 50,
    draws: Annotated[
        int | None, typer.Option(min=0, help="permutations of each type to simulate; default: 10,000")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Advise on the threshold of the rule against excessive anonymization."""
    from anoncup import schemas
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.threshold_report import make_report
    from anoncup.excessive import SIMULATED_PERMUTATIONS
    from anoncup.excessive.question import AdviceQuestion, resolve_question

    contest = load_contest(competition, original, round_name)
    question = AdviceQuestion(
        parse_group_columns(groups),
        distance,
        bits,
        SIMULATED_PERMUTATIONS if draws is None else draws,
    )
    question = resolve_question(question, contest.rules)
    with progress_bar("threshold") as progress:
        result = make_report(question, contest.rules, contest.original, progress=progress)
    advice = schemas.parse_advice(result.to_json())
    if as_json:
        print_json(advice)
    else:
        _show_advice(make_console(), advice)


def _show_advice(console: Console, advice: schemas.Advice) -> None:
    _show_contest(console, advice.contest)
    console.print(
        f"{advice.individuals} individuals, {advice.groups} groups, {advice.alone} of one individual"
    )
    _show_cheats(console, advice)
    for name, histogram in advice.histograms.items():
        smallest, largest = format_number(histogram.least), format_number(histogram.largest)
        line = f"{smallest} |{_render_bars(histogram.counts)}| {largest}"
        console.print(f"{name:>7}  {line}", soft_wrap=True)
    for histogram in list(advice.histograms.values())[:1]:
        console.print(
            f"         mean {advice.distance} distance over {histogram.draws} permutations of each kind"
        )
    _show_recommendation(console, advice)


def _show_contest(console: Console, contest: schemas.SampleContest) -> None:
    """Print the warnings and what helps, then the releases in the order of the ranking rule."""
    for warning in contest.warnings:
        console.print(warning.message, style="red", soft_wrap=True)
    for remedy in contest.remedies:
        console.print(f"  what helps: {remedy.message}", soft_wrap=True)
    if contest.problem is not None:
        console.print(f"the contest cannot be played: {contest.problem.message}", style="red", soft_wrap=True)
        return
    has_score = any(release.score is not None for release in contest.releases)
    headings = ["with", "rank", "U", "E", "overall", *(["score"] if has_score else []), "mean distance", ""]
    table = make_table("release", *headings)
    table.columns[1].justify, table.columns[1].no_wrap = "left", False
    for release in contest.releases:
        scores = [release.score] if has_score else []
        numbers = [release.utility, release.security, release.overall, *scores, release.mean_distance]
        table.add_row(
            release.method or release.kind,
            describe_parameters(release.parameters),
            "–" if release.rank is None else str(release.rank),
            *map(format_number, numbers),
            "rejected" if release.violations else "",
        )
    console.print(table)
    limit = "no threshold" if contest.threshold is None else f"threshold {contest.threshold!r}"
    console.print(f"played by {contest.individuals} individuals under the competition's rules, with {limit}")


def _show_cheats(console: Console, advice: schemas.Advice) -> None:
    bounds = {bound.fixed: bound.s_lower for bound in advice.bounds}
    table = make_table("cheat", "most that stay in place", "chance of more", "on average", "s_lower/n")
    for cheat in advice.cheats:
        chance = "0" if cheat.log2_chance is None else f"2^{cheat.log2_chance:.2f}"
        table.add_row(
            cheat.name,
            str(cheat.fixed),
            chance,
            format_number(cheat.expected),
            format_number(bounds[cheat.fixed]),
        )
    console.print(table)
    if advice.s_exact is not None:
        console.print(f"s_exact(0)/n: {format_number(advice.s_exact)}")


def _show_recommendation(console: Console, advice: schemas.Advice) -> None:
    low, high = format_number(advice.low), format_number(advice.high)
    console.print(f"above {low}, half the smallest distance, and below {high}:")
    if advice.threshold is None:
        console.print(f"there is no such threshold: {advice.remedy}", style="red", soft_wrap=True)
        return
    for name, histogram in advice.histograms.items():
        side = "all above it" if histogram.least > advice.threshold else "some below it"
        console.print(f"  {name}: {side}")
    console.print(f"recommended: threshold = {advice.threshold!r}", style="green")


def _render_bars(counts: Sequence[int]) -> str:
    """Render a histogram as one line of block characters."""
    maximum = max(counts)
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // maximum)] for count in counts)
