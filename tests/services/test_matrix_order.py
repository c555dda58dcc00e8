"""The order of the matrix: by what was found, added up exactly; nothing else of it changes."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from app.services.boards.matrix import by_strength

pytestmark = pytest.mark.full

RATES = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0])


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Rates are tenths, so that sums of them differ by rounding and are yet to be equal."""
    targets, rows = draw(st.integers(0, 5)), draw(st.integers(0, 5))

    def cell() -> Cell | None:
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
                attacker=f"a{n}", built_in=n == 2, own=n == 0, cells=tuple(cell() for _ in range(targets))
            )
            for n in range(rows)
        ),
    )


def value(cell: Cell | None, question: str | None) -> Fraction:
    found = cell and (cell.rate if question is None else (cell.by_question or {}).get(question))
    return Fraction(round(10 * (found or 0)), 10)


@given(matrices(), st.sampled_from([None, "link", "value"]))
def test_who_found_more_stands_before_who_found_less_and_equal_ones_as_before(
    matrix: Matrix, question: str | None
) -> None:
    ordered = by_strength(matrix, question)
    by_row = {row.attacker: sum(value(cell, question) for cell in row.cells) for row in matrix.rows}
    by_column = {
        target.target: sum(value(row.cells[place], question) for row in matrix.rows)
        for place, target in enumerate(matrix.targets)
    }
    for sums, names in (
        (by_row, [row.attacker for row in ordered.rows]),
        (by_column, [target.target for target in ordered.targets]),
    ):
        assert sorted(names) == sorted(sums)
        for first, second in combinations(names, 2):
            assert (-sums[first], first) < (-sums[second], second)


@given(matrices())
def test_every_cell_stays_with_its_attacker_and_its_target(matrix: Matrix) -> None:
    def cells(one: Matrix) -> dict[tuple[str, str], Cell | None]:
        return {
            (row.attacker, target.target): cell
            for row in one.rows
            for target, cell in zip(one.targets, row.cells, strict=True)
        }

    ordered = by_strength(matrix)
    assert cells(ordered) == cells(matrix)
    assert {row.attacker: row.built_in for row in ordered.rows} == {
        row.attacker: row.built_in for row in matrix.rows
    }
