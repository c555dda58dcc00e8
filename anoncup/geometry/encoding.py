"""Encoding of text columns as integers, and grouping of rows with equal codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray

_LARGEST_KEY = int(np.iinfo(np.int64).max)


def factorize(column: pd.Series, known_texts: Sequence[str] = ()) -> tuple[IntArray, list[str]]:
    """Return a column's texts as codes (n,), and the distinct texts, whose positions are the codes.

    The known texts, which are distinct, come first; the others follow in order of appearance.
    """
    positions, distinct = pd.factorize(column)
    codes = {text: code for code, text in enumerate(known_texts)}
    code_of = [codes.setdefault(text, len(codes)) for text in distinct]
    return np.array([*code_of, -1], dtype=np.int64)[positions], list(codes)


def get_column_texts(table: pd.DataFrame, column: str) -> list[str]:
    """Return a quasi-identifier column as a list of Python strings."""
    values: list[str] = table[column].tolist()
    return values


@dataclass(frozen=True)
class RowGroups:
    """Groups of rows that have equal codes in every chosen column, in ascending order of the codes."""

    group_ids: IntArray
    """The group of each row, (n,)."""
    sizes: IntArray
    """The number of rows of each group, (groups,)."""
    codes: IntArray
    """The codes of each row, (n, columns)."""

    @cached_property
    def members(self) -> IntArray:
        """The rows of the first group, then of the next, and so on, (n,)."""
        return np.argsort(self.group_ids, kind="stable")

    @cached_property
    def group_codes(self) -> IntArray:
        """The codes of each group, (groups, columns)."""
        some_row = np.empty(self.count, dtype=np.int64)
        some_row[self.group_ids] = np.arange(len(self.codes))
        return self.codes[some_row]

    @property
    def count(self) -> int:
        return len(self.sizes)


def group_rows(codes: IntArray) -> RowGroups:
    """Group the rows of an array of codes, (n, columns); without columns, all rows form one group."""
    group_ids, keys = pd.factorize(_combine_codes(codes), sort=True)
    return RowGroups(group_ids, np.bincount(group_ids, minlength=len(keys)), codes)


def assign_groups(groups: RowGroups, codes: IntArray) -> IntArray:
    """Return the group of each row of another table, or -1 if it is in none, for example by unknown codes."""
    keys = pd.Index(_combine_codes(np.concatenate((groups.group_codes, codes))))
    return np.asarray(keys[: groups.count].get_indexer(keys[groups.count :]), dtype=np.int64)


def _combine_codes(codes: IntArray) -> IntArray:
    """Return a number for each row, in the order of the rows. Equal numbers are found fast."""
    keys, key_range = np.zeros(len(codes), dtype=np.int64), 1
    for column in np.ascontiguousarray(codes.T):
        digits, least = column, column.min(initial=0)
        base = int(column.max(initial=0)) - int(least) + 1
        if key_range * base > _LARGEST_KEY:
            (keys, distinct_keys), (digits, values) = (
                pd.factorize(part, sort=True) for part in (keys, column)
            )
            key_range, base, least = len(distinct_keys), len(values), 0
        keys *= base
        keys += digits
        keys -= least
        key_range *= base
    return keys
