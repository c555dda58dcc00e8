"""Print a threshold report in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from anoncup.cli.terminal import format_number, make_table

if TYPE_CHECKING:
    from anoncup import schemas

_BLOCKS = " ▁▂▃▄▅▆▇█"


def show_advice(console: Console, advice: schemas.Advice) -> None:
    console.print(
        f"{advice.individuals} individuals, {advice.groups} groups, {advice.alone} of one individual"
    )
    _show_bounds(console, advice)
    for name, histogram in advice.histograms.items():
        smallest, largest = format_number(histogram.least), format_number(histogram.largest)
        line = f"{smallest} |{_render_bars(histogram.counts)}| {largest}"
        console.print(f"{name:>7}  {line}", soft_wrap=True)
    for histogram in list(advice.histograms.values())[:1]:
        console.print(
            f"         mean {advice.distance} distance over {histogram.draws} permutations of each kind"
        )
    _show_evidence(console, advice.evidence)
    _show_guarantee(console, advice)
    _show_recommendation(console, advice.evidence)


def _show_bounds(console: Console, advice: schemas.Advice) -> None:
    cheats_table = make_table("cheat", "most that stay in place", "chance of more", "on average")
    for cheat in advice.cheats:
        chance = "0" if cheat.log2_chance is None else f"2^{cheat.log2_chance:.2f}"
        cheats_table.add_row(cheat.name, str(cheat.fixed), chance, format_number(cheat.expected))
    console.print(cheats_table)
    bounds_table = make_table("in place", "s_lower/n", "certified from", "to", "exact")
    for row in advice.bounds:
        limits = [format_number(limit) for limit in (row.s_lower, row.lower, row.upper)]
        bounds_table.add_row(str(row.fixed), *limits, "yes" if row.exact else "")
    console.print(bounds_table)


def _show_evidence(console: Console, evidence: schemas.AdviceEvidence) -> None:
    """Print the mean distances of sample methods and both error rates at round thresholds."""
    honest_table = make_table("sample method", "with", "mean distance")
    honest_table.columns[1].justify = "left"
    for trial in evidence.honest:
        parameters = ", ".join(
            f"{name}={_format_parameter(value)}" for name, value in trial.parameters.items()
        )
        honest_table.add_row(
            trial.method, parameters, "refused" if trial.mean is None else format_number(trial.mean)
        )
    console.print(honest_table)
    kinds = list(evidence.errors[0].passing) if evidence.errors else []
    share_headings = (f"{cheat} %" for cheat in kinds)
    errors_table = make_table("threshold", "honest rejected", "mixtures let through", *share_headings)
    for row in evidence.errors:
        passing = [format_number(100 * row.passing[kind]) for kind in kinds]
        errors_table.add_row(
            format_number(row.threshold),
            f"{row.rejected} of {len(evidence.accepted_means)}",
            f"{row.mixed} of {len(evidence.mixtures)}",
            *passing,
        )
    console.print(errors_table)


def _format_parameter(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _show_guarantee(console: Console, advice: schemas.Advice) -> None:
    kind = "certified" if advice.certified else "by s_lower"
    console.print(
        f"above {format_number(advice.low)}, half the smallest distance, "
        f"and below {format_number(advice.high)} ({kind}):"
    )
    if advice.threshold is None:
        console.print(f"there is no such threshold: {advice.remedy}", style="red", soft_wrap=True)
        return
    console.print(f"guaranteed: threshold = {advice.threshold!r}", style="green")
    for name, histogram in advice.histograms.items():
        side = "all above it" if histogram.least > advice.threshold else "some below it"
        console.print(f"  {name}: {side}")
    console.print(
        f"  honest teams may move up to {advice.escapes} of {advice.individuals} individuals more than half "
        "the distance to their nearest neighbour",
        soft_wrap=True,
    )


def _show_recommendation(console: Console, evidence: schemas.AdviceEvidence) -> None:
    if evidence.threshold is None:
        console.print("no threshold is recommended:", style="red")
    else:
        console.print(f"recommended: threshold = {evidence.threshold!r}", style="green")
    for reason in evidence.reasons:
        console.print(f"  {reason.message}", soft_wrap=True)


def _render_bars(counts: Sequence[int]) -> str:
    """Render a histogram as one line of block characters."""
    maximum = max(counts)
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // maximum)] for count in counts)
