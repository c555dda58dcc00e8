"""The original X and the anonymized table Y of a submission, prepared for measures and attackers.

All that is derived from the original alone is memoized in ``MicrodataOriginal``. Attackers get a
``MicrodataTarget``, which has no field for the answer; measures get ``ScoredRelease`` tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import (
    RowGroups,
    assign_groups,
    factorize,
    group_rows,
)
from anoncup.geometry.nearest_neighbours import NeighbourIndex, build_index
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.linkage.permutation import normalize_source
from anoncup.tracks.memo import Memo, memoize
from anoncup.tracks.microdata import tables
from anoncup.tracks.microdata.columns import require_columns
from anoncup.tracks.parts import Method, ScoredRelease


@dataclass(frozen=True, slots=True)
class MicrodataOriginal:
    """The original and all that is derived from it alone, memoized on first use; picklable.

    Later changes of the caller's table have no effect.
    """

    table: pd.DataFrame
    """X as it was sent: quasi-identifiers are texts, sensitive values finite float64."""
    columns: Columns
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.table.copy())

    @property
    def rows(self) -> int:
        return len(self.table)

    @property
    def vocabularies(self) -> tuple[list[str], ...]:
        """The distinct texts of each quasi-identifier; their positions are their numbers."""
        return self._encode()[0]

    @property
    def codes(self) -> IntArray:
        """The quasi-identifiers as numbers by ``vocabularies``, (n, |Q|)."""
        return self._encode()[1]

    @property
    @memoize
    def values(self) -> FloatArray:
        """The sensitive cells, (n, |S|)."""
        return _get_sensitive_values(self.table, self.columns)

    @memoize
    def _encode(self) -> tuple[tuple[list[str], ...], IntArray]:
        columns = [factorize(self.table[name]) for name in self.columns.quasi_identifiers]
        vocabularies = tuple(distinct for _, distinct in columns)
        return vocabularies, _stack_columns([codes for codes, _ in columns], self.rows)

    def select(self, sensitive: Sequence[str]) -> FloatArray:
        """Return the cells of the named sensitive columns, (n, names)."""
        return self.values[:, find_column_indices(sensitive, self.columns.sensitive)]

    @memoize
    def group_by(self, quasi_identifiers: tuple[str, ...]) -> RowGroups:
        """Return the equivalence classes of X over the named quasi-identifiers; one class without names."""
        column_indices = find_column_indices(quasi_identifiers, self.columns.quasi_identifiers)
        return group_rows(self.codes[:, column_indices])

    @memoize
    def index_classes(self, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]) -> NeighbourIndex:
        """Return a search index over the named sensitive columns for each class of ``group_by``.

        The functions of ``anoncup.geometry.nearest_neighbours`` take a ``NeighbourIndex``.
        """
        return build_index(self.select(sensitive), self.group_by(quasi_identifiers))


@dataclass(frozen=True, slots=True)
class MicrodataTarget:
    """Public part of a submission, for attackers: the original and the anonymized table."""

    original: MicrodataOriginal
    anonymized: pd.DataFrame
    """Y in the order in which it is published, with the columns of X."""
    codes: IntArray
    """The quasi-identifiers by the original's vocabularies; other texts get the next numbers. (n', |Q|)"""
    values: FloatArray
    """The sensitive cells, (n', |S|)."""
    widths: tuple[int, ...]
    """The number of texts of each quasi-identifier that occur in either table."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return len(self.anonymized)

    def select(self, sensitive: Sequence[str]) -> FloatArray:
        """Return the cells of the named sensitive columns, (n', names)."""
        indices = find_column_indices(sensitive, self.original.columns.sensitive)
        return self.values.take(indices, axis=1)

    @memoize
    def match_classes(self, quasi_identifiers: tuple[str, ...]) -> IntArray:
        """Return the class of X with the same quasi-identifiers for each row of Y, (n',), or -1.

        Classes are numbered as by ``original.group_by``.
        """
        column_indices = find_column_indices(quasi_identifiers, self.original.columns.quasi_identifiers)
        return assign_groups(self.original.group_by(quasi_identifiers), self.codes[:, column_indices])


AnonymizedTable = tuple[pd.DataFrame, IntArray]
"""A release, and for each of its rows the row of the original, counted from 0."""
ScoredMicrodata: TypeAlias = ScoredRelease[pd.DataFrame, MicrodataTarget, IntArray]
"""A submission with its secret: row j of Y comes from row ``answer[j]`` of X, counted from 0."""


def build_target(original: MicrodataOriginal, anonymized: pd.DataFrame) -> MicrodataTarget:
    """Return the public part of a submission, encoded with the original's vocabularies."""
    named_vocabularies = zip(original.columns.quasi_identifiers, original.vocabularies, strict=True)
    columns = [factorize(anonymized[name], vocabulary) for name, vocabulary in named_vocabularies]
    return MicrodataTarget(
        original=original,
        anonymized=anonymized,
        codes=_stack_columns([codes for codes, _ in columns], len(anonymized)),
        values=_get_sensitive_values(anonymized, original.columns),
        widths=tuple(len(distinct) for _, distinct in columns),
    )


def build_release(original: MicrodataOriginal, anonymized: pd.DataFrame, source: IntArray) -> ScoredMicrodata:
    """Return a submission with its secret ``source`` (n',), which counts the original's rows from 0."""
    target = build_target(original, anonymized)
    return ScoredRelease(anonymized, target, normalize_source(source))


def _get_sensitive_values(table: pd.DataFrame, columns: Columns) -> FloatArray:
    """Return a writable copy of the sensitive cells, because compiled kernels accept no other arrays."""
    return np.array(table[list(columns.sensitive)].to_numpy(dtype=np.float64), order="C")


def choose_columns(names: Sequence[str] | None, default: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a parameter gives, or the default."""
    return tuple(default if names is None else names)


def find_column_indices(names: Sequence[str], role_columns: Sequence[str]) -> list[int]:
    """Return the positions of the named columns among those of their role."""
    return [role_columns.index(name) for name in names]


def _stack_columns(columns: list[IntArray], rows: int) -> IntArray:
    """Stack columns side by side; each stays contiguous in memory, because rows are grouped by columns."""
    return np.stack(columns).T if columns else np.zeros((rows, 0), dtype=np.int64)


def null_release(original: MicrodataOriginal, seed: int) -> ScoredMicrodata:
    """Permute every column independently, in file order, with PCG64(seed); the secret is the identity."""
    rng = Generator(PCG64(seed))
    table = original.table
    columns = {name: table[name].to_numpy()[rng.permutation(original.rows)] for name in table.columns}
    return build_release(original, pd.DataFrame(columns), np.arange(original.rows))


def group_individuals(original: MicrodataOriginal, names: Sequence[str]) -> IntArray:
    """Return the group of every row by the named quasi-identifiers, (n,)."""
    return original.group_by(tuple(names)).group_ids


def subset(original: MicrodataOriginal, rows: IntArray) -> MicrodataOriginal:
    return MicrodataOriginal(original.table.iloc[rows].reset_index(drop=True), original.columns)


def parse_original(files: Files, rules: Rules) -> tuple[MicrodataOriginal, list[Remark]]:
    table, remarks = tables.parse_original(files["original"], require_columns(rules))
    return MicrodataOriginal(table, require_columns(rules)), remarks


def parse_release(
    files: Files,
    original: MicrodataOriginal,
    rules: Rules,
    own_files: Files,
) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_release(files["anonymized"], original.table, require_columns(rules))


def files_of(table: pd.DataFrame) -> dict[str, bytes]:
    return {"anonymized": write_csv(table)}


def identity_release(original: MicrodataOriginal) -> ScoredMicrodata:
    return build_release(original, original.table, np.arange(original.rows))


def anonymize(
    method: Method[AnonymizedTable],
    original: MicrodataOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> AnonymizedTable:
    return method.apply(original.table, require_columns(rules), rng=rng, **parameters)
