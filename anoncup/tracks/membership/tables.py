"""Bytes to typed tables and back, or InvalidUpload with file, row, column and code.

Candidates, background rows, members, releases and guesses are all read here: they differ in their columns and
in how many rows they may have. Below this file rows are aligned by position.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidUpload, Problem
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tables.checks import check_rows
from anoncup.tables.csv_text import (
    Problems,
    cells,
    check_text,
    decoded,
    header_of,
    numbers,
    table_csv,
    text_columns,
)
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.header import check_header
from anoncup.tables.line_numbers import located
from anoncup.tracks.membership.schema import Categorical, Numeric, Schema
from anoncup.tracks.memo import Memo

SCORE = Schema((Numeric("score", 0.0, 1.0),))
"""The file of a guess at membership: one line per candidate, in the candidates' order."""


@dataclass(frozen=True, slots=True)
class Table:
    """``numbers`` (n, numeric columns) as float64; ``codes`` (n, categorical columns): the value's place.

    Columns of a kind stand in the order of the schema.
    """

    schema: Schema
    numbers: FloatArray
    codes: IntArray

    @property
    def rows(self) -> int:
        return len(self.codes)

    def at(self, rows: IntArray | BoolArray) -> "Table":
        return Table(self.schema, self.numbers[rows], self.codes[rows])

    def only(self, *names: str) -> "Table":
        """Some of the columns, in the order of the file."""
        numeric = [place for place, each in enumerate(self.schema.numeric) if each.name in names]
        categorical = [place for place, each in enumerate(self.schema.categorical) if each.name in names]
        return Table(self.schema.only(*names), self.numbers[:, numeric], self.codes[:, categorical])

    def texts(self, place: int) -> list[str]:
        """The values of a categorical column as they are written."""
        values = self.schema.categorical[place].values
        return [values[code] for code in self.codes[:, place].tolist()]


def parse_candidates(
    content: bytes, schema: Schema, *, file: str = "candidates"
) -> tuple[Table, list[Remark]]:
    """2N rows, N at least 1: who may be in a team's data."""
    table, remarks = parse_rows(content, schema, file=file, fewest=2)
    if table.rows % 2:
        message = Message("the table has {found} rows; it must be an even number", found=table.rows)
        raise InvalidUpload([Problem(file, None, None, "odd_rows", message)])
    return table, remarks


def parse_rows(
    content: bytes, schema: Schema, *, file: str, fewest: int = 1, most: int = MAX_ROWS
) -> tuple[Table, list[Remark]]:
    """A table of the schema's columns: background, members, a release ("released") or a guess.

    Numbers are within their column's range, texts in its set, rows within ``fewest`` and ``most``.
    """
    with located({file: content}):
        text, remarks = decoded(content, file)
        check_header(header_of(text, file), schema.names, file)
        read = cells(text, schema.names, file, most_rows=most)
        problems = Problems(file)
        check_rows(read, problems, fewest=fewest, most=most)
        return _typed(read, schema, problems), remarks


def parse_scores(content: bytes, rows: int, *, file: str = "guess") -> tuple[FloatArray, list[Remark]]:
    """A guess at membership: header ``score``, a number in [0, 1] for each candidate, (2N,)."""
    table, remarks = parse_rows(content, SCORE, file=file, fewest=rows, most=rows)
    return table.numbers[:, 0], remarks


def scores_csv(scores: FloatArray) -> bytes:
    return written(Table(SCORE, scores[:, None], np.empty((len(scores), 0), dtype=np.int64)))


def written(table: Table) -> bytes:
    """The table as a CSV file that parses back to itself."""
    return table_csv(frame(table))


def frame(table: Table) -> pd.DataFrame:
    """The columns in the order of the file."""
    numeric = {each.name: table.numbers[:, place] for place, each in enumerate(table.schema.numeric)}
    texts = {each.name: table.texts(place) for place, each in enumerate(table.schema.categorical)}
    columns: dict[str, FloatArray | list[str]] = {**numeric, **texts}
    return pd.DataFrame({name: columns[name] for name in table.schema.names})


def _typed(read: pa.Table, schema: Schema, problems: Problems) -> Table:
    columns = dict(text_columns(read))
    for name, column in columns.items():
        check_text(column, name, problems)
    values = [_numbers(columns[each.name], each, problems) for each in schema.numeric]
    codes = [_codes(columns[each.name], each, problems) for each in schema.categorical]
    problems.check()
    shape = (read.num_rows, 0)
    return Table(
        schema,
        np.column_stack(values) if values else np.empty(shape),
        np.column_stack(codes) if codes else np.empty(shape, dtype=np.int64),
    )


def _numbers(column: pa.Array, of: Numeric, problems: Problems) -> FloatArray:
    values = numbers(column, of.name, problems)
    what = Message("not from {least} to {most}", least=of.least, most=of.most)
    outside = ((values < of.least) | (values > of.most)) & np.isfinite(values)
    problems.add_rows(outside, of.name, "out_of_range", what, cells=column)
    return values


def _codes(column: pa.Array, of: Categorical, problems: Problems) -> IntArray:
    found = pc.fill_null(pc.index_in(column, value_set=pa.array(of.values, pa.string())), -1)
    codes = np.asarray(found, dtype=np.int64)
    what = Message("not one of the column's values")
    problems.add_rows(codes < 0, of.name, "unknown_value", what, cells=column)
    return codes


@dataclass(frozen=True, slots=True)
class Original:
    """The public tables: 2N candidates without the hidden column, and background rows with all columns."""

    candidates: Table
    background: Table | None = None
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return self.candidates.rows
