"""Timeline of the anonymization board: each team's best release over time, as this viewer may see it.

Moments are whole seconds, so changes within one second are one step.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from anoncup.formulas.ranks import TIE_TOLERANCE
from anoncup.rules.model import Rules
from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.boards import entries
from app.boards.models import Standing
from app.competitions.visibility import BoardAccess, BoardScope, ReleaseScores
from app.core import spreadsheet
from app.core.db.models import Team

_SECOND = timedelta(seconds=1)
_ROWS_AT_ONCE = 1000
_NO_SCORES = ReleaseScores(overall=None, utility=None, security=None, score=None)


@dataclass
class TeamTimeline:
    """A team's steps so far, with the scores that the last one shows."""

    team_id: UUID
    team: str
    baseline: bool
    own: bool
    scores: ReleaseScores = _NO_SCORES
    steps: list[HistoryStep] = field(default_factory=list)

    def add_step(self, at: datetime, scores: ReleaseScores, rank: int | None) -> None:
        """Add a step if the shown scores have changed."""
        if scores != self.scores:
            self.steps.append(HistoryStep(at=at, rank=rank, **scores._asdict()))
        self.scores = scores


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
    """Return the timelines of the teams that ever had scores, in order of their first standing."""
    round_, scope = access.round, access.scope
    timelines, losses = _load_teams(session, access), RankedLosses()
    rules = round_.rules
    query = (
        select(Standing.team_id, Standing.at, *(getattr(Standing, name) for name in ReleaseScores._fields))
        .where(Standing.round_id == round_.id, Standing.series == scope.series)
        .where(Standing.at < scope.before)
        .order_by(Standing.at, Standing.team_id)
    )
    rows = session.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE})
    on_board: dict[UUID, TeamTimeline] = {}
    for second, changes in groupby(rows, key=lambda row: row.at.replace(microsecond=0)):
        newest = {change.team_id: change for change in changes}
        on_board |= {team_id: timelines[team_id] for team_id in newest}
        _add_steps(second + _SECOND, newest, timelines, losses, scope=scope, rules=rules)
    return History(
        competition=round_.address,
        title=dict(rules.title),
        frozen_from=rules.publication.frozen_from,
        digits=scope.digits,
        teams=tuple(
            HistoryTeam.model_validate(timeline, from_attributes=True)
            for timeline in on_board.values()
            if timeline.steps
        ),
    )


def _add_steps(
    at: datetime,
    changes: Mapping[UUID, Row[Any]],
    timelines: Mapping[UUID, TeamTimeline],
    losses: RankedLosses,
    *,
    scope: BoardScope,
    rules: Rules,
) -> None:
    """Take the changes of one moment into account. Ranks compare the teams after all of them."""
    for team_id, change in changes.items():
        if not timelines[team_id].baseline:
            losses.set_loss(team_id, entries.to_loss(rules, change.score))
    for team_id, change in changes.items():
        timeline = timelines[team_id]
        scores = ReleaseScores(
            overall=change.overall,
            utility=change.utility,
            security=change.security,
            score=None if rules.ranking.is_by_overall else change.score,
        )
        shown = scores if timeline.own else scope.mask_scores(scores)
        timeline.add_step(at, shown, losses.find_rank(team_id))


def _load_teams(session: Session, access: BoardAccess) -> dict[UUID, TeamTimeline]:
    query = select(Team.id, Team.name, Team.baseline).where(
        Team.competition_id == access.round.competition_id
    )
    own_id = access.scope.viewer.team_id
    return {
        team_id: TeamTimeline(team_id, name, baseline, own=not baseline and team_id == own_id)
        for team_id, name, baseline in session.execute(query)
    }


def render_csv(history: History) -> bytes:
    """Return a line for each step of each team."""
    rows = (
        (step.at, team.team, step.rank, *(getattr(step, name) for name in ReleaseScores._fields))
        for team in history.teams
        for step in team.steps
    )
    return spreadsheet.render_csv(["at", "team", "rank", *ReleaseScores._fields], rows)
