"""Text columns as numbers, and rows with equal numbers as groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from app.scoring.arrays import IntArray

Vocabulary = dict[str, int]

LARGEST_KEY = int(np.iinfo(np.int64).max)


def vocabulary_of(cells: Sequence[str]) -> Vocabulary:
    """Number the distinct texts in order of appearance. Python's own equality: exactly as written."""
    return {text: number for number, text in enumerate(dict.fromkeys(cells))}


def extended(vocabulary: Vocabulary, cells: Sequence[str]) -> Vocabulary:
    """The vocabulary with the texts it lacks numbered on from its end; the given one is left alone."""
    new = (text for text in dict.fromkeys(cells) if text not in vocabulary)
    return vocabulary | {text: len(vocabulary) + place for place, text in enumerate(new)}


def numbered(column: pd.Series) -> tuple[IntArray, list[str]]:
    """A column's texts as numbers in order of appearance, (n,), and the distinct texts."""
    codes, distinct = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), list(distinct)


def renumbered(codes: IntArray, distinct: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """The numbers of :func:`numbered` exchanged for the vocabulary's, (n,)."""
    return encode(distinct, vocabulary)[codes]


def encode(cells: Sequence[str], vocabulary: Vocabulary) -> IntArray:
    """Numbers of the texts, shape (n,)."""
    return np.fromiter(map(vocabulary.__getitem__, cells), dtype=np.int64, count=len(cells))


def texts(table: pd.DataFrame, column: str) -> list[str]:
    """One quasi-identifier column as plain Python texts."""
    cells: list[str] = table[column].tolist()
    return cells


@dataclass(frozen=True, slots=True)
class Step:
    """The part of some columns in numbering groups: the group so far and their codes are digits of one key.

    ``widths`` (columns,) are one more than the columns' largest codes; the new group is the key's place.
    """

    widths: IntArray
    keys: pd.Index

    def places(self, keys: IntArray) -> IntArray:
        # Hashing finds hundreds of thousands of keys several times faster than bisection does.
        return self.keys.get_indexer(pd.Index(keys))

    def found(self, group_of: IntArray, codes: IntArray) -> IntArray:
        """The new groups, -1 where there is none, as there is for a code beyond its width."""
        place = self.places(_keys(group_of, codes, self.widths))
        if (codes.max(axis=0, initial=0) >= self.widths).any():
            place[(codes >= self.widths).any(axis=1)] = -1
        return place


@dataclass(frozen=True)
class Grouping:
    """Rows with equal codes in every chosen column share a group.

    ``sizes`` (groups,), in ascending order of their codes; ``steps`` find the same groups for rows of another
    table, the last of them for these rows' ``keys`` (n,).
    """

    keys: IntArray
    sizes: IntArray
    steps: tuple[Step, ...]

    @cached_property
    def group_of(self) -> IntArray:
        """Every row's group, (n,)."""
        return self.steps[-1].places(self.keys) if self.steps else self.keys

    @property
    def count(self) -> int:
        return len(self.sizes)


def group_rows(codes: IntArray) -> Grouping:
    """Group the rows of an (n, columns) array of codes >= 0; no columns: one group of all rows."""
    rows, widths = len(codes), codes.max(axis=0, initial=0) + 1
    found = Grouping(np.zeros(rows, dtype=np.int64), np.array([rows])[: min(rows, 1)], ())
    for columns in _together(widths.tolist(), rows):
        keys = _keys(found.group_of, codes[:, columns], widths[columns])
        distinct, sizes = np.unique(keys, return_counts=True)
        found = Grouping(keys, sizes, (*found.steps, Step(widths[columns], pd.Index(distinct))))
    return found


def find_groups(grouping: Grouping, codes: IntArray) -> IntArray:
    """The group each row of another table falls in, -1 where there is none; unknown codes are legal."""
    found, done = np.zeros(len(codes), dtype=np.int64), 0
    for step in grouping.steps:
        lost, columns = found < 0, slice(done, done + len(step.widths))
        found = step.found(found, codes[:, columns])
        found[lost], done = -1, columns.stop
    return found


def _together(widths: list[int], rows: int) -> Iterator[slice]:
    """Consecutive columns whose codes fit into one key beside a group of so many rows."""
    first, span = 0, rows
    for place, width in enumerate(widths):
        if span * width > LARGEST_KEY and first < place:
            yield slice(first, place)
            first, span = place, rows
        span *= width
    if widths:
        yield slice(first, len(widths))


def _keys(group_of: IntArray, codes: IntArray, widths: IntArray) -> IntArray:
    spans = np.cumprod(np.append(widths, 1)[::-1])[::-1]
    keys: IntArray = codes @ spans[1:] + group_of * spans[0]
    return keys
