"""Print a threshold report in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from anoncup.cli.terminal import format_number, make_table

if TYPE_CHECKING:
    from anoncup import schemas

_BLOCKS = " ▁▂▃▄▅▆▇█"


def show_advice(output: Console, advice: schemas.Advice) -> None:
    output.print(
        f"{advice.individuals} individuals, {advice.groups} groups, {advice.alone} of one individual"
    )
    _show_bounds(output, advice)
    for name, histogram in advice.histograms.items():
        smallest, largest = format_number(histogram.least), format_number(histogram.largest)
        line = f"{smallest} |{_render_bars(histogram.counts)}| {largest}"
        output.print(f"{name:>7}  {line}", soft_wrap=True)
    for histogram in list(advice.histograms.values())[:1]:
        output.print(
            f"         mean {advice.distance} distance over {histogram.draws} permutations of each kind"
        )
    _show_evidence(output, advice.evidence)
    _show_guarantee(output, advice)
    _show_recommendation(output, advice.evidence)


def _show_bounds(output: Console, advice: schemas.Advice) -> None:
    cheats = make_table("cheat", "most that stay in place", "chance of more", "on average")
    for cheat in advice.cheats:
        chance = "0" if cheat.log2_chance is None else f"2^{cheat.log2_chance:.2f}"
        cheats.add_row(cheat.name, str(cheat.fixed), chance, format_number(cheat.expected))
    output.print(cheats)
    bounds = make_table("in place", "s_lower/n", "certified from", "to", "exact")
    for row in advice.bounds:
        limits = [format_number(limit) for limit in (row.s_lower, row.lower, row.upper)]
        bounds.add_row(str(row.fixed), *limits, "yes" if row.exact else "")
    output.print(bounds)


def _show_evidence(output: Console, evidence: schemas.AdviceEvidence) -> None:
    """Print the mean distances of sample methods and both error rates at round thresholds."""
    honest = make_table("sample method", "with", "mean distance")
    honest.columns[1].justify = "left"
    for trial in evidence.honest:
        parameters = ", ".join(
            f"{name}={_format_parameter(value)}" for name, value in trial.parameters.items()
        )
        honest.add_row(
            trial.method, parameters, "refused" if trial.mean is None else format_number(trial.mean)
        )
    output.print(honest)
    kinds = list(evidence.errors[0].passing) if evidence.errors else []
    shares = (f"{cheat} %" for cheat in kinds)
    errors = make_table("threshold", "honest rejected", "mixtures let through", *shares)
    for row in evidence.errors:
        passing = [format_number(100 * row.passing[kind]) for kind in kinds]
        errors.add_row(
            format_number(row.threshold),
            f"{row.rejected} of {len(evidence.accepted_means)}",
            f"{row.mixed} of {len(evidence.mixtures)}",
            *passing,
        )
    output.print(errors)


def _format_parameter(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _show_guarantee(output: Console, advice: schemas.Advice) -> None:
    kind = "certified" if advice.certified else "by s_lower"
    output.print(
        f"above {format_number(advice.low)}, half the smallest distance, "
        f"and below {format_number(advice.high)} ({kind}):"
    )
    if advice.threshold is None:
        output.print(f"there is no such threshold: {advice.remedy}", style="red", soft_wrap=True)
        return
    output.print(f"guaranteed: threshold = {advice.threshold!r}", style="green")
    for name, histogram in advice.histograms.items():
        side = "all above it" if histogram.least > advice.threshold else "some below it"
        output.print(f"  {name}: {side}")
    output.print(
        f"  honest teams may move up to {advice.escapes} of {advice.individuals} individuals more than half "
        "the distance to their nearest neighbour",
        soft_wrap=True,
    )


def _show_recommendation(output: Console, evidence: schemas.AdviceEvidence) -> None:
    if evidence.threshold is None:
        output.print("no threshold is recommended:", style="red")
    else:
        output.print(f"recommended: threshold = {evidence.threshold!r}", style="green")
    for reason in evidence.reasons:
        output.print(f"  {reason.message}", soft_wrap=True)


def _render_bars(counts: Sequence[int]) -> str:
    """Render a histogram as one line of block characters."""
    maximum = max(counts)
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // maximum)] for count in counts)
