"""The matrix of attackers and targets: the best trial of each attacker on each target."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import names
from app.db.models import Competition, Team
from app.services import competitions, visibility
from app.services.accounts import Principal
from app.services.boards import in_force, trials, verdicts
from app.services.boards.comparable import comparable
from app.services.boards.spreadsheet import csv_text
from app.services.boards.trials import Attacked, Trials
from app.services.boards.verdicts import Numbers
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
    contest = competitions.find(session, slug)
    view = visibility.view(session, contest, principal)
    visibility.require_board(contest.rules.publication, view.audience)
    columns = trials.attacked(session, contest.row, view) if view.finals_only else []
    rows = teams_rows(session, contest.row, view, columns)
    if view.digits is None:
        rules = in_force.rules(session, contest, view.as_of)
        found = verdicts.numbers_of(session, [one.finished.ending for one in columns])
        numbers = comparable(found, rules.scored_by)
        rows += [
            built_in_row(name, [numbers.get(one.finished.evaluation_id) for one in columns])
            for name in contest.track.attackers
        ]
    return Matrix(
        contest.slug,
        dict(contest.rules.title),
        view.guesses_before is None,
        tuple(column(one, view) for one in columns),
        tuple(rows),
    )


def column(target: Attacked, view: View) -> Column:
    own = target.finished.team_id == view.audience.team_id
    team = target.finished.team if own or view.owners_known else None
    return Column(target.name, target.rows, own, team)


def teams_rows(session: Session, row: Competition, view: View, columns: Sequence[Attacked]) -> list[Row]:
    """The teams with a visible guess, by name."""
    found = trials.by_team_and_target(session, row, view, columns)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(found)))
    return [
        Row(
            attacker=name,
            built_in=False,
            own=team_id == view.audience.team_id,
            cells=tuple(cell(found[team_id].get(target.id), target) for target in columns),
        )
        for team_id, name in sorted(teams, key=lambda team: (names.folded(team.name), team.name))
    ]


def cell(tried: Trials | None, target: Attacked) -> Cell | None:
    return None if tried is None else Cell(tried.correct, tried.correct / target.rows, tried.trials)


def built_in_row(name: str, columns: Sequence[Numbers | None]) -> Row:
    return Row(name, True, False, tuple(built_in_cell(name, numbers) for numbers in columns))


def built_in_cell(name: str, numbers: Numbers | None) -> Cell | None:
    if numbers is None or name not in numbers.attackers:
        return None
    return Cell(numbers.correct[name], numbers.attackers[name], 1)


def as_csv(matrix: Matrix) -> str:
    """Rates; a column per target."""
    return csv_text(
        ["attacker", "built_in", *(column.target for column in matrix.targets)],
        [
            [row.attacker, str(row.built_in).lower(), *(cell.rate if cell else None for cell in row.cells)]
            for row in matrix.rows
        ],
    )
