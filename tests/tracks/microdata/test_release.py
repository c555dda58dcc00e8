"""A prepared original shares memory with its table where possible."""

import numpy as np
import pandas as pd

from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.microdata.tables import parse_original


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
