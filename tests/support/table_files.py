"""Strategies for valid and invalid table files, and the standard library's reading of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from anoncup.errors import MAX_LISTED_PROBLEMS, InvalidUpload
from anoncup.rules.settings import Columns
from anoncup.tables.foreign_formats import list_invisible_codes
from anoncup.tracks.microdata.tables import parse_original, parse_release
from tests.support.hypothesis_profiles import limit_examples

hostile_examples = limit_examples(200)

COLUMNS = Columns(("sex", "年齢, 歳"), ('in"come', "rent"))
NAMES = (*COLUMNS.quasi_identifiers, *COLUMNS.sensitive)
SMALL_COLUMNS = Columns(("q",), ("s",))
ONE_COLUMN = Columns(("q",), ())
HEADER = b"q,s\n"

TEXTS = [
    "",
    "NA",
    "NaN",
    "null",
    "007",
    "1",
    "1.0",
    " x ",
    "'",
    '"',
    '""',
    ",",
    "日本",
    "👪",
    "\t",
    "#",
    "\u2028",
]
FLOATS = [
    0.0, -0.0, 1e-30, -1e-30, 1.0000000000000003e-30, 1e30, -1e30, 9.999999999999999e29, 0.1, 0.1 + 0.2,
    1 / 3, 1e22, 1e23, 1e16, 9007199254740993.0, 123456789012345680.0,
]  # fmt: skip
NUMBER_SPELLINGS = [
    "0", "-0", "+1", "1.", ".5", "-.5e-3", "1E5", "1e+05", "007", "0e-400", "0.1", "9007199254740993",
    "179769313486231570000e9", "2.4703282292062328e-30", "1" + "0" * 30, "0." + "0" * 29 + "1",
    "0" * 400 + "1",
]  # fmt: skip
NUMBERS_OUT_OF_RANGE = [
    "1e400", "-1e309", "1.1e30", "-1e31", "9" * 31, "9e-31", "-5e-324", "1e-400", "-.1e-330",
    "0." + "0" * 400 + "1",
]  # fmt: skip
NOT_NUMBERS = [
    "NaN", "nan", "inf", "-inf", "Infinity", "NA", "0x10", "1_000", "1,5", "１２", "٣", " 1", "1 ", "1\t",
    "--1", "1e", "e5", ".", "+", "-", "1e5.0", "1d5", "1f", "true", "1 000", "−1", "½",
]  # fmt: skip

cell_texts = st.sampled_from(TEXTS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[*map(chr, {*range(32), 127} - {9})]),
    max_size=8,
).filter(lambda text: not list_invisible_codes(text))  # fmt: skip
finite_numbers = st.sampled_from(FLOATS) | st.floats(-1e30, 1e30).filter(
    lambda number: number == 0 or abs(number) >= 1e-30
)
number_spellings = st.sampled_from(NUMBER_SPELLINGS) | finite_numbers.map(repr)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(1, 8))
    texts = st.lists(cell_texts, min_size=rows, max_size=rows)
    numbers = st.lists(finite_numbers, min_size=rows, max_size=rows)
    return pd.DataFrame(
        {name: draw(texts) for name in COLUMNS.quasi_identifiers}
        | {name: np.array(draw(numbers)) for name in COLUMNS.sensitive}
    )


def quote(cell: str, *, always: bool) -> str:
    needs_quotes = any(character in cell for character in ',"\r\n')
    return '"' + cell.replace('"', '""') + '"' if always or needs_quotes else cell


def list_exact_cells(table: pd.DataFrame) -> list[list[object]]:
    """Return the cells of each row; numbers as exact hexadecimal strings."""
    cells = [
        [number.hex() for number in table[name]] if table[name].dtype == np.float64 else list(table[name])
        for name in table.columns
    ]
    return [list(row) for row in zip(*cells, strict=True)]


def expect_refusal(
    content: bytes, columns: Columns = SMALL_COLUMNS, *, original: pd.DataFrame | None = None
) -> InvalidUpload:
    with pytest.raises(InvalidUpload) as excinfo:
        parse_original(content, columns) if original is None else parse_release(content, original, columns)
    return excinfo.value


def list_problems(error: InvalidUpload) -> list[tuple[int | None, str | None, str]]:
    return [(problem.row, problem.column, problem.code) for problem in error.problems]


def build_original(*cells: str) -> pd.DataFrame:
    return pd.DataFrame({"q": list(cells), "s": np.arange(len(cells), dtype=float)})


def check_problem_list(error: InvalidUpload) -> None:
    """Assert that the number and length of reported problems is bounded."""
    assert 1 <= len(error.problems) <= min(MAX_LISTED_PROBLEMS, error.total)
    assert all(problem.row is None or problem.row >= 1 for problem in error.problems)
    assert all(len(str(problem.message)) < 500 for problem in error.problems)
