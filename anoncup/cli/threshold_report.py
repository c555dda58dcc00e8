"""A threshold report as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from anoncup.cli.terminal import digits, numbered

if TYPE_CHECKING:
    from anoncup import schemas

BLOCKS = " ▁▂▃▄▅▆▇█"


def show_advice(out: Console, advice: schemas.Advice) -> None:
    out.print(f"{advice.individuals} individuals, {advice.groups} groups, {advice.alone} of one individual")
    show_bounds(out, advice)
    for name, one in advice.histograms.items():
        line = f"{digits(one.least)} |{bars(one.counts)}| {digits(one.largest)}"
        out.print(f"{name:>7}  {line}", soft_wrap=True)
    for one in list(advice.histograms.values())[:1]:
        out.print(f"         mean {advice.distance} distance over {one.draws} permutations of each kind")
    show_evidence(out, advice.evidence)
    show_guarantee(out, advice)
    show_recommendation(out, advice.evidence)


def show_bounds(out: Console, advice: schemas.Advice) -> None:
    cheats = numbered("cheat", "most that stay in place", "chance of more", "on average")
    for cheat in advice.cheats:
        chance = "0" if cheat.log2_chance is None else f"2^{cheat.log2_chance:.2f}"
        cheats.add_row(cheat.name, str(cheat.fixed), chance, digits(cheat.expected))
    out.print(cheats)
    bounds = numbered("in place", "s_lower/n", "certified from", "to", "exact")
    for bound in advice.bounds:
        ends = [digits(each) for each in (bound.s_lower, bound.lower, bound.upper)]
        bounds.add_row(str(bound.fixed), *ends, "yes" if bound.exact else "")
    out.print(bounds)


def show_evidence(out: Console, found: schemas.Evidence) -> None:
    """What sample methods cost, and both errors at round thresholds."""
    honest = numbered("sample method", "with", "mean distance")
    honest.columns[1].justify = "left"
    for one in found.honest:
        chosen = ", ".join(f"{name}={said(value)}" for name, value in one.parameters.items())
        honest.add_row(one.method, chosen, "refused" if one.mean is None else digits(one.mean))
    out.print(honest)
    kinds = list(found.errors[0].passing) if found.errors else []
    shares = (f"{each} %" for each in kinds)
    errors = numbered("threshold", "honest rejected", "mixtures let through", *shares)
    for at in found.errors:
        passing = [digits(100 * at.passing[kind]) for kind in kinds]
        errors.add_row(
            digits(at.threshold),
            f"{at.rejected} of {len(found.accepted)}",
            f"{at.mixed} of {len(found.mixtures)}",
            *passing,
        )
    out.print(errors)


def said(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def show_guarantee(out: Console, advice: schemas.Advice) -> None:
    kind = "certified" if advice.certified else "by s_lower"
    out.print(
        f"above {digits(advice.low)}, half the smallest distance, and below {digits(advice.high)} ({kind}):"
    )
    if advice.threshold is None:
        out.print(f"there is no such threshold: {advice.remedy}", style="red", soft_wrap=True)
        return
    out.print(f"guaranteed: threshold = {advice.threshold!r}", style="green")
    for name, histogram in advice.histograms.items():
        side = "all above it" if histogram.least > advice.threshold else "some below it"
        out.print(f"  {name}: {side}")
    out.print(
        f"  honest teams may move up to {advice.escapes} of {advice.individuals} individuals more than half "
        "the distance to their nearest neighbour",
        soft_wrap=True,
    )


def show_recommendation(out: Console, found: schemas.Evidence) -> None:
    if found.threshold is None:
        out.print("no threshold is recommended:", style="red")
    else:
        out.print(f"recommended: threshold = {found.threshold!r}", style="green")
    for reason in found.reasons:
        out.print(f"  {reason.message}", soft_wrap=True)


def bars(counts: Sequence[int]) -> str:
    """A histogram in a line of text."""
    most = max(counts)
    return "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // most)] for count in counts)
