"""Parse and write typed tables; InvalidUpload reports file, row, column and code.

Candidates, background rows, members, releases and guesses are all parsed here, because they differ only in
their columns and numbers of rows. All other modules align rows by position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels.gower import gower_sums
from anoncup.messages import Message
from anoncup.tables.checks import check_header, check_row_count
from anoncup.tables.csv_text import (
    SMALLEST_NUMBER,
    Problems,
    check_text,
    decode_upload,
    iterate_text_columns,
    parse_numbers,
    read_cells,
    read_header,
    write_csv,
)
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tracks.membership.settings import CategoricalColumn, NumericColumn, TableSchema
from anoncup.tracks.memo import Memo

_SCORE_SCHEMA = TableSchema((NumericColumn("score", 0.0, 1.0),))
"""Schema of a guess of the members: one line per candidate, in the candidates' order."""


@dataclass(frozen=True, slots=True)
class TypedTable:
    """A table with numeric and categorical columns, each kind in the order of the schema."""

    schema: TableSchema
    numbers: FloatArray
    """The cells of the numeric columns, (n, numeric columns)."""
    codes: IntArray
    """The positions of the cells among the ``values`` of their column, (n, categorical columns)."""

    @property
    def rows(self) -> int:
        return len(self.codes)

    def select_rows(self, rows: IntArray | BoolArray | slice) -> "TypedTable":
        return TypedTable(self.schema, self.numbers[rows], self.codes[rows])

    def select_columns(self, *names: str) -> "TypedTable":
        """Return the named columns, in the order of the file."""
        numeric = [index for index, column in enumerate(self.schema.numeric) if column.name in names]
        categorical = [index for index, column in enumerate(self.schema.categorical) if column.name in names]
        return TypedTable(self.schema.select(*names), self.numbers[:, numeric], self.codes[:, categorical])

    def decode_column(self, index: int) -> list[str]:
        """Return the cells of a categorical column as text."""
        values = self.schema.categorical[index].values
        return [values[code] for code in self.codes[:, index].tolist()]


def parse_candidates(
    content: bytes, schema: TableSchema, *, file: str = "candidates"
) -> tuple[TypedTable, list[Remark]]:
    """Parse the candidates, an even number of at least two rows."""
    table, remarks = parse_rows(content, schema, file=file, min_rows=2)
    if table.rows % 2:
        message = Message("the table has {found} rows; it must be an even number", found=table.rows)
        raise InvalidUpload([FileProblem(file, None, None, "odd_rows", message)])
    return table, remarks


def parse_rows(
    content: bytes,
    schema: TableSchema,
    *,
    file: str,
    min_rows: int = 1,
    max_rows: int = MAX_ROWS,
    smallest: float = SMALLEST_NUMBER,
) -> tuple[TypedTable, list[Remark]]:
    """Parse a table with the columns of a schema and ``min_rows`` to ``max_rows`` rows.

    Numbers must lie in their column's range, and texts must be among its values. Numbers other than 0 must
    not be smaller than ``smallest``, which is 0 for guesses. ``file`` is the name of the file in messages.
    """
    with add_line_numbers({file: content}):
        text, remarks = decode_upload(content, file)
        check_header(read_header(text, file), schema.names, file)
        text_cells = read_cells(text, schema.names, file, max_rows=max_rows)
        problems = Problems(file)
        check_row_count(text_cells, problems, minimum=min_rows, maximum=max_rows)
        return _parse_cells(text_cells, schema, problems, smallest=smallest), remarks


def parse_scores(content: bytes, rows: int, *, file: str = "guess") -> tuple[FloatArray, list[Remark]]:
    """Parse a guess of the members: the header ``score`` and a number in [0, 1] for each candidate, (2N,)."""
    table, remarks = parse_rows(content, _SCORE_SCHEMA, file=file, min_rows=rows, max_rows=rows, smallest=0.0)
    return table.numbers[:, 0], remarks


def write_scores(scores: FloatArray) -> bytes:
    return write_table(TypedTable(_SCORE_SCHEMA, scores[:, None], np.empty((len(scores), 0), dtype=np.int64)))


def write_table(table: TypedTable) -> bytes:
    """Return the table as a CSV file that parses back to the same table."""
    return write_csv(build_frame(table))


def build_frame(table: TypedTable) -> pd.DataFrame:
    """Return the columns as a data frame, in the order of the file."""
    numeric = {column.name: table.numbers[:, index] for index, column in enumerate(table.schema.numeric)}
    texts = {column.name: table.decode_column(index) for index, column in enumerate(table.schema.categorical)}
    columns: dict[str, FloatArray | list[str]] = {**numeric, **texts}
    return pd.DataFrame({name: columns[name] for name in table.schema.names})


def _parse_cells(
    text_cells: pa.Table, schema: TableSchema, problems: Problems, *, smallest: float
) -> TypedTable:
    columns = dict(iterate_text_columns(text_cells))
    for name, column in columns.items():
        check_text(column, name, problems)
    values = [
        _parse_numbers(columns[column_schema.name], column_schema, problems, smallest=smallest)
        for column_schema in schema.numeric
    ]
    codes = [
        _parse_codes(columns[column_schema.name], column_schema, problems)
        for column_schema in schema.categorical
    ]
    problems.raise_if_any()
    shape = (text_cells.num_rows, 0)
    return TypedTable(
        schema,
        np.column_stack(values) if values else np.empty(shape),
        np.column_stack(codes) if codes else np.empty(shape, dtype=np.int64),
    )


def _parse_numbers(
    column: pa.Array, column_schema: NumericColumn, problems: Problems, *, smallest: float
) -> FloatArray:
    values = parse_numbers(column, column_schema.name, problems, smallest=smallest)
    message = Message("not from {least} to {most}", least=column_schema.minimum, most=column_schema.maximum)
    is_outside = (values < column_schema.minimum) | (values > column_schema.maximum)
    problems.add_rows(is_outside, column_schema.name, "out_of_range", message, cells=column)
    return values


def _parse_codes(column: pa.Array, column_schema: CategoricalColumn, problems: Problems) -> IntArray:
    positions = pc.fill_null(pc.index_in(column, value_set=pa.array(column_schema.values, pa.string())), -1)
    codes = np.asarray(positions, dtype=np.int64)
    message = Message("not one of the column's values")
    problems.add_rows(codes < 0, column_schema.name, "unknown_value", message, cells=column)
    return codes


@dataclass(frozen=True, slots=True)
class MembershipOriginal:
    """The public tables."""

    candidates: TypedTable
    """The 2N candidates, without the hidden column."""
    background: TypedTable | None = None
    """Rows of other people with all columns, if the organizers published some."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return self.candidates.rows


MAX_DISTANCES_PER_BLOCK = 2**22
"""Largest number of distances held in memory at a time."""
_DISTANCE_DECIMALS = 12
"""Distances are rounded to this many decimals: coarser than rounding errors, finer than data."""


def find_equal_rows(query_table: TypedTable, other_table: TypedTable) -> BoolArray:
    """Return whether each row equals a row of the other table on all columns, (n,)."""
    cells = [np.column_stack((table.numbers, table.codes)) for table in (query_table, other_table)]
    group_of = np.unique(np.concatenate(cells), axis=0, return_inverse=True)[1].ravel()
    return np.isin(group_of[: query_table.rows], group_of[query_table.rows :])


def sort_rows(table: TypedTable) -> TypedTable:
    """Return the table with sorted rows, so that sums over them do not depend on their original order."""
    return table.select_rows(np.lexsort((*table.codes.T, *table.numbers.T)))


def iter_blocks(row_count: int, other_count: int) -> Iterator[slice]:
    """Yield slices of rows whose distances to the other rows fit into memory."""
    step = max(1, MAX_DISTANCES_PER_BLOCK // max(other_count, 1))
    for first in range(0, row_count, step):
        yield slice(first, min(first + step, row_count))


def gower_distances(query_table: TypedTable, other_table: TypedTable, candidates: TypedTable) -> FloatArray:
    """Return Gower's distance of each row to each row of the other table, (n, other rows), in [0, 1].

    The distance is the mean over the columns. A categorical column contributes 0 if the values are equal,
    else 1. A numeric column contributes |x - y| / range of the candidates, at most 1; if it is constant among
    the candidates, 0 for equal numbers and else 1. The result is rounded to twelve decimals, so that equal
    distances stay equal in any order of summation. Gower, "A general coefficient of similarity and some of
    its properties", 1971.
    """
    sums = gower_sums(
        codes=query_table.codes,
        values=query_table.numbers,
        other_codes=other_table.codes,
        other_values=other_table.numbers,
        widths=np.ptp(candidates.numbers, axis=0),
    )
    means: FloatArray = np.round(sums / len(candidates.schema.columns), _DISTANCE_DECIMALS)
    return means
