"""Timeline of the anonymization board: each team's best release over time, as this viewer may see it.

Moments are whole seconds, so changes within one second are one step. There may be tens of thousands: they are
read in order, kept as tuples, and written team by team.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, groupby
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.formulas.ranks import TIE_TOLERANCE
from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.db.models import Standing, Team
from app.services.boards import entries, spreadsheet
from app.services.contests.visibility import BoardAccess

_SECOND = timedelta(seconds=1)
_ROWS_AT_ONCE = 1000
_CSV_COLUMNS = ("rank", "overall", "utility", "security", "score")


class StandingChange(NamedTuple):
    """A row of the stored standings."""

    at: datetime
    team_id: UUID
    submission_id: UUID
    overall: float | None
    utility: float | None
    security: float | None
    rival_risk: float | None
    score: float | None


class ShownScores(NamedTuple):
    """The scores of a team as the board shows them. ``score`` is the value of a formula."""

    overall: float | None = None
    utility: float | None = None
    security: float | None = None
    score: float | None = None


_NO_SCORES = ShownScores()


class Step(NamedTuple):
    """The scores that are shown for a team from a moment on."""

    at: datetime
    rank: int | None
    scores: ShownScores
    why: Literal["release", "guesses"] | None


@dataclass
class TeamTimeline:
    """A team's steps so far, with its last standing and the scores shown for it."""

    team_id: UUID
    team: str
    is_baseline: bool
    last: StandingChange | None = None
    scores: ShownScores = _NO_SCORES
    steps: list[Step] = field(default_factory=list)

    def add_step(
        self, at: datetime, change: StandingChange, scores: ShownScores, rank: int | None, *, is_exact: bool
    ) -> None:
        """Add a step if the shown scores have changed."""
        if scores != self.scores:
            self.steps.append(Step(at, rank, scores, self._find_reason(change) if is_exact else None))
        self.last, self.scores = change, scores

    def _find_reason(self, change: StandingChange) -> Literal["release", "guesses"] | None:
        """Return why the scores changed; None if it is another reason, or if nothing counts any more."""
        last = self.last
        if change.overall is None:
            return None
        if last is None or self.scores.overall is None or last.submission_id != change.submission_id:
            return "release"
        return "guesses" if last.rival_risk != change.rival_risk else None


@dataclass
class RankedLosses:
    """The losses of the competing teams at a moment, in order."""

    by_team: dict[UUID, float] = field(default_factory=dict)
    ordered: list[float] = field(default_factory=list)

    def set_loss(self, team_id: UUID, loss: float | None) -> None:
        previous = self.by_team.pop(team_id, None)
        if previous is not None:
            del self.ordered[bisect_left(self.ordered, previous)]
        if loss is not None:
            self.by_team[team_id] = loss
            insort(self.ordered, loss)

    def find_rank(self, team_id: UUID) -> int | None:
        loss = self.by_team.get(team_id)
        return None if loss is None else bisect_left(self.ordered, loss - TIE_TOLERANCE) + 1


def build_history(session: Session, access: BoardAccess) -> History:
    teams = tuple(_build_team(timeline, access) for timeline in _load_timelines(session, access))
    return _build_frame(access).model_copy(update={"teams": teams})


def stream_json(session: Session, access: BoardAccess) -> Iterator[str]:
    """Return the parts of the history as JSON. The session is not needed to iterate over them."""
    timelines = _load_timelines(session, access)
    opening, closing = _build_frame(access).model_dump_json().rsplit("]", 1)
    teams = (_build_team(timeline, access).model_dump_json() for timeline in timelines)
    separated = (f",{team}" if index else team for index, team in enumerate(teams))
    return chain([opening], separated, [f"]{closing}"])


def stream_csv(session: Session, access: BoardAccess) -> Iterator[str]:
    """Return the lines of the history as CSV: one for each step of each team."""
    rows = (
        (step.at.isoformat(), timeline.team, step.rank, *step.scores)
        for timeline in _load_timelines(session, access)
        for step in timeline.steps
    )
    return spreadsheet.iter_csv_lines(["at", "team", *_CSV_COLUMNS], rows)


def _load_timelines(session: Session, access: BoardAccess) -> list[TeamTimeline]:
    """Return the timelines of the teams that ever had scores, in order of their first standing."""
    contest, scope, mask = access.contest, access.scope, _make_mask(access)
    timelines, losses, rules = _load_teams(session, access), RankedLosses(), contest.rules
    on_board: dict[UUID, TeamTimeline] = {}
    for at, changes in groupby(_iter_changes(session, access), key=lambda change: _round_up(change.at)):
        newest = {change.team_id: change for change in changes}
        for team_id, change in newest.items():
            if not timelines[team_id].is_baseline:
                losses.set_loss(team_id, entries.to_loss(rules, change.score))
        for team_id, change in newest.items():
            on_board[team_id] = timelines[team_id]
            is_exact, rank = scope.can_see_details(team_id), losses.find_rank(team_id)
            on_board[team_id].add_step(at, change, mask(change), rank, is_exact=is_exact)
    return [timeline for timeline in on_board.values() if timeline.steps]


def _load_teams(session: Session, access: BoardAccess) -> dict[UUID, TeamTimeline]:
    query = select(Team.id, Team.name, Team.baseline).where(Team.competition_id == access.contest.id)
    return {
        team_id: TeamTimeline(team_id, name, is_baseline)
        for team_id, name, is_baseline in session.execute(query)
    }


def _iter_changes(session: Session, access: BoardAccess) -> Iterator[StandingChange]:
    scope = access.scope
    query = (
        select(*(getattr(Standing, name) for name in StandingChange._fields))
        .where(Standing.round_id == access.contest.round.id, Standing.series == scope.series)
        .where(Standing.at < scope.before)
        .order_by(Standing.at, Standing.team_id)
    )
    return map(StandingChange._make, session.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}))


def _round_up(moment: datetime) -> datetime:
    return moment.replace(microsecond=0) + _SECOND


def _make_mask(access: BoardAccess) -> Callable[[StandingChange], ShownScores]:
    """Return a function that returns the scores of a standing as this viewer may see them."""
    scope, rules = access.scope, access.contest.rules
    has_score, hides_score = (
        not rules.ranking.is_by_overall,
        scope.digits is not None and compares_teams(rules),
    )

    def mask(change: StandingChange) -> ShownScores:
        overall, utility, security = change.overall, change.utility, change.security
        if overall is None or utility is None or security is None:
            return _NO_SCORES
        score = change.score if has_score else None
        if scope.viewer.team_id == change.team_id:
            return ShownScores(overall, utility, security, score)
        shown_score = None if hides_score else scope.round_score(score)
        return ShownScores(scope.round_overall(overall), *scope.round_losses(utility, security), shown_score)

    return mask


def _build_frame(access: BoardAccess) -> History:
    """Return the history without its teams."""
    rules = access.contest.rules
    return History(
        competition=access.contest.address,
        title=dict(rules.title),
        frozen_from=rules.publication.frozen_from,
        digits=access.scope.digits,
        teams=(),
    )


def _build_team(timeline: TeamTimeline, access: BoardAccess) -> HistoryTeam:
    return HistoryTeam(
        team_id=timeline.team_id,
        team=timeline.team,
        own=access.scope.viewer.team_id == timeline.team_id,
        baseline=timeline.is_baseline,
        steps=_build_steps(timeline.steps),
    )


def _build_steps(steps: Sequence[Step]) -> tuple[HistoryStep, ...]:
    return tuple(
        HistoryStep(at=step.at, rank=step.rank, **step.scores._asdict(), why=step.why) for step in steps
    )
