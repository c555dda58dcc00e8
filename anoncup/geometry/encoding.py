"""Encoding of text columns as integers, and grouping of rows with equal codes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray

Vocabulary = dict[str, int]

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
    codes, distinct = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), list(distinct)


def translate_codes(codes: IntArray, distinct: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """Translate the codes of :func:`factorize` into those of the vocabulary, (n,)."""
    return encode(distinct, vocabulary)[codes]


def encode(texts: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """Return the codes of the texts, (n,)."""
    return np.fromiter(map(vocabulary.__getitem__, texts), dtype=np.int64, count=len(texts))


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
    keys: pd.Index

    def look_up(self, keys: IntArray) -> IntArray:
        """Return the positions of the keys, or -1 for keys of no group."""
        return np.asarray(self.keys.get_indexer(pd.Index(keys)), dtype=np.int64)


@dataclass(frozen=True)
class RowGroups:
    """Groups of rows that have equal codes in every chosen column.

    ``group_ids`` (n,) are the groups of the rows. Groups and their ``sizes`` (groups,) are in ascending order
    of the codes. ``steps`` assign rows of another table to the same groups.
    """

    group_ids: IntArray
    sizes: IntArray
    steps: tuple[GroupingStep, ...]

    @cached_property
    def members(self) -> IntArray:
        """The rows of the first group, then of the next, and so on, (n,)."""
        return np.argsort(self.group_ids, kind="stable")

    @property
    def count(self) -> int:
        return len(self.sizes)


def group_rows(codes: IntArray) -> RowGroups:
    """Group the rows of an array of codes >= 0, (n, columns); without columns, all rows form one group."""
    columns, rows = np.ascontiguousarray(codes.T), len(codes)
    widths = columns.max(axis=1, initial=0) + 1
    group_ids, sizes = np.zeros(rows, dtype=np.int64), np.array([rows])[: min(rows, 1)]
    steps: tuple[GroupingStep, ...] = ()
    for part in _split_columns(widths.tolist(), rows):
        keys = _combine_keys(group_ids, columns[part], widths[part])
        codes, distinct_keys = pd.factorize(keys, sort=True)
        group_ids, sizes = np.asarray(codes, dtype=np.int64), np.bincount(codes, minlength=len(distinct_keys))
        steps = (*steps, GroupingStep(widths[part], pd.Index(distinct_keys)))
    return RowGroups(group_ids, sizes, steps)


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
    """Return the group and the codes of each row as one number, or -1 if a code is not below its base."""
    keys, is_unknown = group_ids.copy(), group_ids < 0
    for codes, width in zip(columns, widths, strict=True):
        is_unknown |= codes >= width
        keys *= width
        keys += codes
    keys[is_unknown] = -1
    return keys
