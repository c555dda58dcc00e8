"""The re-identification board: how many records each team identified (P1 Table 8)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Guess, Target, Team
from app.scoring.ranking import ranks, standing
from app.services import competitions, guesses, visibility
from app.services.accounts import Principal
from app.services.boards.spreadsheet import csv_text


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


@dataclass(frozen=True, slots=True)
class Attacks:
    """A team's best guess on every target it attacked, and when the first of all arrived."""

    best: dict[UUID, int]
    since: datetime


def board(session: Session, principal: Principal | None, slug: str) -> Board:
    """The board as this person may see it."""
    row = competitions.find(session, slug)
    competition = competitions.read_file(row.file)
    view = visibility.view(session, row, principal)
    visibility.require_board(competition, view.audience)
    attacks = attacks_of(guesses.counting(session, row, view.guesses_before))
    in_order = Team.competition_id == row.id, Team.disqualified_at.is_(None), ~Team.baseline
    teams = list(session.scalars(select(Team).where(*in_order).order_by(Team.created_at, Team.id)))
    targets = session.execute(select(Target.id, Target.rows).where(Target.competition_id == row.id))
    rows = ranked(teams, attacks, dict(iter(targets)), view.audience.team_id)
    return Board(row.slug, dict(competition.title), view.guesses_before is None, tuple(rows))


def attacks_of(counting: Iterable[Guess]) -> dict[UUID, Attacks]:
    """By team; ``counting`` is in the order of receipt."""
    found: dict[UUID, Attacks] = {}
    for guess in counting:
        mine = found.setdefault(guess.team_id, Attacks(defaultdict(int), guess.received_at))
        mine.best[guess.target_id] = max(mine.best[guess.target_id], guess.correct or 0)
    return found


def ranked(
    teams: list[Team], attacks: dict[UUID, Attacks], sizes: dict[UUID, int], viewer: UUID | None
) -> list[Row]:
    """Most records identified first; of equal ones the team that began earlier, those without last."""
    teams = sorted(teams, key=lambda team: (team.id not in attacks, began(attacks.get(team.id))))
    scores = [loss(attacks.get(team.id)) for team in teams]
    places = ranks(scores)
    return [
        board_row(teams[i], attacks.get(teams[i].id), sizes, rank=places[i], own=viewer == teams[i].id)
        for i in standing(scores)
    ]


def began(attacks: Attacks | None) -> float:
    return attacks.since.timestamp() if attacks else 0.0


def loss(attacks: Attacks | None) -> float | None:
    """Ranks put the lowest first."""
    return None if attacks is None else -float(sum(attacks.best.values()))


def board_row(
    team: Team, attacks: Attacks | None, sizes: dict[UUID, int], *, rank: int | None, own: bool
) -> Row:
    if attacks is None:
        return Row(rank, team.name, own, None, None, None, None)
    identified, tried = sum(attacks.best.values()), sum(sizes[target] for target in attacks.best)
    return Row(rank, team.name, own, identified, tried, identified / tried, len(attacks.best))


def as_csv(board: Board) -> str:
    head = ["rank", "team", "identified", "tried", "rate", "targets"]
    return csv_text(
        head,
        [[row.rank, row.team, row.identified, row.tried, row.rate, row.targets] for row in board.rows],
    )
