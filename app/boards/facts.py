"""What happened in a round, as far as its standings depend on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from anoncup.rules.model import Rules
from app.boards.verdicts import VerdictNumbers


class FinishedRelease(NamedTuple):
    """A submission that has been scored.

    ``at``: when it was scored for the first time. ``numbers`` are None if it cannot represent its team,
    because it was rejected or scored by versions that do not count. They are U and E only, unless the rules
    use more of this submission (``verdict_details``).
    """

    submission_id: UUID
    evaluation_id: UUID
    team_id: UUID
    is_baseline: bool
    received_at: datetime
    at: datetime
    numbers: VerdictNumbers | None


class JudgedGuess(NamedTuple):
    """A guess that counts. ``risk`` is in [0, 1]; ``submission_id`` is the release that it attacks."""

    submission_id: UUID
    team_id: UUID
    question: str
    risk: float
    correct: int
    received_at: datetime
    accepted_at: datetime
    judged_at: datetime


class TeamAdjustment(NamedTuple):
    """A penalty or bonus that a team gets at a moment; a withdrawn one is given once more, negated."""

    team_id: UUID
    points: float
    at: datetime


class CompetingTeam(NamedTuple):
    id: UUID
    name: str


class EarlierScore(NamedTuple):
    """The score of a team on the board of an earlier round that everybody saw; None if nothing counted."""

    round: str
    team_id: UUID
    score: float | None
    at: datetime


class BoardTarget(NamedTuple):
    """A target that counts: accepted, and neither it nor its team is disqualified."""

    id: UUID
    name: str
    individual_count: int
    submission_id: UUID
    evaluation_id: UUID
    team_id: UUID
    team: str


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """What happened in a round; disqualified teams and submissions are left out.

    ``published_at``: from then on only ``targets`` and baselines are compared. ``teams`` are in order of
    creation. ``earlier_releases`` and ``earlier_attacks`` are for the functions that rank these boards; of
    several scores of a team at one moment the last holds. The order of everything else does not matter.
    """

    rules: Rules
    releases: Sequence[FinishedRelease]
    guesses: Sequence[JudgedGuess]
    adjustments: Sequence[TeamAdjustment]
    targets: Mapping[UUID, BoardTarget]
    """By submission."""
    teams: Sequence[CompetingTeam]
    published_at: datetime | None
    earlier_releases: Sequence[EarlierScore] = ()
    earlier_attacks: Sequence[EarlierScore] = ()
