"""Timeline of the anonymization board: each team's best release over time, as this viewer may see it.

Moments are whole seconds, so changes within one second are one step. There may be tens of thousands: they are
read in order, kept as tuples, and written team by team.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, groupby
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.formulas.ranks import TIE_TOLERANCE
from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.boards import entries
from app.boards.models import Standing
from app.competitions.visibility import BoardAccess, ReleaseScores
from app.core import spreadsheet
from app.core.db.models import Team

_SECOND = timedelta(seconds=1)
_ROWS_AT_ONCE = 1000
_NO_SCORES = ReleaseScores(overall=None, utility=None, security=None, score=None)


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


class Step(NamedTuple):
    """The scores that are shown for a team from a moment on."""

    at: datetime
    rank: int | None
    scores: ReleaseScores
    why: Literal["release", "guesses"] | None


@dataclass
class TeamTimeline:
    """A team's steps so far, with its last standing and the scores shown for it."""

    team_id: UUID
    team: str
    is_baseline: bool
    is_own: bool
    last: StandingChange | None = None
    scores: ReleaseScores = _NO_SCORES
    steps: list[Step] = field(default_factory=list)

    def add_step(
        self, at: datetime, change: StandingChange, scores: ReleaseScores, rank: int | None, *, is_exact: bool
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
    teams = tuple(_build_team(timeline) for timeline in _load_timelines(session, access))
    return _build_frame(access).model_copy(update={"teams": teams})


def stream_json(session: Session, access: BoardAccess) -> Iterator[str]:
    """Return the parts of the history as JSON. The session is not needed to iterate over them."""
    timelines = _load_timelines(session, access)
    frame = _build_frame(access).model_dump_json(exclude={"teams"}).removesuffix("}")
    teams = (_build_team(timeline).model_dump_json() for timeline in timelines)
    separated = (f",{team}" if index else team for index, team in enumerate(teams))
    return chain([f'{frame},"teams":['], separated, ["]}"])


def stream_csv(session: Session, access: BoardAccess) -> Iterator[str]:
    """Return the lines of the history as CSV: one for each step of each team."""
    rows = (
        (step.at.isoformat(), timeline.team, step.rank, *step.scores)
        for timeline in _load_timelines(session, access)
        for step in timeline.steps
    )
    return spreadsheet.iter_csv_lines(["at", "team", "rank", *ReleaseScores._fields], rows)


def _load_timelines(session: Session, access: BoardAccess) -> list[TeamTimeline]:
    """Return the timelines of the teams that ever had scores, in order of their first standing."""
    timelines, losses = _load_teams(session, access), RankedLosses()
    on_board: dict[UUID, TeamTimeline] = {}
    for at, changes in groupby(_iter_changes(session, access), key=lambda change: _round_up(change.at)):
        newest = {change.team_id: change for change in changes}
        on_board |= {team_id: timelines[team_id] for team_id in newest}
        _add_steps(at, newest, on_board, losses, access)
    return [timeline for timeline in on_board.values() if timeline.steps]


def _add_steps(
    at: datetime,
    changes: Mapping[UUID, StandingChange],
    timelines: Mapping[UUID, TeamTimeline],
    losses: RankedLosses,
    access: BoardAccess,
) -> None:
    """Take the changes of one moment into account. Ranks compare the teams after all of them."""
    scope, rules = access.scope, access.contest.rules
    for team_id, change in changes.items():
        if not timelines[team_id].is_baseline:
            losses.set_loss(team_id, entries.to_loss(rules, change.score))
    for team_id, change in changes.items():
        timeline = timelines[team_id]
        scores = ReleaseScores(
            overall=change.overall,
            utility=change.utility,
            security=change.security,
            score=None if rules.ranking.is_by_overall else change.score,
        )
        timeline.add_step(
            at,
            change,
            scores if timeline.is_own else scope.mask_scores(scores),
            losses.find_rank(team_id),
            is_exact=timeline.is_own or scope.digits is None,
        )


def _load_teams(session: Session, access: BoardAccess) -> dict[UUID, TeamTimeline]:
    query = select(Team.id, Team.name, Team.baseline).where(Team.competition_id == access.contest.id)
    return {
        team_id: TeamTimeline(
            team_id=team_id,
            team=name,
            is_baseline=is_baseline,
            is_own=not is_baseline and team_id == access.scope.viewer.team_id,
        )
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


def _build_team(timeline: TeamTimeline) -> HistoryTeam:
    return HistoryTeam(
        team_id=timeline.team_id,
        team=timeline.team,
        own=timeline.is_own,
        baseline=timeline.is_baseline,
        steps=tuple(
            HistoryStep(at=step.at, rank=step.rank, **step.scores._asdict(), why=step.why)
            for step in timeline.steps
        ),
    )
