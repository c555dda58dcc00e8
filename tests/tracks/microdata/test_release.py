"""An original does not see later changes of its table."""

import numpy as np

from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.microdata.tables import parse_original


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
