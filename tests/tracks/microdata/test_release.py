"""An original shares memory with its table where possible, and does not see later changes of it."""

import numpy as np
import pandas as pd
import pytest

from anoncup.geometry.encoding import COPIES_ON_WRITE
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.microdata.tables import parse_original


@pytest.mark.skipif(not COPIES_ON_WRITE, reason="pandas 2 copies tables at once")
def test_parsed_numbers_are_not_copied() -> None:
    columns = Columns(("q", "r"), ("s", "t"))
    table, _ = parse_original(b"s,q,t,r\n1,a,2,b\n3,c,4,d\n", columns)
    values = MicrodataOriginal(table, columns).values
    assert values.tolist() == [[1, 2], [3, 4]]
    assert np.shares_memory(values, table["t"].to_numpy())


def test_read_only_numbers_are_copied() -> None:
    cells = np.array([[1.0], [2.0]])
    cells.flags.writeable = False
    table = pd.DataFrame(cells, columns=["s"], copy=False)
    values = MicrodataOriginal(table, Columns((), ("s",))).values
    assert (values.tolist(), values.flags.writeable) == ([[1.0], [2.0]], True)


def test_later_changes_of_the_table_have_no_effect() -> None:
    columns = Columns(("q",), ("s", "t"))
    table, _ = parse_original(b"q,s,t\na,1,2\nb,3,4\n", columns)
    original, read_original = MicrodataOriginal(table, columns), MicrodataOriginal(table, columns)
    expected_values, expected_codes = read_original.values.copy(), read_original.codes.copy()
    table.loc[1, "s"] = 9.0
    table.loc[0, "q"] = "c"
    table["t"] = 0.0
    for changed_later in (original, read_original):
        assert changed_later.table["q"].tolist() == ["a", "b"]
        np.testing.assert_array_equal(changed_later.values, expected_values)
        np.testing.assert_array_equal(changed_later.codes, expected_codes)
