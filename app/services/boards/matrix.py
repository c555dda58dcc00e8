"""Attack matrix: the best result of each attacker on each target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.formulas.ranks import sort_for_board
from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from anoncup.tracks.parts import AnyAttacker
from app.services.boards import best_guesses, source, spreadsheet
from app.services.boards.best_guesses import BestByQuestion, RiskCombiner
from app.services.boards.source import BoardRows, BoardSource, BoardTarget
from app.services.boards.verdicts import VerdictNumbers
from app.services.contests.visibility import BoardAccess, BoardScope


@dataclass(frozen=True, slots=True)
class SubmissionAttack:
    """Best guess of a team on a target of ``rows`` individuals."""

    team: str
    cell: Cell
    rows: int


def build_matrix(
    session: Session,
    access: BoardAccess,
    board_rows: BoardRows | None = None,
    *,
    owner_team_id: UUID | None = None,
) -> Matrix:
    """Build the matrix as this viewer may see it, from ``board_rows`` if they have been read already.

    Built-in attackers are included only where exact values are shown. ``owner_team_id`` limits the columns to
    the targets of one team; there are none while the teams of the targets are hidden.
    """
    contest, scope = access.contest, access.scope
    board_source = source.read_source(session, access, board_rows, targets_only=True)
    if owner_team_id is not None:
        own_targets = [
            target
            for target in board_source.targets
            if target.evaluation.team_id == owner_team_id and _is_team_shown(target, scope)
        ]
        board_source = replace(board_source, targets=own_targets)
    rows = _list_team_rows(session, board_source)
    if scope.digits is None:
        rows += _list_built_in_rows(session, board_source)
    return Matrix(
        competition=contest.address,
        title=dict(contest.rules.title),
        hidden=scope.guesses_before is None,
        counted=board_source.counts_individuals,
        questions=board_source.questions,
        targets=tuple(_build_column(target, scope) for target in board_source.targets),
        rows=tuple(rows),
    )


def list_attacks(session: Session, access: BoardAccess, submission_id: UUID) -> list[SubmissionAttack]:
    """Return the attacks on a submission, highest rate first, ties by team name.

    The list is empty if the submission is not a target or while guesses are hidden.
    """
    board_source = source.read_source(session, access, targets_only=True)
    targets = [target for target in board_source.targets if target.evaluation.submission_id == submission_id]
    attacks = [
        SubmissionAttack(row.attacker, cell, target.individual_count)
        for row in _list_team_rows(session, replace(board_source, targets=targets))
        for target, cell in zip(targets, row.cells, strict=True)
        if cell is not None
    ]
    return [attacks[index] for index in sort_for_board([-attack.cell.rate for attack in attacks])]


def _build_column(target: BoardTarget, scope: BoardScope) -> MatrixTarget:
    team = target.evaluation.team if _is_team_shown(target, scope) else None
    return MatrixTarget(
        target=target.name, rows=target.individual_count, own=_is_own(target, scope), team=team
    )


def _is_team_shown(target: BoardTarget, scope: BoardScope) -> bool:
    return _is_own(target, scope) or scope.owners_known


def _is_own(target: BoardTarget, scope: BoardScope) -> bool:
    return target.evaluation.team_id == scope.viewer.team_id


def _list_team_rows(session: Session, board_source: BoardSource) -> list[MatrixRow]:
    """Return one row for each team with a visible guess, sorted by name."""
    best_by_team = best_guesses.group_by_team_and_target(session, board_source)
    combine_risks = best_guesses.make_risk_combiner(board_source.rules)
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == board_source.scope.viewer.team_id,
            cells=tuple(
                _build_cell(board_source, target, best_by_team[team_id].get(target.id), combine_risks)
                for target in board_source.targets
            ),
        )
        for team_id, name in best_guesses.list_teams_by_name(session, best_by_team)
    ]


def _build_cell(
    board_source: BoardSource,
    target: BoardTarget,
    best_by_question: BestByQuestion | None,
    combine_risks: RiskCombiner,
) -> Cell | None:
    """Return a team's best results on a target; None if it did not try.

    If there are several questions, an unanswered one counts as 0, as on the re-identification board.
    """
    if best_by_question is None:
        return None
    if board_source.counts_individuals:
        (best,) = best_by_question.values()
        return Cell(correct=best.correct, rate=best.correct / target.individual_count, trials=best.trials)
    risks = {
        name: best_by_question[name].risk if name in best_by_question else 0.0
        for name in board_source.questions
    }
    return Cell(
        correct=None,
        rate=combine_risks(best_guesses.collect_risks(best_by_question)),
        trials=sum(best.trials for best in best_by_question.values()),
        by_question=risks if len(board_source.questions) > 1 else None,
    )


def _list_built_in_rows(session: Session, board_source: BoardSource) -> list[MatrixRow]:
    evaluations = [target.evaluation for target in board_source.targets]
    numbers = source.load_numbers(session, board_source, evaluations)
    numbers_by_target = [numbers.get(evaluation.evaluation_id) for evaluation in evaluations]
    return [
        _build_built_in_row(attacker, numbers_by_target, board_source.questions)
        for attacker in board_source.track.attackers.values()
    ]


def _build_built_in_row(
    attacker: AnyAttacker, numbers_by_target: Sequence[VerdictNumbers | None], questions: Sequence[str]
) -> MatrixRow:
    cells = tuple(build_built_in_cell(attacker, numbers, questions) for numbers in numbers_by_target)
    return MatrixRow(attacker=attacker.name, built_in=True, own=False, cells=cells)


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
