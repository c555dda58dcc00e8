"""Summarize what worsens a release's score most: risk or utility loss, by which attackers or measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from app.web.team.verdicts import AttackerLine, MeasureLine

_EVERYBODY_FOUND_RATE = 0.9995
"""Attackers with at least this rate are said to find everybody."""


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The largest costs of a release.

    ``dominant`` tells whether risk or utility loss is larger. ``attackers`` are those that determine the
    risk. ``measure`` contributes most to the utility loss; it is None if nothing is lost.
    ``finds_everybody`` means that the risk is (almost) 1.
    """

    dominant: Literal["risk", "utility", "both", "nothing"]
    attackers: tuple[AttackerLine, ...]
    measure: MeasureLine | None
    finds_everybody: bool


def summarize_costs(
    measures: Sequence[MeasureLine], attackers: Sequence[AttackerLine], verdict: schemas.Verdict
) -> CostSummary:
    risk, loss = verdict.security, verdict.utility
    contributing = [line for line in measures if line.contribution]
    return CostSummary(
        dominant=_compare_costs(risk, loss),
        attackers=tuple(line for line in attackers if line.is_decisive) if risk else (),
        measure=max(contributing, key=lambda line: line.contribution or 0.0, default=None),
        finds_everybody=risk >= _EVERYBODY_FOUND_RATE,
    )


def _compare_costs(risk: float, loss: float) -> Literal["risk", "utility", "both", "nothing"]:
    if risk == loss:
        return "both" if risk else "nothing"
    return "risk" if risk > loss else "utility"
