"""Encoding of text columns as integers, and grouping of rows with equal codes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pandas.arrays import ArrowStringArray

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.kernels import groups as kernels

Vocabulary = dict[str, int]

COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3
"""Whether pandas copies the cells of a shallow copy only when one of the two tables is changed."""

_MAX_DISTINCT_TEXTS = 512
_LARGEST_KEY = int(np.iinfo(np.int64).max)


def build_vocabulary(texts: Sequence[str]) -> Vocabulary:
    """Number the distinct texts in order of appearance."""
    return {text: code for code, text in enumerate(dict.fromkeys(texts))}


def extend_vocabulary(vocabulary: Vocabulary, texts: Sequence[str]) -> Vocabulary:
    """Return a copy of the vocabulary in which missing texts are numbered from its end."""
    new_texts = (text for text in dict.fromkeys(texts) if text not in vocabulary)
    return vocabulary | {text: len(vocabulary) + offset for offset, text in enumerate(new_texts)}


def factorize(column: pd.Series) -> tuple[IntArray, list[str]]:
    """Return a column's texts as codes (n,), numbered in order of appearance, and the distinct texts."""
    result = _factorize_short_texts(column)
    if result is not None:
        return result
    codes, distinct = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), list(distinct)


def _factorize_short_texts(column: pd.Series) -> tuple[IntArray, list[str]] | None:
    """Factorize a column of few distinct, short texts with a fast kernel; None for other columns."""
    arrow_texts = pa.array(column.array) if isinstance(column.array, ArrowStringArray) else None
    if not isinstance(arrow_texts, pa.LargeStringArray) or arrow_texts.null_count:
        return None
    _, offsets, characters = arrow_texts.buffers()
    codes = np.empty(len(arrow_texts), dtype=np.int64)
    text_offsets = _view_readonly(offsets, np.int64)[arrow_texts.offset :]
    slots, (keys, first_rows) = (
        np.full(2 * _MAX_DISTINCT_TEXTS, -1),
        np.empty((2, _MAX_DISTINCT_TEXTS), dtype=np.int64),
    )
    character_bytes = _view_readonly(characters or b"", np.uint8)
    count = kernels.encode_texts(text_offsets, character_bytes, slots, keys, first_rows, codes)
    return (codes, arrow_texts.take(pa.array(first_rows[:count])).to_pylist()) if count >= 0 else None


def _view_readonly(buffer: bytes | pa.Buffer, dtype: type) -> npt.NDArray[Any]:
    """Return a read-only view, because the kernels are compiled for read-only memory."""
    return np.frombuffer(memoryview(buffer).toreadonly(), dtype=dtype)


def translate_codes(codes: IntArray, distinct: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """Translate the codes of :func:`factorize` into those of the vocabulary, (n,)."""
    return encode(distinct, vocabulary)[codes]


def encode(texts: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """Return the codes of the texts, (n,)."""
    return np.fromiter(map(vocabulary.__getitem__, texts), dtype=np.int64, count=len(texts))


def copy_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a copy that later changes of the table do not affect; before pandas 3, all cells are copied."""
    return table.copy(deep=not COPIES_ON_WRITE)


def get_column_texts(table: pd.DataFrame, column: str) -> list[str]:
    """Return a quasi-identifier column as a list of Python strings."""
    values: list[str] = table[column].tolist()
    return values


@dataclass(frozen=True)
class GroupingStep:
    """One step of grouping rows, by the previous group and the codes of some more columns.

    Both are the digits of a key; ``widths`` (columns,) are the bases of the digits, larger than the codes of
    each column. The new group is the position of the row's key in ``keys``, which are ascending.
    """

    widths: IntArray
    keys: IntArray

    @cached_property
    def hash_slots(self) -> IntArray:
        """Hash table of key positions. With many keys, it is several times faster than bisection."""
        hash_slots = np.full(4 << len(self.keys).bit_length(), -1)
        kernels.build_hash_slots(self.keys, hash_slots)
        return hash_slots

    def look_up(self, keys: IntArray) -> IntArray:
        indices = keys.copy()
        kernels.look_up_keys(indices, self.keys, self.hash_slots)
        return indices


@dataclass(frozen=True)
class RowGroups:
    """Groups of rows that have equal codes in every chosen column.

    ``sizes`` (groups,) are in ascending order of the codes. ``steps`` assign rows of another table to the
    same groups. The last step turns ``keys`` (n,) into the groups of these rows.
    """

    keys: IntArray
    sizes: IntArray
    steps: tuple[GroupingStep, ...]

    @cached_property
    def group_ids(self) -> IntArray:
        """The group of every row, (n,)."""
        return self.steps[-1].look_up(self.keys) if self.steps else self.keys

    @cached_property
    def members(self) -> IntArray:
        """The rows of the first group, then of the next, and so on, (n,)."""
        return sort_rows_by_group(self.group_ids, self.sizes)

    @property
    def count(self) -> int:
        return len(self.sizes)


def sort_rows_by_group(group_ids: IntArray, sizes: IntArray) -> IntArray:
    """Return the rows of group 0, ascending, then of group 1, and so on, (n,); ``sizes`` (groups,)."""
    rows = np.empty(len(group_ids), dtype=np.int64)
    kernels.sort_by_group(group_ids, np.cumsum(sizes) - sizes, rows)
    return rows


def group_rows(codes: IntArray, widths: Sequence[int] | None = None) -> RowGroups:
    """Group the rows of an array of codes >= 0, (n, columns); without columns, all rows form one group.

    ``widths`` (columns,) are larger than the codes of each column. They are computed if they are not given.
    """
    columns, rows = np.ascontiguousarray(codes.T), len(codes)
    widths_array = columns.max(axis=1, initial=0) + 1 if widths is None else np.array(widths, dtype=np.int64)
    groups = RowGroups(np.zeros(rows, dtype=np.int64), np.array([rows])[: min(rows, 1)], ())
    for columns_slice in _split_columns(widths_array.tolist(), rows):
        keys = _combine_keys(groups.group_ids, columns[columns_slice], widths_array[columns_slice])
        distinct, sizes = _count_runs(np.sort(keys))
        groups = RowGroups(keys, sizes, (*groups.steps, GroupingStep(widths_array[columns_slice], distinct)))
    return groups


def assign_groups(groups: RowGroups, codes: IntArray) -> IntArray:
    """Return the group of each row of another table, or -1 if it is in none, for example by unknown codes."""
    columns, group_ids, column_end = np.ascontiguousarray(codes.T), np.zeros(len(codes), dtype=np.int64), 0
    for step in groups.steps:
        column_start, column_end = column_end, column_end + len(step.widths)
        group_ids = step.look_up(_combine_keys(group_ids, columns[column_start:column_end], step.widths))
    return group_ids


def _split_columns(widths: list[int], rows: int) -> Iterator[slice]:
    """Yield slices of consecutive columns whose codes and a group number together fit into a 64-bit key."""
    first, key_range = 0, rows
    for column, width in enumerate(widths):
        if key_range * width > _LARGEST_KEY and first < column:
            yield slice(first, column)
            first, key_range = column, rows
        key_range *= width
    if widths:
        yield slice(first, len(widths))


def _combine_keys(group_ids: IntArray, columns: IntArray, widths: IntArray) -> IntArray:
    keys = group_ids.copy()
    kernels.append_digits(columns, widths, keys)
    return keys


def _count_runs(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values of an ascending array and their counts."""
    starts = np.flatnonzero(np.concatenate((values[:1] >= 0, values[1:] != values[:-1])))
    return values[starts], np.diff(starts, append=len(values))
