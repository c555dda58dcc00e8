"""Hypothesis strategies for hostile microdata releases: ties, duplicates, constants, extreme values."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.release import MicrodataOriginal, ScoredMicrodata, build_release
from tests.support.microdata_reference import Cells, Tables, Texts

TEXTS = ["", "a", "b", "NA", "1", "1.0"]
SIMPLE_NUMBERS = [0.0, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
HOSTILE_NUMBERS = [
    *SIMPLE_NUMBERS,
    -0.0,
    1e16,
    1e16 + 2,
    1e20,
    -1e20,
    1e30,
    -1e30,
    9.999999999999999e29,
    1e-30,
    -1e-17,
    1e-20,
]


@dataclass(frozen=True)
class MicrodataCase:
    """A release together with its tables as plain lists."""

    release: ScoredMicrodata
    xq: Texts
    xs: Cells
    yq: Texts
    ys: Cells
    source: list[int]


def build_frame(texts: Texts, cells: Cells, roles: Columns) -> pd.DataFrame:
    quasi = {name: [row[index] for row in texts] for index, name in enumerate(roles.quasi_identifiers)}
    sensitive = {name: [row[index] for row in cells] for index, name in enumerate(roles.sensitive)}
    return pd.DataFrame({**quasi, **sensitive})


def build_case(tables: Tables, source: list[int]) -> MicrodataCase:
    xq, xs, yq, ys = tables
    roles = Columns(
        tuple(f"q{index}" for index in range(len(xq[0]))), tuple(f"s{index}" for index in range(len(xs[0])))
    )
    prepared = MicrodataOriginal(build_frame(xq, xs, roles), roles)
    release = build_release(prepared, build_frame(yq, ys, roles), np.array(source))
    return MicrodataCase(release, xq, xs, yq, ys, source)


@st.composite
def cases(draw: st.DrawFn) -> MicrodataCase:
    rows, quasi, sensitive = draw(st.integers(1, 9)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    text = st.sampled_from(TEXTS[: draw(st.integers(1, 6))])
    cell = st.sampled_from(draw(st.sampled_from([SIMPLE_NUMBERS, HOSTILE_NUMBERS])))
    text_row, cell_row = st.tuples(*[text] * quasi), st.lists(cell, min_size=sensitive, max_size=sensitive)
    xq = draw(st.lists(text_row, min_size=rows, max_size=rows))
    xs = draw(st.lists(cell_row, min_size=rows, max_size=rows))
    source = draw(st.permutations(range(rows)))[: draw(st.integers(1, rows))]
    yq = [draw(st.one_of(st.just(xq[i]), text_row)) for i in source]
    ys = [draw(st.one_of(st.just(xs[i]), cell_row)) for i in source]
    return build_case((xq, xs, yq, ys), list(source))
