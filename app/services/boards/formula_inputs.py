"""The rows of the database that ranking formulas use besides verdicts, as of the moment of a board."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import fsum
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.db.models import Adjustment, Round, Team
from app.services.boards import best_guesses
from app.services.boards.formula_values import FormulaInputs, RisksByQuestion
from app.services.boards.source import BoardSource


def load_inputs(session: Session, board_source: BoardSource) -> FormulaInputs:
    risks = _load_risks(session, board_source)
    return load_inputs_at(session, board_source.round_id, board_source.scope.as_of, risks)


def load_inputs_at(
    session: Session, round_id: UUID, moment: datetime, risks: Mapping[UUID, RisksByQuestion]
) -> FormulaInputs:
    """Return teams and adjustments as of a moment, together with the risks by submission."""
    points_by_team: dict[UUID, list[float]] = {}
    for adjustment in list_adjustments(session, round_id):
        withdrawn_at = adjustment.withdrawn_at
        if adjustment.created_at < moment and (withdrawn_at is None or moment <= withdrawn_at):
            points_by_team.setdefault(adjustment.team_id, []).append(adjustment.points)
    return FormulaInputs(
        team_ids=[team.id for team in list_competing_teams(session, round_id) if team.created_at < moment],
        risks=risks,
        adjustments={team_id: fsum(points) for team_id, points in points_by_team.items()},
    )


class CompetingTeam(NamedTuple):
    """What the clock may read of a team, too."""

    id: UUID
    name: str
    created_at: datetime


def list_competing_teams(session: Session, round_id: UUID) -> list[CompetingTeam]:
    """Return the teams that are neither disqualified nor baselines, in the order of their creation.

    Teams that joined after the round had closed do not compete in it.
    """
    columns = Team.id, Team.name, Team.created_at
    query = select(*columns).join(Round, Round.competition_id == Team.competition_id)
    query = query.where(Round.id == round_id, Team.disqualified_at.is_(None), ~Team.baseline)
    query = query.where(or_(Round.closed_at.is_(None), Team.created_at <= Round.closed_at))
    return [CompetingTeam(*row) for row in session.execute(query.order_by(Team.created_at, Team.id))]


def list_adjustments(session: Session, round_id: UUID) -> Sequence[Adjustment]:
    """Return all penalties and bonuses of a round, withdrawn ones included."""
    query = select(Adjustment).where(Adjustment.round_id == round_id)
    return session.scalars(query.order_by(Adjustment.created_at, Adjustment.id)).all()


def _load_risks(session: Session, board_source: BoardSource) -> dict[UUID, dict[str, dict[UUID, float]]]:
    """Return the largest risk that the visible guesses of each team found, by submission and question."""
    submission_ids = {target.id: target.evaluation.submission_id for target in board_source.targets}
    risks: dict[UUID, dict[str, dict[UUID, float]]] = {}
    for team_id, best_by_target in best_guesses.group_by_team_and_target(session, board_source).items():
        for target_id, best_by_question in best_by_target.items():
            for question, best in best_by_question.items():
                by_question = risks.setdefault(submission_ids[target_id], {})
                by_question.setdefault(question, {})[team_id] = best.risk
    return risks
