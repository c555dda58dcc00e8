"""The two tables of a submission, prepared for measuring and for attacking.

What depends on the original alone is in :class:`PreparedOriginal`, made once and kept; what an attacker sees
is a :class:`Target`, which has no field that could hold the answer; :class:`Release` adds the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import FloatArray, IntArray, columns_at, ordered
from anoncup.geometry.encoding import (
    Grouping,
    Vocabulary,
    extended,
    find_groups,
    group_rows,
    numbered,
    renumbered,
    vocabulary_of,
)
from anoncup.geometry.nearest_neighbours import Index, build_index
from anoncup.rules.settings import Columns
from anoncup.tracks.memo import Memo, once


@dataclass(frozen=True, slots=True)
class PreparedOriginal:
    """The original with everything derived from it alone, made on first use and kept; picklable.

    ``codes`` (n, |Q|) number each quasi-identifier's texts by ``vocabularies``; ``values`` (n, |S|) are the
    sensitive cells.
    """

    table: pd.DataFrame
    columns: Columns
    vocabularies: tuple[Vocabulary, ...]
    codes: IntArray
    values: FloatArray
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return len(self.table)

    def grouping(self, quasi_identifiers: Sequence[str]) -> Grouping:
        """Equivalence classes of X over the named quasi-identifiers; none named: all rows together."""
        places = places_of(quasi_identifiers, self.columns.quasi_identifiers)
        codes, widths = columns_at(self.codes, places), [len(self.vocabularies[place]) for place in places]
        return once(self.kept, ("grouping", *places), lambda: group_rows(codes, widths))

    def index(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Index:
        """Search trees over the named sensitive columns, one for each class of :meth:`grouping`."""
        places = places_of(sensitive, self.columns.sensitive)
        points, key = columns_at(self.values, places), ("index", tuple(quasi_identifiers), tuple(sensitive))
        return once(self.kept, key, lambda: build_index(points, self.grouping(quasi_identifiers)))

    def canonical(self) -> IntArray:
        """Row order by sensitive values: sums taken in it do not depend on the order of the rows."""
        return once(self.kept, ("canonical",), lambda: canonical_order(self.values))

    def order_by(self, key: tuple[str, ...], values: Callable[[], FloatArray]) -> IntArray:
        """Rows in ascending order of ``values``, ties in row order; kept under ``key``."""
        return once(self.kept, ("order", *key), lambda: np.argsort(values(), kind="stable"))


@dataclass(frozen=True, slots=True)
class Target:
    """What an attacker sees: the original and the anonymized table.

    ``codes`` (n', |Q|) go by the original's vocabularies; texts unknown to it are numbered on from their
    ends. ``widths`` (|Q|) counts the texts occurring in either table.
    """

    original: PreparedOriginal
    anonymized: pd.DataFrame
    codes: IntArray
    values: FloatArray
    widths: tuple[int, ...]
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return len(self.anonymized)

    def matches(self, quasi_identifiers: Sequence[str]) -> IntArray:
        """C(y): for each row of Y its class of X, a number of ``original.grouping``, or -1."""
        places = places_of(quasi_identifiers, self.original.columns.quasi_identifiers)
        grouping = self.original.grouping(quasi_identifiers)
        return once(
            self.kept, ("matches", *places), lambda: find_groups(grouping, columns_at(self.codes, places))
        )

    def canonical(self) -> IntArray:
        """As :meth:`PreparedOriginal.canonical`, for Y."""
        return once(self.kept, ("canonical",), lambda: canonical_order(self.values))


@dataclass(frozen=True, slots=True)
class Release:
    """A submission with its secret: row j of Y comes from row ``source[j]`` of X, counted from 0."""

    target: Target
    source: IntArray
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def original(self) -> PreparedOriginal:
        return self.target.original

    @property
    def aligned(self) -> FloatArray:
        """The original's sensitive cells in the order of the anonymized rows, (n', |S|)."""
        aligned: FloatArray = self.original.values[self.source]
        return aligned


def prepare(table: pd.DataFrame, columns: Columns) -> PreparedOriginal:
    """Prepare an original table: texts in its quasi-identifiers, finite float64 in its sensitive columns."""
    cells = [numbered(table[name]) for name in columns.quasi_identifiers]
    return PreparedOriginal(
        table=table,
        columns=columns,
        vocabularies=tuple(vocabulary_of(distinct) for _, distinct in cells),
        codes=_stacked([codes for codes, _ in cells], len(table)),
        values=sensitive_values(table, columns),
    )


def target_of(original: PreparedOriginal, anonymized: pd.DataFrame) -> Target:
    """What is published of a submission, encoded by the original's vocabularies."""
    cells = [numbered(anonymized[name]) for name in original.columns.quasi_identifiers]
    known = original.vocabularies
    vocabularies = [extended(words, distinct) for words, (_, distinct) in zip(known, cells, strict=True)]
    codes = [renumbered(*column, words) for column, words in zip(cells, vocabularies, strict=True)]
    return Target(
        original=original,
        anonymized=anonymized,
        codes=_stacked(codes, len(anonymized)),
        values=sensitive_values(anonymized, original.columns),
        widths=tuple(map(len, vocabularies)),
    )


def release_of(original: PreparedOriginal, anonymized: pd.DataFrame, source: IntArray) -> Release:
    """A submission; ``source`` (n',) counts the original's rows from 0."""
    return Release(target_of(original, anonymized), np.ascontiguousarray(source, dtype=np.int64))


def sensitive_values(table: pd.DataFrame, columns: Columns) -> FloatArray:
    """The sensitive cells, (rows, |S|); those of a parsed table are not copied, and not to be changed."""
    names = list(columns.sensitive)
    if not names or table[names[0]].to_numpy().strides != (8 * len(names),):  # each column by itself
        values = np.empty((len(table), len(names)))
        for place, name in enumerate(names):
            values[:, place] = table[name].to_numpy(dtype=np.float64)
        return values
    values = np.ascontiguousarray(table[names].to_numpy(dtype=np.float64)).view()
    try:  # loops are compiled for memory that can be written
        values.flags.writeable = True
    except ValueError:
        return values.copy()
    return values


def canonical_order(values: FloatArray) -> IntArray:
    """Rows sorted by all their values: equal multisets of rows give equal sequences of values."""
    return ordered(*values.T[::-1]) if values.shape[1] else np.arange(len(values))


def places_of(names: Sequence[str], among: Sequence[str]) -> list[int]:
    """Positions of columns among those of their role."""
    return [among.index(name) for name in names]


def _stacked(columns: list[IntArray], rows: int) -> IntArray:
    """Columns side by side, each of them contiguous: rows are grouped column by column."""
    return np.stack(columns).T if columns else np.zeros((rows, 0), dtype=np.int64)
