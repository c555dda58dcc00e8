"""The members that the service allocates to a team, which are the answer to all questions.

The file ``members`` has one row for each member, in the order of the candidates. Its column ``candidate`` is
the row number of the candidate counted from 1; the others are all columns of the member. The organizers' file
``hidden`` holds the hidden column of all candidates, in their order.

Anyone can repeat the allocation after the reveal:

1. ``commitment`` = SHA-256 of the seed, in hexadecimal; the seed is 32 random bytes.
2. The key = HMAC-SHA-256 with the seed over the UTF-8 text ``members``, NUL, attempt in decimal digits, NUL,
   team's name; its 32 bytes are read as one big-endian number. Attempts count from 0.
3. ``numpy.random.PCG64(key)`` gives one 64-bit number for each of the 2N candidates, in their order.
4. Members are the N candidates with the smallest numbers; ties go to the earlier candidate.

numpy promises stable raw numbers of bit generators in all versions (NEP 19), but not stable results of
``Generator`` methods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import Problems, redact_values, write_csv
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import Files
from anoncup.tracks.membership.settings import (
    CANDIDATE_COLUMN,
    NumericColumn,
    TableSchema,
    get_hidden_column_name,
    get_hidden_schema,
    get_settings,
)
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable, build_frame, parse_rows
from anoncup.tracks.model import ReleaseContext, Sizes
from anoncup.tracks.parts import Method

MEMBERS_FILE, HIDDEN_FILE = "members", "hidden"


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a team."""

    rows: IntArray
    """Their rows among the candidates, counted from 0 and ascending, (N,)."""
    table: TypedTable
    """All columns of the members, N rows."""
    hidden_column: TypedTable | None = None
    """The hidden column of all candidates, 2N rows; None where the organizers' file is not at hand."""
    original: MembershipOriginal | None = None

    @property
    def is_member(self) -> BoolArray:
        """Whether each candidate is a member, (2N,)."""
        mask = np.zeros(2 * len(self.rows), dtype=bool)
        mask[self.rows] = True
        return mask


def read_answer(content: bytes, context: ReleaseContext[MembershipOriginal, object]) -> Members:
    """Parse a team's file of members and check it against the candidates; errors never repeat cells."""
    original = context.original()
    with redact_values():
        members = _parse_members(content, original.candidates, get_settings(context.rules).schema)
    return replace(
        members,
        hidden_column=_load_hidden_column(context.organizer_files, original, context.rules),
        original=original,
    )


def _parse_members(content: bytes, candidates: TypedTable, schema: TableSchema) -> Members:
    """Parse the members: half of the candidates, each once, in their order and with their public values."""
    candidate_column = NumericColumn(CANDIDATE_COLUMN, 1, candidates.rows)
    member_count = candidates.rows // 2
    table, _ = parse_rows(
        content,
        TableSchema((candidate_column, *schema.columns)),
        file=MEMBERS_FILE,
        min_rows=member_count,
        max_rows=member_count,
    )
    rows = table.numbers[:, 0]
    problems = Problems(MEMBERS_FILE)
    is_wrong = (rows != np.floor(rows)) | (np.diff(rows, prepend=0) <= 0)
    _add_problems(
        problems,
        is_wrong,
        CANDIDATE_COLUMN,
        "not_a_row_number",
        Message("not the number of a later candidate"),
    )
    problems.raise_if_any()
    members = Members(rows.astype(np.int64) - 1, TypedTable(schema, table.numbers[:, 1:], table.codes))
    _check_known_values(members, candidates, problems)
    return members


def _check_known_values(members: Members, candidates: TypedTable, problems: Problems) -> None:
    """Check that the public columns of each member equal those of its candidate."""
    names = candidates.schema.names
    member_frame = build_frame(members.table.select_columns(*names))
    candidate_frame = build_frame(candidates.select_rows(members.rows))
    for name in names:
        differs = member_frame[name].to_numpy() != candidate_frame[name].to_numpy()
        _add_problems(problems, differs, name, "not_the_original", Message("not the value of this candidate"))
    problems.raise_if_any()


def _add_problems(
    problems: Problems, is_wrong: BoolArray, column: str, code: str, description: Message
) -> None:
    """Add a problem for every marked row, without its cells."""
    for row in np.flatnonzero(is_wrong).tolist():
        message = Message("{column}, row {row}: {what}", column=column, row=row + 1, what=description)
        problems.add(code, message, row=row + 1, column=column)


def write_answer(members: Members) -> bytes:
    """Return the team's file of members."""
    table = build_frame(members.table)
    table.insert(0, CANDIDATE_COLUMN, members.rows + 1)
    return write_csv(table)


def check_answer(members: Members, sizes: Sizes) -> None:
    """Raise InvalidInput unless there are half as many members as candidates."""
    member_count, candidate_count = len(members.rows), sizes["originals"]
    if 2 * member_count != candidate_count:
        raise InvalidInput(
            "{found} members are not half of {candidates} candidates",
            found=member_count,
            candidates=candidate_count,
        )


def choose_half(rng: Generator, rows: int) -> BoolArray:
    """Choose a uniformly random half of an even number of rows, (rows,), True = member."""
    numbers = rng.bit_generator.random_raw(rows)
    members = np.zeros(rows, dtype=bool)
    members[np.argsort(numbers, kind="stable")[: rows // 2]] = True
    return members


def make_members_file(original: MembershipOriginal, context: AllocationContext) -> dict[str, bytes]:
    """Allocate a team's members and write their file."""
    rules = context.rules
    rows = np.flatnonzero(choose_half(context.generator(MEMBERS_FILE), original.rows))
    hidden_column = _load_hidden_column(context.organizer_files, original, rules)
    if hidden_column is None and get_hidden_column_name(rules) is not None:
        raise InvalidInput("the file {name} is needed, and it is not there", name=HIDDEN_FILE)
    return {MEMBERS_FILE: write_answer(_build_members(original, rows, hidden_column, rules))}


def _build_members(
    original: MembershipOriginal, rows: IntArray, hidden_column: TypedTable | None, rules: Rules
) -> Members:
    """Return the given candidates with all of their columns."""
    table = (
        original.candidates
        if hidden_column is None
        else _join_tables(original.candidates, hidden_column, get_settings(rules).schema)
    )
    return Members(rows, table.select_rows(rows), hidden_column, original)


def anonymize(
    method: Method[TypedTable],
    original: MembershipOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
    *,
    answer: Members | None = None,
) -> tuple[TypedTable, Members]:
    """Apply a method to the given members, or to sampled ones."""
    members = answer or _sample_members(original, rules, rng)
    return method.apply(members.table, rng=rng, **parameters), members


def _sample_members(original: MembershipOriginal, rules: Rules, rng: Generator) -> Members:
    """Sample members if no service allocated them; a hidden column is filled with random values."""
    rows = np.flatnonzero(choose_half(rng, original.rows))
    if get_hidden_column_name(rules) is None:
        return _build_members(original, rows, None, rules)
    schema = get_hidden_schema(rules)
    numbers = [rng.choice([column.minimum, column.maximum], original.rows) for column in schema.numeric]
    codes = [rng.integers(0, len(column.values), original.rows) for column in schema.categorical]
    return _build_members(original, rows, _build_table(schema, numbers, codes, original.rows), rules)


def _join_tables(table: TypedTable, other_table: TypedTable, schema: TableSchema) -> TypedTable:
    """Join the columns of two tables in the order of the schema."""
    numbers = {
        column.name: source_table.numbers[:, index]
        for source_table in (table, other_table)
        for index, column in enumerate(source_table.schema.numeric)
    }
    codes = {
        column.name: source_table.codes[:, index]
        for source_table in (table, other_table)
        for index, column in enumerate(source_table.schema.categorical)
    }
    number_columns = [numbers[column.name] for column in schema.numeric]
    code_columns = [codes[column.name] for column in schema.categorical]
    return _build_table(schema, number_columns, code_columns, table.rows)


def _build_table(
    schema: TableSchema, numbers: Sequence[FloatArray], codes: Sequence[IntArray], rows: int
) -> TypedTable:
    """Build a table from its columns, each (rows,)."""
    empty_columns = np.empty((rows, 0), dtype=np.int64)
    return TypedTable(
        schema,
        np.column_stack([empty_columns.astype(np.float64), *numbers]),
        np.column_stack([empty_columns, *codes]),
    )


def _load_hidden_column(
    organizer_files: Files, original: MembershipOriginal, rules: Rules
) -> TypedTable | None:
    """Return the hidden column of all candidates, if the competition has one and the file is available."""
    if get_hidden_column_name(rules) is None or HIDDEN_FILE not in organizer_files:
        return None
    return _parse_hidden_column(organizer_files[HIDDEN_FILE], original, rules)


def _parse_hidden_column(content: bytes, original: MembershipOriginal, rules: Rules) -> TypedTable:
    with redact_values():
        return parse_rows(
            content,
            get_hidden_schema(rules),
            file=HIDDEN_FILE,
            min_rows=original.rows,
            max_rows=original.rows,
        )[0]


def check_organizer_file(name: str, content: bytes, original: MembershipOriginal, rules: Rules) -> None:
    """Raise InvalidUpload if the file is not the hidden column of these candidates."""
    _parse_hidden_column(content, original, rules)
