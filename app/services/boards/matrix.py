"""The matrix of attackers and targets: the best trial of each attacker on each target."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import names
from app.db.models import Competition, Team
from app.services.boards import in_force, trials, verdicts
from app.services.boards.comparable import comparable
from app.services.boards.spreadsheet import board_csv
from app.services.boards.trials import Attacked, Trials
from app.services.boards.verdicts import Numbers
from app.services.contest.visibility import Sight, View
from app.wire import Cell, Matrix, MatrixRow, MatrixTarget


def board(session: Session, sight: Sight) -> Matrix:
    """The matrix as it may be seen: built-in attackers once it is known whose target is whose."""
    contest, view = sight.contest, sight.view
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
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=view.guesses_before is None,
        targets=tuple(column(one, view) for one in columns),
        rows=tuple(rows),
    )


def column(target: Attacked, view: View) -> MatrixTarget:
    own = target.finished.team_id == view.audience.team_id
    team = target.finished.team if own or view.owners_known else None
    return MatrixTarget(target=target.name, rows=target.rows, own=own, team=team)


def teams_rows(
    session: Session, row: Competition, view: View, columns: Sequence[Attacked]
) -> list[MatrixRow]:
    """The teams with a visible guess, by name."""
    found = trials.by_team_and_target(session, row, view, columns)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(found)))
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == view.audience.team_id,
            cells=tuple(cell(found[team_id].get(target.id), target) for target in columns),
        )
        for team_id, name in sorted(teams, key=lambda team: (names.folded(team.name), team.name))
    ]


def cell(tried: Trials | None, target: Attacked) -> Cell | None:
    if tried is None:
        return None
    return Cell(correct=tried.correct, rate=tried.correct / target.rows, trials=tried.trials)


def built_in_row(name: str, columns: Sequence[Numbers | None]) -> MatrixRow:
    cells = tuple(built_in_cell(name, numbers) for numbers in columns)
    return MatrixRow(attacker=name, built_in=True, own=False, cells=cells)


def built_in_cell(name: str, numbers: Numbers | None) -> Cell | None:
    if numbers is None or name not in numbers.attackers:
        return None
    return Cell(correct=numbers.correct[name], rate=numbers.attackers[name], trials=1)


def as_csv(matrix: Matrix) -> str:
    """Rates; a column per target."""
    return board_csv(MatrixRow, matrix.rows, {"cells": [column.target for column in matrix.targets]})
