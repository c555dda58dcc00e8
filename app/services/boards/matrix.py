"""The matrix of attackers and targets: the best trial of each attacker on each target."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from anoncup.tracks.parts import Attacker
from app.db.models import Competition, Team
from app.services.accounts import names
from app.services.boards import best_guesses, effective_evaluations, verdicts
from app.services.boards.best_guesses import Attacked, Trials
from app.services.boards.spreadsheet import csv_text
from app.services.boards.verdicts import Numbers
from app.services.boards.version_filter import comparable
from app.services.contests.visibility import Sight, View

Cells = Mapping[UUID, Mapping[UUID, Cell]]
"""What each team found, by target."""
DECIMALS = 9
"""Sums that differ by less are equal: those of the same shares may differ by rounding."""


def board(session: Session, sight: Sight, *, of_team: UUID | None = None) -> Matrix:
    """Return the matrix as this audience may see it; built-in attackers only where exact values are shown.

    ``of_team``: only the targets of this team, none while their teams are hidden.
    """
    contest, view = sight.contest, sight.view
    rules = effective_evaluations.rules(session, contest, view.as_of)
    columns = best_guesses.attacked(session, contest.row, view) if view.finals_only else []
    if of_team is not None:
        columns = [one for one in columns if one.finished.team_id == of_team and shows_team(one, view)]
    rows = teams_rows(session, contest.row, view, rules, columns)
    if view.digits is None:
        found = verdicts.numbers_of(session, [one.finished.ending for one in columns])
        numbers = comparable(found, rules.scored_by)
        asked = tuple(contest.track.asked(rules))
        rows += [
            built_in_row(each, [numbers.get(one.finished.evaluation_id) for one in columns], asked)
            for each in contest.track.attackers.values()
        ]
    return Matrix(
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=view.guesses_before is None,
        counted=contest.track.counts(rules),
        questions=tuple(contest.track.asked(rules)),
        targets=tuple(column(one, view) for one in columns),
        rows=tuple(rows),
    )


def column(target: Attacked, view: View) -> MatrixTarget:
    team = target.finished.team if shows_team(target, view) else None
    return MatrixTarget(target=target.name, rows=target.rows, own=is_own(target, view), team=team)


def shows_team(target: Attacked, view: View) -> bool:
    return is_own(target, view) or view.owners_known


def is_own(target: Attacked, view: View) -> bool:
    return target.finished.team_id == view.audience.team_id


def teams_rows(
    session: Session, row: Competition, view: View, rules: Rules, columns: Sequence[Attacked]
) -> list[MatrixRow]:
    """The teams with a visible guess, by name."""
    cells = counted if TRACKS[rules.track].counts(rules) else beyond_chance
    found = cells(session, row, view, rules, columns)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(found)))
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == view.audience.team_id,
            cells=tuple(found[team_id].get(target.id) for target in columns),
        )
        for team_id, name in sorted(teams, key=lambda team: (names.folded(team.name), team.name))
    ]


def counted(
    session: Session, row: Competition, view: View, rules: Rules, columns: Sequence[Attacked]
) -> Cells:
    """Individuals."""
    rows = {target.id: target.rows for target in columns}
    found: dict[UUID, dict[UUID, Cell]] = {}
    for team_id, target_id, _, best in best_guesses.bests(session, row, view, rules, columns):
        cell = Cell(correct=best.correct, rate=best.correct / rows[target_id], trials=best.trials)
        found.setdefault(team_id, {})[target_id] = cell
    return found


def beyond_chance(
    session: Session, row: Competition, view: View, rules: Rules, columns: Sequence[Attacked]
) -> Cells:
    """With each question if there are several."""
    value, several = best_guesses.together(rules), len(TRACKS[rules.track].asked(rules)) > 1

    def cell(tried: Trials) -> Cell:
        return Cell(
            correct=None,
            rate=value(best_guesses.alone(tried)),
            trials=sum(best.trials for best in tried.values()),
            by_question={name: best.risk for name, best in tried.items()} if several else None,
        )

    found = best_guesses.by_team_and_target(session, row, view, rules, columns)
    return {
        team_id: {target_id: cell(tried) for target_id, tried in on.items()} for team_id, on in found.items()
    }


def built_in_row(attacker: Attacker, columns: Sequence[Numbers | None], asked: Sequence[str]) -> MatrixRow:
    cells = tuple(built_in_cell(attacker, numbers, asked) for numbers in columns)
    return MatrixRow(attacker=attacker.name, built_in=True, own=False, cells=cells)


def built_in_cell(attacker: Attacker, numbers: Numbers | None, asked: Sequence[str]) -> Cell | None:
    """What E takes of it, with each question that it answers if several are asked; None where none is."""
    answered = [name for name in attacker.questions if name in asked]
    if numbers is None or attacker.name not in numbers.attackers or not answered:
        return None
    risk, correct = numbers.attackers[attacker.name], numbers.correct.get(attacker.name)
    if len(asked) == 1:
        return Cell(correct=correct, rate=risk, trials=1)
    risks = numbers.risks.get(attacker.name) or dict.fromkeys(answered, risk)
    return Cell(correct=correct, rate=risk, trials=1, by_question=dict(risks))


def by_strength(matrix: Matrix, question: str | None = None) -> Matrix:
    """Attackers and targets in the order of what was found, added up, most first; equal ones as they stand.

    Added up, not its mean: who attacked one weak target alone is not the strongest. ``question``: by the
    answers to this one.
    """
    found = [[found_in(cell, question) or 0.0 for cell in row.cells] for row in matrix.rows]
    columns = most_first([line[place] for line in found] for place in range(len(matrix.targets)))
    rows = [matrix.rows[place] for place in most_first(found)]
    return matrix.model_copy(
        update={
            "targets": tuple(matrix.targets[place] for place in columns),
            "rows": tuple(
                row.model_copy(update={"cells": tuple(row.cells[place] for place in columns)}) for row in rows
            ),
        }
    )


def most_first(lines: Iterable[Sequence[float]]) -> list[int]:
    """The places of lines by their sums."""
    losses = [-round(fsum(line), DECIMALS) for line in lines]
    return sorted(range(len(losses)), key=losses.__getitem__)


def found_in(cell: Cell | None, question: str | None) -> float | None:
    """The rate of a cell, or what it holds of one question; None where that was not answered."""
    if cell is None:
        return None
    return cell.rate if question is None else (cell.by_question or {}).get(question)


def as_csv(matrix: Matrix) -> str:
    """Rates; a column per target and, where several questions are asked, one for each of these beside it."""
    asked = matrix.several
    head = [
        name for one in matrix.targets for name in (one.label, *(f"{one.label} {each}" for each in asked))
    ]
    rows = (
        [
            row.attacker,
            str(row.built_in).lower(),
            *(rate for cell in row.cells for rate in rates(cell, asked)),
        ]
        for row in matrix.rows
    )
    return csv_text(["attacker", "built_in", *head], rows)


def rates(cell: Cell | None, asked: Sequence[str]) -> list[float | None]:
    if cell is None:
        return [None] * (1 + len(asked))
    return [cell.rate, *((cell.by_question or {}).get(name) for name in asked)]
