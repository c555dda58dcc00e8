"""Text columns as numbers, and rows with equal numbers as groups."""

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

FEW_TEXTS = 512
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
    short = _numbered_short(column)
    if short is not None:
        return short
    codes, distinct = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), list(distinct)


def _numbered_short(column: pd.Series) -> tuple[IntArray, list[str]] | None:
    """The same several times faster, if Arrow holds a few distinct texts, all of them short; else None."""
    texts = pa.array(column.array) if isinstance(column.array, ArrowStringArray) else None
    if not isinstance(texts, pa.LargeStringArray) or texts.null_count:
        return None
    _, bounds, letters = texts.buffers()
    codes, starts = (
        np.empty(len(texts), dtype=np.int64),
        _fixed(bounds, np.int64)[texts.offset :],
    )
    slots, (keys, firsts) = np.full(2 * FEW_TEXTS, -1), np.empty((2, FEW_TEXTS), dtype=np.int64)
    content = _fixed(letters or b"", np.uint8)
    count = kernels.number_texts(starts, content, slots, keys, firsts, codes)
    return (codes, texts.take(pa.array(firsts[:count])).to_pylist()) if count >= 0 else None


def _fixed(content: bytes | pa.Buffer, kind: type) -> npt.NDArray[Any]:
    """Loops are compiled for memory that cannot be written; some of Arrow's could be."""
    return np.frombuffer(memoryview(content).toreadonly(), dtype=kind)


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


@dataclass(frozen=True)
class Step:
    """The part of some columns in numbering groups: the group so far and their codes are digits of one key.

    ``widths`` (columns,) are larger than the columns' codes; the new group is the key's place among ``keys``,
    which ascend.
    """

    widths: IntArray
    keys: IntArray

    @cached_property
    def slots(self) -> IntArray:
        """Where hashing finds the keys' places: several times faster than bisection, of many keys."""
        slots = np.full(4 << len(self.keys).bit_length(), -1)
        kernels.plant(self.keys, slots)
        return slots

    def places(self, keys: IntArray) -> IntArray:
        found = keys.copy()
        kernels.find(found, self.keys, self.slots)
        return found


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

    @cached_property
    def members(self) -> IntArray:
        """The rows of the first group, then of the next, and so on, (n,)."""
        return rows_by_group(self.group_of, self.sizes)

    @property
    def count(self) -> int:
        return len(self.sizes)


def rows_by_group(group_of: IntArray, sizes: IntArray) -> IntArray:
    """The rows of group 0, ascending, then of group 1, and so on, (n,); ``sizes`` (groups,)."""
    rows = np.empty(len(group_of), dtype=np.int64)
    kernels.place_by_group(group_of, np.cumsum(sizes) - sizes, rows)
    return rows


def group_rows(codes: IntArray, widths: Sequence[int] | None = None) -> Grouping:
    """Group the rows of an (n, columns) array of codes >= 0; no columns: one group of all rows.

    ``widths`` (columns,), if known: larger than the columns' codes.
    """
    columns, rows = np.ascontiguousarray(codes.T), len(codes)
    spans = columns.max(axis=1, initial=0) + 1 if widths is None else np.array(widths, dtype=np.int64)
    found = Grouping(np.zeros(rows, dtype=np.int64), np.array([rows])[: min(rows, 1)], ())
    for some in _together(spans.tolist(), rows):
        keys = _keys(found.group_of, columns[some], spans[some])
        distinct, sizes = _runs(np.sort(keys))
        found = Grouping(keys, sizes, (*found.steps, Step(spans[some], distinct)))
    return found


def find_groups(grouping: Grouping, codes: IntArray) -> IntArray:
    """The group each row of another table falls in, -1 where there is none; unknown codes are legal."""
    columns, found, done = np.ascontiguousarray(codes.T), np.zeros(len(codes), dtype=np.int64), 0
    for step in grouping.steps:
        first, done = done, done + len(step.widths)
        found = step.places(_keys(found, columns[first:done], step.widths))
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


def _keys(group_of: IntArray, columns: IntArray, widths: IntArray) -> IntArray:
    keys = group_of.copy()
    kernels.join_digits(columns, widths, keys)
    return keys


def _runs(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct ones of ascending numbers, and how often each occurs."""
    starts = np.flatnonzero(np.concatenate((ordered[:1] >= 0, ordered[1:] != ordered[:-1])))
    return ordered[starts], np.diff(starts, append=len(ordered))
