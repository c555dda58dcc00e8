"""Text columns as numbers, and rows with equal numbers as groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.scoring.arrays import IntArray

Vocabulary = dict[str, int]


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
    """One column's part in numbering groups: key = group so far * ``width`` + code; new group = its place."""

    width: int
    keys: IntArray


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows with equal codes in every chosen column share a group.

    ``group_of`` (n,), ``sizes`` (groups,); ``steps`` find the same groups for rows of another table.
    """

    group_of: IntArray
    sizes: IntArray
    steps: tuple[Step, ...]

    @property
    def count(self) -> int:
        return len(self.sizes)


def group_rows(codes: IntArray) -> Grouping:
    """Group the rows of an (n, columns) array of codes >= 0; no columns: one group of all rows."""
    group_of = np.zeros(len(codes), dtype=np.int64)
    steps = []
    for column in codes.T:
        width = int(column.max(initial=0)) + 1
        keys, group_of = np.unique(group_of * width + column, return_inverse=True)
        steps.append(Step(width, keys))
    return Grouping(group_of, np.bincount(group_of), tuple(steps))


def find_groups(grouping: Grouping, codes: IntArray) -> IntArray:
    """The group each row of another table falls in, -1 where there is none; unknown codes are legal."""
    found = np.zeros(len(codes), dtype=np.int64)
    lost = np.zeros(len(codes), dtype=bool)
    for step, column in zip(grouping.steps, codes.T, strict=True):
        # Hashing finds hundreds of thousands of keys several times faster than bisection does.
        found = pd.Index(step.keys).get_indexer(found * step.width + column)
        lost |= (column >= step.width) | (found < 0)
    found[lost] = -1
    return np.asarray(found, dtype=np.int64)
