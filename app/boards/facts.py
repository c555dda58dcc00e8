"""What happened in a round, as far as its standings depend on it: events and their moments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.rules.model import Rules
from app.competitions import phases
from app.core.db.models import Series

_MICROSECOND = timedelta(microseconds=1)


class FinishedRelease(NamedTuple):
    """A submission that has been scored.

    ``at``: when it was scored for the first time. ``numbers`` are None if it cannot represent its team,
    because it was rejected or scored by versions that do not count. They are U and E only, unless the rules
    use more of this submission.
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
    at: datetime


class TeamAdjustment(NamedTuple):
    """A penalty or bonus that a team gets at a moment; a withdrawn one is given once more, negated."""

    team_id: UUID
    points: float
    at: datetime


class EarlierScore(NamedTuple):
    """The score of a team on the board of an earlier round that everybody saw; None if nothing counted."""

    round: str
    team_id: UUID
    score: float | None
    at: datetime


class TargetPublication(NamedTuple):
    """From this event on only finals are compared."""

    at: datetime


Event = FinishedRelease | JudgedGuess | TeamAdjustment | EarlierScore | TargetPublication


class CompetingTeam(NamedTuple):
    id: UUID
    name: str


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

    ``omitted`` has the number of releases of a team that are left out because they can no longer be its best.
    ``targets`` are by submission. From ``published_at`` on, only they and baselines are compared. ``teams``
    are in order of creation. ``earlier_releases`` and ``earlier_attacks`` are for the functions that rank
    these boards; of several scores of a team at one moment the last holds. The order of everything else does
    not matter.
    """

    rules: Rules
    releases: Sequence[FinishedRelease]
    guesses: Sequence[JudgedGuess]
    adjustments: Sequence[TeamAdjustment]
    targets: Mapping[UUID, BoardTarget]
    teams: Sequence[CompetingTeam]
    published_at: datetime | None
    earlier_releases: Sequence[EarlierScore] = ()
    earlier_attacks: Sequence[EarlierScore] = ()
    omitted: Mapping[UUID, int] = field(default_factory=dict)

    def list_guesses(self, series: Series) -> Sequence[JudgedGuess]:
        """Return the guesses with the moments from which they count in the series.

        In the daily series this is the end of the day on which the guess was accepted, so that boards frozen
        at midnight include it, or the end of its judging if that is later.
        """
        if series == Series.WITHOUT_GUESSES:
            return ()
        if series == Series.ALL_GUESSES:
            return self.guesses
        return [
            guess._replace(at=max(guess.at, _find_end_of_day(guess.accepted_at, self.rules.timezone)))
            for guess in self.guesses
        ]


def _find_end_of_day(moment: datetime, timezone: str) -> datetime:
    _, next_midnight = phases.find_midnights(moment, timezone)
    return next_midnight - _MICROSECOND
