"""The re-identification board: how many records each team identified (P1 Table 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Team
from app.scoring.ranking import ranks, standing
from app.services import competitions, visibility
from app.services.accounts import Principal
from app.services.boards import trials
from app.services.boards.spreadsheet import csv_text
from app.services.boards.trials import Attacks


@dataclass(frozen=True, slots=True)
class Row:
    """One team. ``identified``: its best visible guess on each target, summed; ``tried``: the rows of those
    targets; ``rate``: their quotient. A team of which no guess is visible has neither rank nor numbers."""

    rank: int | None
    team: str
    own: bool
    identified: int | None
    tried: int | None
    rate: float | None
    targets: int | None


@dataclass(frozen=True, slots=True)
class Board:
    """``hidden``: the competition does not show the scores of guesses yet."""

    competition: str
    title: dict[str, str]
    hidden: bool
    rows: tuple[Row, ...]


def board(session: Session, principal: Principal | None, slug: str) -> Board:
    """The board as this person may see it."""
    contest = competitions.find(session, slug)
    view = visibility.view(session, contest, principal)
    visibility.require_board(contest.rules.publication, view.audience)
    attacks = trials.attacks_by_team(session, contest.row, view)
    in_order = Team.competition_id == contest.id, Team.disqualified_at.is_(None), ~Team.baseline
    found = session.execute(select(Team.id, Team.name).where(*in_order).order_by(Team.created_at, Team.id))
    rows = ranked([(team_id, name) for team_id, name in found], attacks, view.audience.team_id)
    return Board(contest.slug, dict(contest.rules.title), view.guesses_before is None, tuple(rows))


def ranked(
    teams: Sequence[tuple[UUID, str]], attacks: Mapping[UUID, Attacks], viewer: UUID | None
) -> list[Row]:
    """Most records identified first; of equal ones the team that began earlier, those without last.

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
    return None if attacks is None else -float(attacks.identified)


def board_row(team: str, attacks: Attacks | None, *, rank: int | None, own: bool) -> Row:
    if attacks is None:
        return Row(rank, team, own, None, None, None, None)
    rate = attacks.identified / attacks.tried
    return Row(rank, team, own, attacks.identified, attacks.tried, rate, attacks.targets)


def as_csv(board: Board) -> str:
    head = ["rank", "team", "identified", "tried", "rate", "targets"]
    return csv_text(
        head,
        [[row.rank, row.team, row.identified, row.tried, row.rate, row.targets] for row in board.rows],
    )
