"""Encoding of text columns as integers, and grouping of rows with equal codes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray

Vocabulary = dict[str, int]


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


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Groups of rows that have equal codes in every chosen column.

    ``group_ids`` (n,) are the groups of the rows. Groups, their ``sizes`` (groups,) and their ``codes``
    (groups, columns) are in ascending order of the codes. ``members`` (n,) are the rows of the first group,
    then of the next, and so on.
    """

    group_ids: IntArray
    sizes: IntArray
    codes: IntArray
    members: IntArray

    @property
    def count(self) -> int:
        return len(self.sizes)


def group_rows(codes: IntArray) -> RowGroups:
    """Group the rows of an array of codes, (n, columns); without columns, all rows form one group."""
    rows, columns = codes.shape
    members = np.lexsort(codes.T[::-1]) if columns else np.arange(rows)
    sorted_codes = codes[members]
    is_first = np.ones(rows, dtype=np.bool_)
    is_first[1:] = (sorted_codes[1:] != sorted_codes[:-1]).any(axis=1)
    group_ids = np.empty(rows, dtype=np.int64)
    group_ids[members] = np.cumsum(is_first) - 1
    sizes = np.diff(np.append(np.flatnonzero(is_first), rows))
    return RowGroups(group_ids, sizes, sorted_codes[is_first], members)


def assign_groups(groups: RowGroups, codes: IntArray) -> IntArray:
    """Return the group of each row of another table, or -1 if it is in none, for example by unknown codes."""
    merged = group_rows(np.concatenate((groups.codes, codes)))
    group_of = np.full(merged.count, -1)
    group_of[merged.group_ids[: groups.count]] = np.arange(groups.count)
    return group_of[merged.group_ids[groups.count :]]
