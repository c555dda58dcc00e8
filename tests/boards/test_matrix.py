"""The matrix is ordered by exact sums of rates; nothing else in it changes."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from app.boards.matrix import sort_by_strength

pytestmark = pytest.mark.full

RATES = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0])


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Draw a matrix whose rates are tenths, so that equal sums differ by floating-point rounding."""
    targets, rows = draw(st.integers(0, 5)), draw(st.integers(0, 5))

    def build_cell() -> Cell | None:
        if draw(st.booleans()):
            return None
        by_question = draw(st.none() | st.dictionaries(st.sampled_from(["link", "value"]), RATES))
        return Cell(correct=None, rate=draw(RATES), trials=1, by_question=by_question)

    return Matrix(
        competition="small",
        title={"en": "Small"},
        hidden=False,
        targets=tuple(MatrixTarget(target=f"T{n}", rows=10, own=n == 1, team=None) for n in range(targets)),
        rows=tuple(
            MatrixRow(
                attacker=f"a{n}",
                built_in=n == 2,
                own=n == 0,
                cells=tuple(build_cell() for _ in range(targets)),
            )
            for n in range(rows)
        ),
    )


def index_cells(board: Matrix) -> dict[tuple[str, bool, str], Cell | None]:
    return {
        (row.attacker, row.built_in, target.target): cell
        for row in board.rows
        for target, cell in zip(board.targets, row.cells, strict=True)
    }


def exact_rate(cell: Cell | None, question: str | None) -> Fraction:
    rate = cell and (cell.rate if question is None else (cell.by_question or {}).get(question))
    return Fraction(round(10 * (rate or 0)), 10)


@given(matrices(), st.sampled_from([None, "link", "value"]))
def test_rows_and_targets_are_sorted_by_strength_then_name(matrix: Matrix, question: str | None) -> None:
    sorted_matrix = sort_by_strength(matrix, question)
    assert index_cells(sorted_matrix) == index_cells(matrix)
    row_sums = {row.attacker: sum(exact_rate(cell, question) for cell in row.cells) for row in matrix.rows}
    column_sums = {
        target.target: sum(exact_rate(row.cells[column], question) for row in matrix.rows)
        for column, target in enumerate(matrix.targets)
    }
    for sums, names in (
        (row_sums, [row.attacker for row in sorted_matrix.rows]),
        (column_sums, [target.target for target in sorted_matrix.targets]),
    ):
        assert sorted(names) == sorted(sums)
        for earlier_name, later_name in combinations(names, 2):
            assert (-sums[earlier_name], earlier_name) < (-sums[later_name], later_name)
