"""Exact counts of a table before it is given out; nothing is sampled."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows, numbered
from anoncup.tables.csv_text import NUMBER
from anoncup.tables.profile.model import ALONE, FEWEST, Classes, CrossTable, Values


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


def all_numbers(values: Iterable[str]) -> bool:
    return all(re.match(NUMBER, value) for value in values)
