"""The re-identification board: what each team found in the others' releases (P1 Table 8)."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.evaluation.ranking import ranks, standing
from anoncup.schemas import AttackersBoard, AttackersRow
from app.db.models import Team
from app.services.boards import best_guesses, effective_evaluations
from app.services.boards.best_guesses import Attacks
from app.services.boards.spreadsheet import board_csv
from app.services.contests.visibility import Sight

NUMBERS = ("identified", "tried", "rate", "targets", "score", "by_question")
DECIMALS = 9
"""Scores that differ by less are equal: sums of the same shares may differ by rounding."""


def board(session: Session, sight: Sight) -> AttackersBoard:
    """The board as it may be seen."""
    contest, view = sight.contest, sight.view
    rules = effective_evaluations.rules(session, contest, view.as_of)
    attacks = best_guesses.attacks_by_team(session, contest.row, view, rules)
    in_order = Team.competition_id == contest.id, Team.disqualified_at.is_(None), ~Team.baseline
    found = session.execute(select(Team.id, Team.name).where(*in_order).order_by(Team.created_at, Team.id))
    rows = ranked([(team_id, name) for team_id, name in found], attacks, view.audience.team_id)
    standing = {
        one.team: one.team_id for one in effective_evaluations.finished(session, contest.row, view.as_of)
    }
    return AttackersBoard(
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=view.guesses_before is None,
        counted=contest.track.counts(rules),
        questions=tuple(contest.track.asked(rules)),
        rows=tuple(row.model_copy(update={"team_id": standing.get(row.team)}) for row in rows),
    )


def ranked(
    teams: Sequence[tuple[UUID, str]], attacks: Mapping[UUID, Attacks], viewer: UUID | None
) -> list[AttackersRow]:
    """The largest score first; of equal ones the team that began earlier, those without last.

    ``teams``: identifier and name, in the order in which they were founded.
    """
    teams = sorted(teams, key=lambda team: began(attacks.get(team[0])))
    scores = [loss(attacks.get(team_id)) for team_id, _ in teams]
    places = ranks(scores)
    return [
        board_row(teams[i][1], attacks.get(teams[i][0]), rank=places[i], own=viewer == teams[i][0])
        for i in standing(scores)
    ]


def began(attacks: Attacks | None) -> tuple[bool, float]:
    return attacks is None, attacks.since.timestamp() if attacks else 0.0


def loss(attacks: Attacks | None) -> float | None:
    """Ranks put the lowest first."""
    return None if attacks is None else -round(attacks.compared, DECIMALS)


def board_row(team: str, attacks: Attacks | None, *, rank: int | None, own: bool) -> AttackersRow:
    numbers = {name: getattr(attacks, name) if attacks else None for name in NUMBERS}
    return AttackersRow(rank=rank, team=team, own=own, **numbers)


def as_csv(board: AttackersBoard) -> str:
    several = ["by_question"] if board.several else []
    return board_csv([*board.columns, *several], board.rows, {"by_question": board.several})
