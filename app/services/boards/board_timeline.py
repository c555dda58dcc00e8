"""Timeline of the anonymization board: each team's best submission over time.

Of each moment, the timeline shows only what the board then showed to the same audience
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
_ShownScores = tuple[float, float, float] | None
"""Overall, U and E that a board shows of a team; None while the team has no submission that counts."""


def render_json(session: Session, sight: BoardAccess) -> str:
    """Return the steps of all teams, the leaders and the viewer's own ranks over time, as JSON."""
    history, ranks = build_history(session, sight, sight.scope.viewer.team_id)
    return history.model_copy(update={"own_ranks": tuple(ranks)}).model_dump_json()


def build_history(
    session: Session, sight: BoardAccess, own_team_id: UUID | None
) -> tuple[History, list[HistoryRank]]:
    """Return the steps of all teams with the leaders, and the rank over time of ``own_team_id``.

    A rank can change because of the submissions of other teams.
    """
    contest, view = sight.contest, sight.scope
    team_lines: dict[UUID, TeamLine] = {}
    leaders_by_moment: list[tuple[datetime, list[tuple[UUID, int]]]] = []
    ranks: list[HistoryRank] = []
    for moment, replay, changed_teams in _iter_changes(session, sight):
        for team_id in sorted(changed_teams):
            _add_step(team_lines, team_id, moment, replay, view)
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
        digits=view.digits,
        teams=tuple(team_line.build_team_history(view) for team_line in team_lines.values()),
        leaders=_build_leaders(leaders_by_moment, list(team_lines)),
    )
    return history, ranks


@dataclass
class TeamLine:
    """A team's steps so far. ``entry`` is its present or last best entry."""

    entry: BoardEntry
    last_scores: _ShownScores
    steps: list[HistoryStep]

    def build_team_history(self, view: BoardScope) -> HistoryTeam:
        evaluation = self.entry.evaluation
        own = view.viewer.team_id == evaluation.team_id
        steps = tuple(self.steps)
        return HistoryTeam(
            team_id=evaluation.team_id,
            team=evaluation.team,
            own=own,
            baseline=evaluation.is_baseline,
            steps=steps,
        )


def _add_step(
    team_lines: dict[UUID, TeamLine], team: UUID, moment: datetime, replay: BoardReplay, view: BoardScope
) -> None:
    """Add a step if the board now shows other scores of the team."""
    entry = replay.find_best(team)
    scores = _mask_scores(entry, view)
    if entry is not None and scores is not None:
        team_lines.setdefault(team, TeamLine(entry, None, []))
    team_line = team_lines.get(team)
    if team_line is None:
        return
    if scores != team_line.last_scores:
        is_exact = view.digits is None or view.viewer.team_id == team
        reason = _find_reason(team_line, entry) if is_exact else None
        team_line.last_scores = scores
        team_line.steps.append(_build_step(moment, scores, replay.find_rank(team), reason))
    team_line.entry = entry or team_line.entry


def _find_reason(team_line: TeamLine, current: BoardEntry | None) -> _StepReason:
    """Return why the shown scores changed; None if the team has no score any more."""
    if current is None or current.overall is None:
        return None
    if (
        team_line.last_scores is None
        or current.evaluation.submission_id != team_line.entry.evaluation.submission_id
    ):
        return "release"
    return "guesses" if current.numbers == team_line.entry.numbers else "scoring"


def _build_leaders(
    leaders_by_moment: list[tuple[datetime, list[tuple[UUID, int]]]], teams: list[UUID]
) -> tuple[HistoryLeaders, ...]:
    index_by_team = {team: index for index, team in enumerate(teams)}
    return tuple(
        HistoryLeaders(
            at=moment,
            first=tuple(HistoryPlace(team=index_by_team[team], rank=rank) for team, rank in current_leaders),
        )
        for moment, current_leaders in leaders_by_moment
    )


def _iter_changes(session: Session, sight: BoardAccess) -> Iterator[tuple[datetime, BoardReplay, set[UUID]]]:
    """Yield each second at which the board changed, the board, and the teams whose best entry changed."""
    replay = BoardReplay.create(session, sight)
    for moment, events in groupby(list_events(session, sight), key=lambda event: event.shown_at):
        if changed_teams := replay.apply(list(events)):
            yield moment, replay, changed_teams


def _mask_scores(entry: BoardEntry | None, view: BoardScope) -> _ShownScores:
    if entry is None or entry.overall is None or entry.utility is None or entry.security is None:
        return None
    if view.viewer.team_id == entry.evaluation.team_id:
        return entry.overall, entry.utility, entry.security
    digits = None if view.digits is None else OVERALL_DIGITS
    return round_score(entry.overall, digits), *view.round_losses(entry.utility, entry.security)


def _build_step(moment: datetime, scores: _ShownScores, rank: int | None, reason: _StepReason) -> HistoryStep:
    overall, utility, security = scores or (None, None, None)
    return HistoryStep(at=moment, rank=rank, overall=overall, utility=utility, security=security, why=reason)
