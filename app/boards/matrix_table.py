"""The attack matrix as a table: sorted by strength, and as CSV."""

from collections.abc import Iterable, Sequence
from math import fsum

from anoncup.formulas.ranks import sort_for_board
from anoncup.schemas import Cell, Matrix
from app.core import spreadsheet


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
    questions = (None, *matrix.distinct_questions)
    header = [
        target.label if question is None else f"{target.label} {question}"
        for target in matrix.targets
        for question in questions
    ]
    rows = (
        [
            row.attacker,
            str(row.built_in).lower(),
            *(find_rate(cell, question) for cell in row.cells for question in questions),
        ]
        for row in matrix.rows
    )
    return spreadsheet.render_csv(["attacker", "built_in", *header], rows)
