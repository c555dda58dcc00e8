"""Exact counts of a table before it is given out; nothing is sampled."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import InvalidUpload
from app.scoring.arrays import IntArray
from app.scoring.column_roles import AMOUNTS
from app.scoring.csv_text import NUMBER, cells, decoded, header_of, marks, text_columns
from app.scoring.encoding import group_rows, numbered
from app.scoring.looks import ALONE, FEWEST, Classes, CrossTable, Telling, Values, tells_apart

FEW_WORDS = 10
"""More different texts than this are no spellings of one that is missing."""


def text_table(content: bytes, file: str) -> pa.Table:
    """Every cell as it is written."""
    text, _ = decoded(content, file)
    return cells(text, header_of(text, file), file)


def values_of(column: pd.Series, fewest: int = FEWEST) -> Values:
    """``fewest``: rows that share a value which is not rare."""
    sizes = np.bincount(codes_of(column))
    rare = sizes[sizes < fewest]
    return Values(len(column), len(sizes), int(sizes.max(initial=0)), len(rare), int(rare.sum()))


def classes_of(table: pd.DataFrame, columns: Sequence[str], fewest: int = FEWEST) -> Classes:
    """``columns``: quasi-identifiers; of none everybody is in one class."""
    sizes = group_rows(codes(table, columns)).sizes
    return Classes(len(table), len(sizes), int((sizes == 1).sum()), int(sizes[sizes < fewest].sum()))


def cross_tables(table: pd.DataFrame, used: Mapping[str, Sequence[str]]) -> tuple[CrossTable, ...]:
    """``used``: by measure the columns of its cross-table; measures with the same ones share a table."""
    together: dict[tuple[str, ...], list[str]] = {}
    for measure, columns in used.items():
        together.setdefault(tuple(columns), []).append(measure)
    return tuple(
        CrossTable(tuple(measures), columns, *filled_of(codes(table, columns)))
        for columns, measures in together.items()
    )


def few_alone(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns without those of most values, dropped one by one until at most a tenth of the rows is alone
    in its class; the last one stays. Of equally many values the later column goes first."""
    kept = list(columns)
    values = {name: values_of(table[name]).different for name in kept}
    while len(kept) > 1 and (classes := classes_of(table, kept)).alone > classes.rows * ALONE:
        kept.remove(max(reversed(kept), key=lambda name: values[name]))
    return tuple(kept)


def few_empty(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns without those of most values, dropped one by one until their cross-table is not sparse; two
    stay. Of equally many values the later column goes first."""
    kept = list(columns)
    values = {name: values_of(table[name]).different for name in kept}
    while len(kept) > 2 and cross_tables(table, {"": kept})[0].is_sparse:
        kept.remove(max(reversed(kept), key=lambda name: values[name]))
    return tuple(kept)


def filled_of(numbers: IntArray) -> tuple[int, int]:
    """The cells of a cross-table, which may be more than any integer type holds, and the occupied ones."""
    widths = [int(column.max(initial=-1)) + 1 for column in numbers.T]
    return prod(widths), group_rows(numbers).count


def codes(table: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """The columns' values as numbers, (n, columns)."""
    found: list[IntArray] = [codes_of(table[name]) for name in columns]
    return np.column_stack(found) if found else np.zeros((len(table), 0), dtype=np.int64)


def codes_of(column: pd.Series) -> IntArray:
    return numbered(column)[0]


def telling_texts(content: bytes, file: str) -> tuple[Telling, ...]:
    """Columns that tell (nearly) everybody apart and are no amounts: names, ids, numbers that count the rows.

    None of a file that cannot be read: its reader tells what is wrong.
    """
    try:
        return tuple(_telling(text_table(content, file)))
    except InvalidUpload:
        return ()


def _telling(table: pa.Table) -> Iterator[Telling]:
    for name, column in text_columns(table):
        values = pc.unique(column)
        if tells_apart(len(values), len(column)) and (runs_through(column) or not is_amounts(column, values)):
            yield Telling(name, len(values), len(column))


def is_amounts(column: pa.Array, values: pa.Array) -> bool:
    return is_numeric(column) or bool(words_among_amounts(values.to_pylist()))


def all_numbers(values: Iterable[str]) -> bool:
    return all(re.match(NUMBER, value) for value in values)


def words_among_amounts(values: Sequence[str]) -> tuple[str, ...]:
    """Of a column's different values those that are no number, if hardly any are: spellings of "unknown"."""
    words = tuple(value for value in values if not re.match(NUMBER, value))
    return words if 0 < len(words) <= FEW_WORDS and len(values) - len(words) > AMOUNTS else ()


def is_numeric(column: pa.Array) -> bool:
    return bool(marks(pc.match_substring_regex(column, NUMBER)).all())


def runs_through(column: pa.Array) -> bool:
    """Whether numbers count the rows, in any order and from any number on: such are no amounts."""
    if not marks(pc.match_substring_regex(column, "^[0-9]{1,15}$")).all():
        return False
    whole = column.cast(pa.int64())
    ends = pc.min_max(whole).as_py()
    distinct: int = len(pc.unique(whole))
    return distinct == len(whole) == int(ends["max"]) - int(ends["min"]) + 1
