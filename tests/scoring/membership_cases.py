"""Hostile tables of `membership`: ties everywhere, constants, one category, duplicates, huge and tiny."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import BoolArray
from anoncup.geometry.stable_sums import LARGEST
from anoncup.plugins import TRACKS
from anoncup.tracks.membership.adapter import parse_original
from anoncup.tracks.membership.schema import Categorical, Numeric, Schema
from anoncup.tracks.membership.tables import Original, Table
from tests.scoring.membership_reference import TEXTS, Rows
from tests.scoring.tables_to_break import HOSTILE, TAME


@dataclass(frozen=True)
class Case:
    """Candidates, who is a member, and a release; the same as lists of rows, numbers first."""

    candidates: Table
    members: BoolArray
    released: Table

    @property
    def own(self) -> Table:
        return self.candidates.at(self.members)


def survey(rows: int = 60, seed: int = 1) -> Original:
    """The example data of the track."""
    made = TRACKS["membership"].example_data
    assert made is not None
    return parse_original(made(rows, seed), parse_competition(template("membership")))[0]


def schema_of(numeric: int, categorical: int) -> Schema:
    numbers = [Numeric(f"n{place}", -LARGEST, LARGEST) for place in range(numeric)]
    texts = [Categorical(f"c{place}", TEXTS) for place in range(categorical)]
    return Schema((*numbers, *texts))


def table_of(rows: Rows, schema: Schema) -> Table:
    """Of rows with their numbers first."""
    numeric, number = len(schema.numeric), len(rows)
    numbers = [[cell for cell in row[:numeric] if not isinstance(cell, str)] for row in rows]
    codes = [[TEXTS.index(str(cell)) for cell in row[numeric:]] for row in rows]
    return Table(
        schema,
        np.array(numbers, dtype=np.float64).reshape(number, numeric),
        np.array(codes, dtype=np.int64).reshape(number, len(schema.categorical)),
    )


def rows_of(table: Table) -> Rows:
    texts = [table.texts(place) for place in range(table.codes.shape[1])]
    return [
        [*numbers, *(column[row] for column in texts)] for row, numbers in enumerate(table.numbers.tolist())
    ]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    numeric = draw(st.integers(0, 3))
    schema = schema_of(numeric, draw(st.integers(0 if numeric else 1, 2)))
    amounts = st.sampled_from(draw(st.sampled_from([TAME[:1], TAME[:2], TAME, HOSTILE])))
    texts = st.sampled_from(draw(st.sampled_from([TEXTS[:1], TEXTS[:3]])))
    cells = [amounts] * numeric + [texts] * len(schema.categorical)
    row = st.tuples(*cells).map(list)
    half = draw(st.integers(1, 12))
    candidates = draw(st.lists(row, min_size=2 * half, max_size=2 * half))
    known = row | st.sampled_from(candidates)
    released = draw(st.lists(known, min_size=1, max_size=15))
    order = draw(st.permutations(range(2 * half)))
    members = np.array(order) < half
    return Case(table_of(candidates, schema), members, table_of(released, schema))
