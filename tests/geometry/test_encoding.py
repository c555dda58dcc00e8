"""Grouping, sorting and encoding of rows equal plain Python."""

import numpy as np
import pandas as pd
import pytest
from numba.core.caching import CacheImpl

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import assign_groups, factorize, group_rows
from anoncup.geometry.kernels.compilation import CompiledLoop
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import MicrodataOriginal, build_target

SHAPES = [(0, 0), (0, 3), (1, 0), (1, 4), (7, 0), (40, 1), (60, 3), (200, 13)]
LARGEST_CODES = [1, 5, 2**40]


def generate_codes(rows: int, columns: int, largest: int, rng: np.random.Generator) -> IntArray:
    codes = rng.integers(0, largest, (rows, columns))
    return codes[rng.integers(0, max(rows // 2, 1), rows)] if rows else codes


@pytest.mark.parametrize("largest", LARGEST_CODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_equal_rows_form_sorted_groups(shape: tuple[int, int], largest: int) -> None:
    codes = generate_codes(*shape, largest, np.random.default_rng(1))
    rows = [tuple(row) for row in codes.tolist()]
    group_of_row = {row: index for index, row in enumerate(sorted(set(rows)))}
    grouping = group_rows(codes)
    assert grouping.group_ids.tolist() == [group_of_row[row] for row in rows]
    assert grouping.sizes.tolist() == [rows.count(row) for row in group_of_row]
    assert grouping.members.tolist() == sorted(range(len(rows)), key=lambda row: (rows[row], row))


@pytest.mark.parametrize("largest", LARGEST_CODES)
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_rows_of_another_table_are_assigned_to_groups(shape: tuple[int, int], largest: int) -> None:
    rng = np.random.default_rng(2)
    codes, other_codes = generate_codes(*shape, largest, rng), generate_codes(150, shape[1], largest + 2, rng)
    other_codes[:50] = codes[rng.integers(0, len(codes), 50)] if len(codes) else other_codes[:50]
    is_kept = rng.random(other_codes[50:100].shape) < 0.9
    other_codes[50:100] = np.where(is_kept, other_codes[:50], other_codes[50:100])
    grouping = group_rows(codes)
    group_of_row = dict(zip(map(tuple, codes.tolist()), grouping.group_ids.tolist(), strict=True))
    expected = [group_of_row.get(tuple(row), -1) for row in other_codes.tolist()]
    assert assign_groups(grouping, other_codes).tolist() == expected


@pytest.mark.parametrize("dtype", ["str", object])
def test_texts_are_compared_exactly(dtype: str) -> None:
    cells = ["1.0", "1", "", " 1", "NA", "nan", "", "１", "é", "e\u0301", "1", "None"]
    x = pd.DataFrame({"q": pd.Series(cells, dtype=dtype), "s": 1.0})
    y = pd.DataFrame({"q": pd.Series(["new", "1", "é", "1.", "new"], dtype=dtype), "s": 1.0})
    codes, distinct_texts = factorize(x["q"])
    assert (distinct_texts, [distinct_texts[code] for code in codes]) == (list(dict.fromkeys(cells)), cells)
    original = MicrodataOriginal(x, Columns(("q",), ("s",)))
    target = build_target(original, y)
    assert original.vocabularies[0] == distinct_texts
    assert (target.codes[:, 0].tolist(), target.widths) == ([10, 1, 7, 11, 10], (12,))


def test_loops_work_where_no_folder_for_compiled_code_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    loop = CompiledLoop(lambda number: number + 1)
    CompiledLoop.all_loops.remove(loop)
    assert loop(2) == 3
