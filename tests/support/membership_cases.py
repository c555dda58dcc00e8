"""Hypothesis strategies for hostile membership tables: ties, constants, duplicates and extreme values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import BoolArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import LARGEST_NUMBER
from anoncup.testing.parts import TrackCase
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.membership.adapter import parse_original
from anoncup.tracks.membership.settings import (
    CategoricalColumn,
    MembershipSettings,
    NumericColumn,
    TableSchema,
)
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable, write_table
from anoncup.tracks.model import AnyContext, ReleaseContext
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
        NumericColumn(f"n{number}", -LARGEST_NUMBER, LARGEST_NUMBER) for number in range(numeric_count)
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


SEED = bytes(range(32))


def hide_column(original: MembershipOriginal, column: str) -> tuple[MembershipOriginal, dict[str, bytes]]:
    """Return the original without a column, and that column as the organizers' file."""
    table = original.candidates
    names = [name for name in table.schema.names if name != column]
    hidden = write_table(table.select_columns(column))
    return MembershipOriginal(table.select_columns(*names)), {"hidden": hidden}


def allocate_members(
    original: MembershipOriginal, rules: Rules, truth: Mapping[str, bytes], team: str = "a"
) -> bytes:
    """Return the members file that the service allocates to a team."""
    allocation = TRACKS["membership"].allocation
    assert allocation is not None
    context = AllocationContext(rules, truth, lambda purpose: derive_generator(SEED, purpose, team), team)
    contents = allocation.make_files(original, context)
    assert list(contents) == ["members"]
    return contents["members"]


def build_context(
    original: MembershipOriginal, rules: Rules, truth: Mapping[str, bytes] | None = None
) -> AnyContext:
    sizes = {"originals": original.rows, "rows": original.rows // 2}
    return ReleaseContext(rules, sizes, lambda: original, organizer_files=truth or {})


def build_rules(schema: TableSchema, hidden_column: str | None) -> Rules:
    """Return rules with these columns and any number of released rows from 1 to 15 times the members."""
    rules = parse_competition(template("membership"))
    hidden = {"attribute": {"hidden": hidden_column}} if hidden_column else {}
    settings = MembershipSettings(schema, fewest_rows=0.0, most_rows=15.0)
    return replace(rules, settings=settings, questions={**rules.questions, **hidden})


@st.composite
def allocated_cases(draw: st.DrawFn) -> TrackCase:
    """Draw hostile candidates with members as the service allocates them; a column may be hidden."""
    case = draw(cases())
    names = case.candidates.schema.names
    hidden_column = draw(st.sampled_from([None, *names])) if len(names) > 1 else None
    rules, original = build_rules(case.candidates.schema, hidden_column), MembershipOriginal(case.candidates)
    truth: dict[str, bytes] = {}
    if hidden_column:
        original, truth = hide_column(original, hidden_column)
    content = allocate_members(original, rules, truth)
    members = TRACKS["membership"].answer_spec.read(content, build_context(original, rules, truth))
    return TrackCase(rules, original, case.release, members, organizer_files=truth)
