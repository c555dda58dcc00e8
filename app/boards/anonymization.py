"""Anonymization board: ranks the best release of each team by utility loss and re-identification risk."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.evaluation.ranking import find_pareto_front
from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.boards import entries, verdicts
from app.boards.load_facts import load_newest, qualified_conditions
from app.boards.models import Standing
from app.boards.release_board import ComputedStanding
from app.boards.verdicts import is_any
from app.competitions.visibility import BoardAccess, BoardScope, ReleaseScores
from app.core.db.models import Evaluation, Submission, Team
from app.core.spreadsheet import render_board_csv


class RankedStanding(NamedTuple):
    """A team's standing with its rank, which baselines and teams without a score do not have."""

    standing: Standing | ComputedStanding
    team: str
    is_baseline: bool
    received_at: datetime
    evaluation_id: UUID
    rank: int | None = None


def build_board(session: Session, access: BoardAccess) -> Board:
    """Build the board as this viewer may see it."""
    round_, scope, rules = access.round, access.scope, access.round.rules
    ranked = load_ranked(session, access)
    numbers = _load_shown_numbers(session, ranked, scope)
    rows = [build_row(team, rules, numbers=numbers.get(team.evaluation_id)) for team in ranked]
    return Board(
        competition=round_.address,
        title=dict(rules.title),
        frozen_from=rules.publication.frozen_from,
        finals=scope.finals_only,
        digits=scope.digits,
        measures=tuple(round_.track.measures),
        attackers=tuple(round_.track.attackers),
        rows=tuple(mask_rows(rows, scope)),
    )


def load_ranked(session: Session, access: BoardAccess) -> list[RankedStanding]:
    """Return the standings that the viewer sees, in the order of the board."""
    round_, scope = access.round, access.scope
    newest = load_newest(session, Standing, round_, scope.series, before=scope.before)
    return rank_standings(session, round_.rules, newest)


def rank_standings(
    session: Session, rules: Rules, newest: Sequence[Standing | ComputedStanding]
) -> list[RankedStanding]:
    """Rank the teams, best first; ties in order of receipt. Those without a rank and baselines follow."""
    query = (
        select(Submission.id, Team.name, Team.baseline, Submission.received_at, Evaluation.id)
        .join(Submission.team)
        .join(Submission.evaluation)
        .where(is_any(Submission.id, (standing.submission_id for standing in newest)))
        .where(*qualified_conditions())  # also while standings keep their last state
    )
    by_submission = {standing.submission_id: standing for standing in newest}
    teams = [
        RankedStanding(
            standing=by_submission[submission_id],
            team=name,
            is_baseline=is_baseline,
            received_at=received_at,
            evaluation_id=evaluation_id,
        )
        for submission_id, name, is_baseline, received_at, evaluation_id in session.execute(query)
    ]
    received = sorted(teams, key=lambda team: (team.received_at, team.standing.submission_id))
    losses = [entries.to_loss(rules, team.standing.score) for team in received]
    order = sort_for_board(losses)
    competing = [index for index in order if not received[index].is_baseline]
    ranks = compute_ranks([losses[index] for index in competing])
    return [
        *(received[index]._replace(rank=rank) for index, rank in zip(competing, ranks, strict=True)),
        *(received[index] for index in order if received[index].is_baseline),
    ]


def _load_shown_numbers(
    session: Session, teams: Collection[RankedStanding], scope: BoardScope
) -> Mapping[UUID, VerdictNumbers]:
    """Return the numbers of the releases that count, by evaluation, as far as this viewer may see them."""
    numbers = verdicts.load_numbers(
        session,
        [
            team.evaluation_id
            for team in teams
            if team.standing.overall is not None and scope.can_see_details(team.standing.team_id)
        ],
    )
    return verdicts.drop_older_versions(numbers)


def build_row(team: RankedStanding, rules: Rules, *, numbers: VerdictNumbers | None = None) -> BoardRow:
    """Return a row with exact values, as nobody's own."""
    standing = team.standing
    return BoardRow(
        rank=team.rank,
        team=team.team,
        team_id=standing.team_id,
        own=False,
        baseline=team.is_baseline,
        entries=1 if team.is_baseline else standing.entries,
        overall=standing.overall,
        utility=standing.utility,
        security=standing.security,
        rival_risk=standing.rival_risk,
        score=None if rules.ranking.is_by_overall else standing.score,
        parts=standing.parts,
        on_front=False,
        received_at=None if standing.overall is None else team.received_at.astimezone(UTC),
        measures=dict(numbers.measures) if numbers else {},
        attackers=dict(numbers.attackers) if numbers else {},
    )


def mask_rows(rows: Sequence[BoardRow], scope: BoardScope) -> list[BoardRow]:
    """Return the rows as this viewer may see them. The Pareto front compares scores as shown."""
    scores = [
        scope.mask_scores(ReleaseScores(row.overall, row.utility, row.security, row.score)) for row in rows
    ]
    front_flags = find_pareto_front([_get_losses(*pair) for pair in zip(rows, scores, strict=True)])
    return [
        _mask_row(row, row_scores, scope, is_on_front=is_on_front)
        for row, row_scores, is_on_front in zip(rows, scores, front_flags, strict=True)
    ]


def _get_losses(row: BoardRow, scores: ReleaseScores) -> tuple[float, float] | None:
    if row.baseline or scores.utility is None or scores.security is None:
        return None
    return scores.utility, scores.security


def _mask_row(row: BoardRow, scores: ReleaseScores, scope: BoardScope, *, is_on_front: bool) -> BoardRow:
    """Hide what may depend on another team's secret. All other fields are shown to everybody."""
    is_own = not row.baseline and row.team_id == scope.viewer.team_id
    visible: dict[str, Any] = {"own": is_own, "on_front": is_on_front}
    if not is_own and scope.digits is not None:
        visible |= scores._asdict() | {"rival_risk": None, "parts": None, "measures": {}, "attackers": {}}
    return row.model_copy(update=visible)


def render_csv(board: Board) -> bytes:
    columns = [name for name in BoardRow.columns() if name != "parts" or board.has_parts]
    return render_board_csv(columns, board.rows, {"measures": board.measures, "attackers": board.attackers})
