"""Exact counts for the data profile of a table, without sampling."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import factorize, group_rows
from anoncup.tables.csv_text import NUMBER_PATTERN
from anoncup.tables.profile.model import (
    MAX_UNIQUE_SHARE,
    MIN_COMMON,
    ColumnStats,
    CrossTable,
    EquivalenceClassCounts,
)


def count_values(column: pd.Series, min_size: int = MIN_COMMON) -> ColumnStats:
    """Count the values of a column; a value in fewer than ``min_size`` rows is rare."""
    sizes = np.bincount(_encode_column(column))
    rare_sizes = sizes[sizes < min_size]
    return ColumnStats(
        len(column), len(sizes), int(sizes.max(initial=0)), len(rare_sizes), int(rare_sizes.sum())
    )


def count_classes(
    table: pd.DataFrame, columns: Sequence[str], min_size: int = MIN_COMMON
) -> EquivalenceClassCounts:
    """Count the equivalence classes of quasi-identifiers; without columns, all rows form one class."""
    sizes = group_rows(_encode_columns(table, columns)).sizes
    return EquivalenceClassCounts(
        len(table), len(sizes), int((sizes == 1).sum()), int(sizes[sizes < min_size].sum())
    )


def count_cross_tables(
    table: pd.DataFrame, columns_by_measure: Mapping[str, Sequence[str]]
) -> tuple[CrossTable, ...]:
    """Count the cells of each measure's cross-table; measures with the same columns share a table."""
    measures_by_columns: dict[tuple[str, ...], list[str]] = {}
    for measure, columns in columns_by_measure.items():
        measures_by_columns.setdefault(tuple(columns), []).append(measure)
    return tuple(
        CrossTable(tuple(measures), columns, *_count_cells(_encode_columns(table, columns)))
        for columns, measures in measures_by_columns.items()
    )


def drop_identifying_columns(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """Drop the column with the most distinct values until at most 10 % of the rows are unique.

    At least one column is kept. If several have the most values, the last of them is dropped.
    """
    remaining = list(columns)
    distinct_counts = {name: count_values(table[name]).distinct for name in remaining}
    while (
        len(remaining) > 1
        and (classes := count_classes(table, remaining)).unique_rows > classes.rows * MAX_UNIQUE_SHARE
    ):
        remaining.remove(max(reversed(remaining), key=lambda name: distinct_counts[name]))
    return tuple(remaining)


def drop_sparse_columns(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """Drop the column with the most distinct values until the cross-table is not sparse.

    At least two columns are kept. If several have the most values, the last of them is dropped.
    """
    remaining = list(columns)
    distinct_counts = {name: count_values(table[name]).distinct for name in remaining}
    while len(remaining) > 2 and count_cross_tables(table, {"": remaining})[0].is_sparse:
        remaining.remove(max(reversed(remaining), key=lambda name: distinct_counts[name]))
    return tuple(remaining)


def _count_cells(codes: IntArray) -> tuple[int, int]:
    """Return the number of cells of a cross-table, which may exceed 64 bits, and of occupied cells."""
    category_counts = [int(column.max(initial=-1)) + 1 for column in codes.T]
    return prod(category_counts), group_rows(codes).count


def _encode_columns(table: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """Return the columns' values as codes, (n, columns)."""
    code_columns: list[IntArray] = [_encode_column(table[name]) for name in columns]
    return np.column_stack(code_columns) if code_columns else np.zeros((len(table), 0), dtype=np.int64)


def _encode_column(column: pd.Series) -> IntArray:
    return factorize(column)[0]


def are_all_numbers(values: Iterable[str]) -> bool:
    return all(re.match(NUMBER_PATTERN, value) for value in values)
