"""Attack matrix: the best result of each attacker on each target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.formulas.ranks import sort_for_board
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from anoncup.tracks.parts import AnyAttacker
from app.services.boards import best_guesses, load_facts, spreadsheet, verdicts
from app.services.boards.best_guesses import BestByQuestion
from app.services.boards.facts import BoardTarget
from app.services.boards.verdicts import VerdictNumbers
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardAccess, BoardScope


@dataclass(frozen=True, slots=True)
class SubmissionAttack:
    """Best guess of a team on a target of ``rows`` individuals."""

    team: str
    cell: Cell
    rows: int


def build_matrix(session: Session, access: BoardAccess, *, owner_team_id: UUID | None = None) -> Matrix:
    """Build the matrix as this viewer may see it.

    Built-in attackers are included only where exact values are shown. ``owner_team_id`` limits the columns to
    the targets of one team; there are none while the teams of the targets are hidden.
    """
    contest, scope = access.contest, access.scope
    targets = _load_targets(session, access)
    if owner_team_id is not None:
        targets = [
            target for target in targets if target.team_id == owner_team_id and _is_team_shown(target, scope)
        ]
    rows = _list_team_rows(session, access, targets)
    if scope.digits is None:
        rows += _list_built_in_rows(session, contest, targets)
    return Matrix(
        competition=contest.address,
        title=dict(contest.rules.title),
        hidden=scope.guesses_before is None,
        counted=contest.track.asks_identity(contest.rules),
        questions=_list_questions(contest),
        targets=tuple(_build_column(target, scope) for target in targets),
        rows=tuple(rows),
    )


def list_attacks(session: Session, access: BoardAccess, submission_id: UUID) -> list[SubmissionAttack]:
    """Return the attacks on a submission, highest rate first, ties by team name.

    The list is empty if the submission is not a target or while guesses are hidden.
    """
    targets = [target for target in _load_targets(session, access) if target.submission_id == submission_id]
    attacks = [
        SubmissionAttack(row.attacker, cell, target.individual_count)
        for row in _list_team_rows(session, access, targets)
        for target, cell in zip(targets, row.cells, strict=True)
        if cell is not None
    ]
    return [attacks[index] for index in sort_for_board([-attack.cell.rate for attack in attacks])]


def _load_targets(session: Session, access: BoardAccess) -> list[BoardTarget]:
    """Return the targets that count, sorted by name; none on a board before their publication."""
    return load_facts.load_targets(session, access.contest.round) if access.scope.finals_only else []


def _list_questions(contest: Contest) -> tuple[str, ...]:
    return tuple(contest.track.select_questions(contest.rules))


def _build_column(target: BoardTarget, scope: BoardScope) -> MatrixTarget:
    team = target.team if _is_team_shown(target, scope) else None
    return MatrixTarget(
        target=target.name, rows=target.individual_count, own=_is_own(target, scope), team=team
    )


def _is_team_shown(target: BoardTarget, scope: BoardScope) -> bool:
    return _is_own(target, scope) or scope.owners_known


def _is_own(target: BoardTarget, scope: BoardScope) -> bool:
    return target.team_id == scope.viewer.team_id


def _list_team_rows(session: Session, access: BoardAccess, targets: Sequence[BoardTarget]) -> list[MatrixRow]:
    """Return one row for each team with a visible guess, sorted by name."""
    rules, viewer = access.contest.rules, access.scope.viewer
    best_by_team = best_guesses.load_best(session, rules, targets, access.scope)
    build_cell = _count_cell if TRACKS[rules.track].asks_identity(rules) else partial(_combine_cell, rules)
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == viewer.team_id,
            cells=tuple(
                build_cell(target, best_by_question)
                if (best_by_question := best_by_team[team_id].get(target.id))
                else None
                for target in targets
            ),
        )
        for team_id, name in best_guesses.list_teams_by_name(session, best_by_team)
    ]


def _count_cell(target: BoardTarget, best_by_question: BestByQuestion) -> Cell:
    """Return the number of individuals of a target that a team identified."""
    (best,) = best_by_question.values()
    return Cell(correct=best.correct, rate=best.correct / target.individual_count, trials=best.trials)


def _combine_cell(rules: Rules, _: BoardTarget, best_by_question: BestByQuestion) -> Cell:
    """Return the risk that a team found in a target.

    If there are several questions, an unanswered one counts as 0, as on the re-identification board.
    """
    track = TRACKS[rules.track]
    questions = track.select_questions(rules)
    risks = {name: best.risk for name, best in best_by_question.items()}
    return Cell(
        correct=None,
        rate=track.combine_risks(risks, rules),
        trials=sum(best.trials for best in best_by_question.values()),
        by_question={name: risks.get(name, 0.0) for name in questions} if len(questions) > 1 else None,
    )


def _list_built_in_rows(
    session: Session, contest: Contest, targets: Sequence[BoardTarget]
) -> list[MatrixRow]:
    numbers = verdicts.drop_older_versions(
        verdicts.load_numbers(session, [target.evaluation_id for target in targets])
    )
    questions = _list_questions(contest)
    return [
        MatrixRow(
            attacker=attacker.name,
            built_in=True,
            own=False,
            cells=tuple(
                build_built_in_cell(attacker, numbers.get(target.evaluation_id), questions)
                for target in targets
            ),
        )
        for attacker in contest.track.attackers.values()
    ]


def build_built_in_cell(
    attacker: AnyAttacker, numbers: VerdictNumbers | None, questions: Sequence[str]
) -> Cell | None:
    """Return the risk that enters E, by question if several are asked.

    None if there are no numbers of the attacker or it answers none of the questions.
    """
    answered = [name for name in attacker.questions if name in questions]
    if numbers is None or attacker.name not in numbers.attackers or not answered:
        return None
    risk, correct = numbers.attackers[attacker.name], numbers.correct.get(attacker.name)
    if len(questions) == 1:
        return Cell(correct=correct, rate=risk, trials=1)
    risks = numbers.risks.get(attacker.name) or dict.fromkeys(answered, risk)
    return Cell(correct=correct, rate=risk, trials=1, by_question=dict(risks))


def sort_by_strength(matrix: Matrix, question: str | None = None) -> Matrix:
    """Sort attackers and targets by the sum of their rates, highest first; ties keep their order.

    The sum is used, not the mean: an attacker of a single weak target is not the strongest. ``question``
    limits the rates to the answers to that question.
    """
    rates_by_row = [[find_rate(cell, question) or 0.0 for cell in row.cells] for row in matrix.rows]
    column_order = _order_by_sum(
        [row_rates[index] for row_rates in rates_by_row] for index in range(len(matrix.targets))
    )
    sorted_rows = [matrix.rows[index] for index in _order_by_sum(rates_by_row)]
    return matrix.model_copy(
        update={
            "targets": tuple(matrix.targets[index] for index in column_order),
            "rows": tuple(
                row.model_copy(update={"cells": tuple(row.cells[index] for index in column_order)})
                for row in sorted_rows
            ),
        }
    )


def _order_by_sum(rates_by_line: Iterable[Sequence[float]]) -> list[int]:
    """Return the indices of the lines, sorted by descending sum; ties keep their order."""
    return sort_for_board([-fsum(line) for line in rates_by_line])


def find_rate(cell: Cell | None, question: str | None) -> float | None:
    """Return the rate of a cell, overall or for one question; None if there is no answer."""
    if cell is None:
        return None
    return cell.rate if question is None else (cell.by_question or {}).get(question)


def render_csv(matrix: Matrix) -> str:
    """Return the rates as CSV.

    Each target has a column, followed by one for each question if several are asked.
    """
    questions = matrix.distinct_questions
    header = [
        name
        for target in matrix.targets
        for name in (target.label, *(f"{target.label} {question}" for question in questions))
    ]
    rows = (
        [
            row.attacker,
            str(row.built_in).lower(),
            *(rate for cell in row.cells for rate in _list_rates(cell, questions)),
        ]
        for row in matrix.rows
    )
    return spreadsheet.render_csv(["attacker", "built_in", *header], rows)


def _list_rates(cell: Cell | None, questions: Sequence[str]) -> list[float | None]:
    if cell is None:
        return [None] * (1 + len(questions))
    return [cell.rate, *((cell.by_question or {}).get(name) for name in questions)]
