"""The matrix of attackers and targets: the best trial of each attacker on each target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Competition as CompetitionRow
from app.db.models import Guess, Target, Team
from app.scoring.tracks import TRACKS
from app.services import competitions, guesses, targets, visibility
from app.services.accounts import Principal
from app.services.boards.spreadsheet import csv_text
from app.services.visibility import View


@dataclass(frozen=True, slots=True)
class Column:
    """A target; ``team``: whose it is, once that is known, and always on one's own."""

    target: str
    rows: int
    own: bool
    team: str | None


@dataclass(frozen=True, slots=True)
class Cell:
    """The best of an attacker's trials on one target; ``correct`` may be an expectation (built in)."""

    correct: float
    rate: float
    trials: int


@dataclass(frozen=True, slots=True)
class Row:
    """An attacker: a team, or one of those built in; a cell per target, None where it did not try."""

    attacker: str
    built_in: bool
    own: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """``hidden``: the competition does not show the scores of guesses yet."""

    competition: str
    title: dict[str, str]
    hidden: bool
    targets: tuple[Column, ...]
    rows: tuple[Row, ...]


def board(session: Session, principal: Principal | None, slug: str) -> Matrix:
    """The matrix as this person may see it: built-in attackers once it is known whose target is whose."""
    row = competitions.find(session, slug)
    competition = competitions.read_file(row.file)
    view = visibility.view(session, row, principal)
    visibility.require_board(competition, view.audience)
    columns = counting_targets(session, row, view)
    rows = teams_rows(session, row, view, columns)
    if view.owners_known:
        rows += [built_in_row(name, columns) for name in TRACKS[competition.track].attackers]
    return Matrix(
        row.slug,
        dict(competition.title),
        view.guesses_before is None,
        tuple(column(target, view) for target in columns),
        tuple(rows),
    )


def counting_targets(session: Session, row: CompetitionRow, view: View) -> Sequence[Target]:
    if not view.finals_only:
        return []
    query = targets.joined().where(Target.competition_id == row.id, targets.counts())
    return session.scalars(query.order_by(Target.name)).all()


def column(target: Target, view: View) -> Column:
    own = target.submission.team_id == view.audience.team_id
    team = target.submission.team.name if own or view.owners_known else None
    return Column(target.name, target.rows, own, team)


def teams_rows(session: Session, row: CompetitionRow, view: View, columns: Sequence[Target]) -> list[Row]:
    """The teams with a visible guess, by name."""
    by_team: dict[UUID, dict[UUID, list[Guess]]] = {}
    for guess in guesses.counting(session, row, view.guesses_before):
        by_team.setdefault(guess.team_id, {}).setdefault(guess.target_id, []).append(guess)
    found = session.scalars(select(Team).where(Team.id.in_(by_team)))
    teams = sorted(found, key=lambda team: team.name_key)
    return [
        Row(
            attacker=team.name,
            built_in=False,
            own=team.id == view.audience.team_id,
            cells=tuple(best(by_team[team.id].get(target.id), target) for target in columns),
        )
        for team in teams
    ]


def best(tried: list[Guess] | None, target: Target) -> Cell | None:
    if not tried:
        return None
    correct = max(guess.correct or 0 for guess in tried)
    return Cell(correct, correct / target.rows, len(tried))


def built_in_row(name: str, columns: Sequence[Target]) -> Row:
    return Row(name, True, False, tuple(built_in_cell(name, target) for target in columns))


def built_in_cell(name: str, target: Target) -> Cell | None:
    verdict: dict[str, Any] = target.submission.evaluation.verdict or {}
    found = verdict.get("attackers", {}).get(name)
    return Cell(found["correct"], found["rate"], 1) if found else None


def as_csv(matrix: Matrix) -> str:
    """Rates; a column per target."""
    return csv_text(
        ["attacker", "built_in", *(column.target for column in matrix.targets)],
        [
            [row.attacker, str(row.built_in).lower(), *(cell.rate if cell else None for cell in row.cells)]
            for row in matrix.rows
        ],
    )
