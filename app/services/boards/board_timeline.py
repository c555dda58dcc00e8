"""Timeline of the anonymization board: each team's best submission over time.

For each moment, the timeline shows only what the board then showed to the same viewer
(``visibility.compute_past_scope``). A change hidden by a freeze or until midnight appears when the board
showed it; a change that was never shown does not appear. Moments are whole seconds, so changes within one
second are one step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.rules.settings import OVERALL_DIGITS
from anoncup.schemas import History, HistoryLeaders, HistoryPlace, HistoryRank, HistoryStep, HistoryTeam
from app.services.boards.board_events import list_events
from app.services.boards.entries import BoardEntry
from app.services.boards.timeline_steps import BoardReplay
from app.services.contests.visibility import BoardAccess, BoardScope, round_score

_LEADER_COUNT = 10
"""Number of leading teams that are listed whenever one of them changes."""
_StepReason = Literal["release", "scoring", "guesses"] | None
_VisibleScores = tuple[float, float, float] | None
"""``overall``, U and E as the board shows them for a team; None while no submission of the team counts."""


def render_json(session: Session, access: BoardAccess) -> str:
    """Return the steps of all teams, the leaders and the viewer's own ranks over time, as JSON."""
    history, ranks = build_history(session, access, access.scope.viewer.team_id)
    return history.model_copy(update={"own_ranks": tuple(ranks)}).model_dump_json()


def build_history(
    session: Session, access: BoardAccess, own_team_id: UUID | None
) -> tuple[History, list[HistoryRank]]:
    """Return the steps of all teams with the leaders, and the rank over time of ``own_team_id``.

    A rank can change because of the submissions of other teams.
    """
    contest, scope = access.contest, access.scope
    timelines: dict[UUID, TeamTimeline] = {}
    leaders_by_moment: list[tuple[datetime, list[tuple[UUID, int]]]] = []
    ranks: list[HistoryRank] = []
    for moment, replay, changed_teams in _iter_changes(session, access):
        for team_id in sorted(changed_teams):
            _add_step(timelines, team_id, moment, replay, scope)
        current_leaders = replay.list_leaders(_LEADER_COUNT)
        if current_leaders != (leaders_by_moment[-1][1] if leaders_by_moment else []):
            leaders_by_moment.append((moment, current_leaders))
        if own_team_id is not None and replay.find_rank(own_team_id) != (ranks[-1].rank if ranks else None):
            ranks.append(
                HistoryRank(at=moment, rank=replay.find_rank(own_team_id), ranked=replay.ranked_count)
            )
    history = History(
        competition=contest.slug,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        digits=scope.digits,
        teams=tuple(timeline.build_team_history(scope) for timeline in timelines.values()),
        leaders=_build_leaders(leaders_by_moment, list(timelines)),
    )
    return history, ranks


@dataclass
class TeamTimeline:
    """A team's steps so far. ``entry`` is its present or last best entry."""

    entry: BoardEntry
    last_scores: _VisibleScores
    steps: list[HistoryStep]

    def build_team_history(self, scope: BoardScope) -> HistoryTeam:
        evaluation = self.entry.evaluation
        own = scope.viewer.team_id == evaluation.team_id
        steps = tuple(self.steps)
        return HistoryTeam(
            team_id=evaluation.team_id,
            team=evaluation.team,
            own=own,
            baseline=evaluation.is_baseline,
            steps=steps,
        )


def _add_step(
    timelines: dict[UUID, TeamTimeline],
    team_id: UUID,
    moment: datetime,
    replay: BoardReplay,
    scope: BoardScope,
) -> None:
    """Add a step if the scores that the board shows for the team have changed."""
    entry = replay.find_best(team_id)
    scores = _mask_scores(entry, scope)
    if entry is not None and scores is not None:
        timelines.setdefault(team_id, TeamTimeline(entry, None, []))
    timeline = timelines.get(team_id)
    if timeline is None:
        return
    if scores != timeline.last_scores:
        is_exact = scope.digits is None or scope.viewer.team_id == team_id
        reason = _find_reason(timeline, entry) if is_exact else None
        timeline.last_scores = scores
        timeline.steps.append(_build_step(moment, scores, replay.find_rank(team_id), reason))
    timeline.entry = entry or timeline.entry


def _find_reason(timeline: TeamTimeline, current: BoardEntry | None) -> _StepReason:
    """Return why the shown scores changed; None if the team has no score any more."""
    if current is None or current.overall is None:
        return None
    if (
        timeline.last_scores is None
        or current.evaluation.submission_id != timeline.entry.evaluation.submission_id
    ):
        return "release"
    return "guesses" if current.numbers == timeline.entry.numbers else "scoring"


def _build_leaders(
    leaders_by_moment: list[tuple[datetime, list[tuple[UUID, int]]]], team_ids: list[UUID]
) -> tuple[HistoryLeaders, ...]:
    team_indexes = {team_id: index for index, team_id in enumerate(team_ids)}
    return tuple(
        HistoryLeaders(
            at=moment,
            first=tuple(
                HistoryPlace(team=team_indexes[team_id], rank=rank) for team_id, rank in current_leaders
            ),
        )
        for moment, current_leaders in leaders_by_moment
    )


def _iter_changes(session: Session, access: BoardAccess) -> Iterator[tuple[datetime, BoardReplay, set[UUID]]]:
    """Yield each second at which the board changed, the board, and the teams whose best entry changed."""
    replay = BoardReplay.create(session, access)
    for moment, events in groupby(list_events(session, access), key=lambda event: event.shown_at):
        if changed_teams := replay.apply(list(events)):
            yield moment, replay, changed_teams


def _mask_scores(entry: BoardEntry | None, scope: BoardScope) -> _VisibleScores:
    if entry is None or entry.overall is None or entry.utility is None or entry.security is None:
        return None
    if scope.viewer.team_id == entry.evaluation.team_id:
        return entry.overall, entry.utility, entry.security
    digits = None if scope.digits is None else OVERALL_DIGITS
    return round_score(entry.overall, digits), *scope.round_losses(entry.utility, entry.security)


def _build_step(
    moment: datetime, scores: _VisibleScores, rank: int | None, reason: _StepReason
) -> HistoryStep:
    overall, utility, security = scores or (None, None, None)
    return HistoryStep(at=moment, rank=rank, overall=overall, utility=utility, security=security, why=reason)
