"""Hypothesis strategies for hostile membership tables: ties, constants, duplicates and extreme values."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import BoolArray
from anoncup.geometry.stable_sums import LARGEST_FLOAT
from anoncup.plugins import TRACKS
from anoncup.tracks.membership.adapter import parse_original
from anoncup.tracks.membership.schema import CategoricalColumn, NumericColumn, TableSchema
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable
from tests.support.membership_reference import TEXTS, Rows
from tests.support.microdata_cases import HOSTILE_NUMBERS, SIMPLE_NUMBERS


@dataclass(frozen=True)
class MembershipCase:
    """Candidates, a mask of the members and a release. Numeric columns come first."""

    candidates: TypedTable
    members: BoolArray
    release: TypedTable

    @property
    def member_table(self) -> TypedTable:
        return self.candidates.select_rows(self.members)


def build_survey(rows: int = 60, seed: int = 1) -> MembershipOriginal:
    """Return the example data of the track."""
    example_data = TRACKS["membership"].examples.make_data
    assert example_data is not None
    rules = parse_competition(template("membership"))
    return parse_original(example_data(rules, rows, seed), rules)[0]


def build_schema(numeric_count: int, categorical_count: int) -> TableSchema:
    numeric_columns = [
        NumericColumn(f"n{number}", -LARGEST_FLOAT, LARGEST_FLOAT) for number in range(numeric_count)
    ]
    categorical_columns = [CategoricalColumn(f"c{number}", TEXTS) for number in range(categorical_count)]
    return TableSchema((*numeric_columns, *categorical_columns))


def build_table(rows: Rows, schema: TableSchema) -> TypedTable:
    """Build a table from rows whose numeric cells come first."""
    numeric_count, row_count = len(schema.numeric), len(rows)
    numbers = [[cell for cell in row[:numeric_count] if not isinstance(cell, str)] for row in rows]
    codes = [[TEXTS.index(str(cell)) for cell in row[numeric_count:]] for row in rows]
    return TypedTable(
        schema,
        np.array(numbers, dtype=np.float64).reshape(row_count, numeric_count),
        np.array(codes, dtype=np.int64).reshape(row_count, len(schema.categorical)),
    )


def list_rows(table: TypedTable) -> Rows:
    categories = [table.decode_column(index) for index in range(table.codes.shape[1])]
    return [
        [*numbers, *(column[row] for column in categories)]
        for row, numbers in enumerate(table.numbers.tolist())
    ]


@st.composite
def cases(draw: st.DrawFn) -> MembershipCase:
    numeric_count = draw(st.integers(0, 3))
    schema = build_schema(numeric_count, draw(st.integers(0 if numeric_count else 1, 2)))
    amounts = st.sampled_from(
        draw(st.sampled_from([SIMPLE_NUMBERS[:1], SIMPLE_NUMBERS[:2], SIMPLE_NUMBERS, HOSTILE_NUMBERS]))
    )
    texts = st.sampled_from(draw(st.sampled_from([TEXTS[:1], TEXTS[:3]])))
    cells = [amounts] * numeric_count + [texts] * len(schema.categorical)
    row = st.tuples(*cells).map(list)
    member_count = draw(st.integers(1, 12))
    candidates = draw(st.lists(row, min_size=2 * member_count, max_size=2 * member_count))
    known_row = row | st.sampled_from(candidates)
    release = draw(st.lists(known_row, min_size=1, max_size=15))
    order = draw(st.permutations(range(2 * member_count)))
    members = np.array(order) < member_count
    return MembershipCase(build_table(candidates, schema), members, build_table(release, schema))
