"""What a release pays most for, in names and numbers: what its page begins with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from app.web.team.verdicts import AttackerLine, MeasureLine

EVERYBODY = 0.9995
"""From this rate on an attacker is said to find everybody."""


@dataclass(frozen=True, slots=True)
class Costs:
    """``more``: which of risk and utility loss costs more. ``attackers``: those whose rate is the risk.

    ``measure``: what adds most to the utility loss; None if nothing is lost. ``everybody``: the risk is all.
    """

    more: Literal["risk", "utility", "both", "nothing"]
    attackers: tuple[AttackerLine, ...]
    measure: MeasureLine | None
    everybody: bool


def costs_of(
    measures: Sequence[MeasureLine], attackers: Sequence[AttackerLine], verdict: schemas.Verdict
) -> Costs:
    risk, loss = verdict.security, verdict.utility
    adding = [line for line in measures if line.adds]
    return Costs(
        more=more_of(risk, loss),
        attackers=tuple(line for line in attackers if line.decides) if risk else (),
        measure=max(adding, key=lambda line: line.adds or 0.0, default=None),
        everybody=risk >= EVERYBODY,
    )


def more_of(risk: float, loss: float) -> Literal["risk", "utility", "both", "nothing"]:
    if risk == loss:
        return "both" if risk else "nothing"
    return "risk" if risk > loss else "utility"
