"""Groups, orders and numbers of texts are what plain Python makes of the same rows."""

import numpy as np
import pandas as pd
import pytest

from anoncup.geometry.arrays import IntArray, columns_at, ordered
from anoncup.geometry.encoding import find_groups, group_rows, numbered
from anoncup.geometry.kernels.groups import first_alike
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import prepare, target_of

SHAPES = [(0, 0), (0, 3), (1, 0), (1, 4), (7, 0), (40, 1), (60, 3), (200, 13)]
LARGEST_CODES = [1, 2, 5, 1000, 2**20, 2**40]
"""2**20 in 13 columns does not fit into one key, 2**40 in no two columns."""


def drawn(rows: int, columns: int, largest: int, rng: np.random.Generator) -> IntArray:
    codes = rng.integers(0, largest, (rows, columns))
    return codes[rng.integers(0, max(rows // 2, 1), rows)] if rows else codes


@pytest.mark.parametrize("largest", LARGEST_CODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_with_equal_codes_are_a_group_and_groups_are_in_order(
    shape: tuple[int, int], largest: int
) -> None:
    codes = drawn(*shape, largest, np.random.default_rng(1))
    rows = [tuple(row) for row in codes.tolist()]
    number = {row: place for place, row in enumerate(sorted(set(rows)))}
    found = group_rows(codes)
    assert found.group_of.tolist() == [number[row] for row in rows]
    assert found.sizes.tolist() == [rows.count(row) for row in number]
    assert found.members.tolist() == sorted(range(len(rows)), key=lambda row: (rows[row], row))
    wider = group_rows(codes, [largest + 3] * shape[1])
    assert (wider.group_of.tolist(), wider.sizes.tolist()) == (found.group_of.tolist(), found.sizes.tolist())


@pytest.mark.parametrize("largest", LARGEST_CODES)
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_rows_of_another_table_find_their_group_or_none(shape: tuple[int, int], largest: int) -> None:
    rng = np.random.default_rng(2)
    codes, others = drawn(*shape, largest, rng), drawn(150, shape[1], largest + 2, rng)
    others[:50] = codes[rng.integers(0, len(codes), 50)] if len(codes) else others[:50]
    mixed = rng.random(others[50:100].shape) < 0.9
    others[50:100] = np.where(mixed, others[:50], others[50:100])
    grouping = group_rows(codes)
    number = dict(zip(map(tuple, codes.tolist()), grouping.group_of.tolist(), strict=True))
    expected = [number.get(tuple(row), -1) for row in others.tolist()]
    assert find_groups(grouping, others).tolist() == expected


@pytest.mark.parametrize("values", [[0.0, -0.0], [1.0, 2.0, 5e-324, -1.7e308], [3.5], [np.nan, 1.0]])
@pytest.mark.parametrize(("rows", "columns"), [(0, 2), (1, 0), (1, 3), (90, 0), (90, 1), (90, 4)])
def test_identical_rows_are_those_of_the_same_group_with_equal_cells(
    rows: int, columns: int, values: list[float]
) -> None:
    rng = np.random.default_rng(4)
    known, others = (rng.choice(values, (each, columns)) for each in (rows, 70))
    known_groups, groups = rng.integers(0, 3, rows), rng.integers(-1, 4, 70)
    slots = np.full(2 << rows.bit_length(), -1)
    for some, cells, planting in ((known_groups, known, True), (groups, others, False)):
        expected = [
            next((i for i in range(rows) if known_groups[i] == group and (known[i] == row).all()), None)
            for group, row in zip(some, cells, strict=True)
        ]
        own = np.arange(len(cells)) if planting else np.full(len(cells), -1)
        found = np.empty(len(cells), dtype=np.int64)
        first_alike(some, cells, known_groups, known, slots, planting, found)
        assert found.tolist() == [b if a is None else a for a, b in zip(expected, own.tolist(), strict=True)]


def test_a_code_beyond_its_width_is_not_another_group() -> None:
    """As digits, (0, 3) of two columns with three codes would be (1, 0)."""
    grouping = group_rows(np.array([[1, 0], [2, 2]]))
    assert find_groups(grouping, np.array([[0, 3], [1, 0], [3, 0], [2, 2]])).tolist() == [-1, 0, -1, 1]


@pytest.mark.parametrize("values", [[0.0, -0.0], [1.0, 2.0, 5e-324, -1e308], [3.5], np.linspace(0, 1, 90)])
@pytest.mark.parametrize("rows", [0, 1, 2, 80])
def test_rows_are_ordered_as_by_all_keys(values: list[float], rows: int) -> None:
    keys = np.random.default_rng(3).choice(values, (4, rows))
    assert ordered(*keys).tolist() == np.lexsort(keys[::-1]).tolist()


@pytest.mark.parametrize("places", [[], [0], [3], [1, 2], [0, 1, 2, 3], [2, 1], [0, 2], [1, 1]])
def test_columns_are_taken_in_the_order_they_are_asked_for(places: list[int]) -> None:
    cells = np.arange(12).reshape(3, 4)
    assert columns_at(cells, places).tolist() == [[row[place] for place in places] for row in cells.tolist()]


@pytest.mark.parametrize("count", [1, 2, 511, 512, 513, 3000])
@pytest.mark.parametrize("length", [0, 1, 2, 6, 7, 8])
def test_texts_of_any_number_and_length_are_numbered_as_they_appear(count: int, length: int) -> None:
    rng = np.random.default_rng(4)
    letters = np.array([*"01aé日\0"])
    cells = ["".join(rng.choice(letters, rng.integers(0, length + 1))) for _ in range(count)]
    column = pd.Series([*cells, *cells[::-1]], dtype="str")
    for part in (column, column[count // 2 :], column[:0]):
        codes, distinct = numbered(part)
        assert distinct == list(dict.fromkeys(part))
        assert [distinct[code] for code in codes] == part.tolist()


@pytest.mark.parametrize("dtype", ["str", object])
def test_texts_are_numbered_as_they_appear_and_are_equal_only_as_they_are_written(dtype: str) -> None:
    cells = ["1.0", "1", "", " 1", "NA", "nan", "", "１", "é", "e\u0301", "1", "None"]
    x = pd.DataFrame({"q": pd.Series(cells, dtype=dtype), "s": 1.0})
    y = pd.DataFrame({"q": pd.Series(["new", "1", "é", "1.", "new"], dtype=dtype), "s": 1.0})
    codes, distinct = numbered(x["q"])
    assert (distinct, [distinct[code] for code in codes]) == (list(dict.fromkeys(cells)), cells)
    original = prepare(x, Columns(("q",), ("s",)))
    target = target_of(original, y)
    assert list(original.vocabularies[0]) == distinct
    assert (target.codes[:, 0].tolist(), target.widths) == ([10, 1, 7, 11, 10], (12,))
