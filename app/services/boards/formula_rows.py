"""The rows of a board as ranking formulas take them. This module loads no numeric package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.services.boards.verdicts import VerdictNumbers

RisksByQuestion = Mapping[str, Mapping[UUID, float]]
"""The largest risk that each team's guesses found in a release, by question and team."""


@dataclass(frozen=True, slots=True)
class FormulaInputs:
    """What formulas use besides the verdicts.

    ``risks`` has the visible guesses by submission. ``team_ids`` are the teams that may guess.
    ``adjustments`` has the sum of the penalties and bonuses of each team that got any.
    """

    team_ids: Sequence[UUID] = ()
    risks: Mapping[UUID, RisksByQuestion] = field(default_factory=dict)
    adjustments: Mapping[UUID, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseNumbers:
    """The numbers of a release that formulas use."""

    submission_id: UUID
    team_id: UUID
    numbers: VerdictNumbers
    security: float
