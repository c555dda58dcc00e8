"""Attackers that guess every row of the original X at most once, by the cheapest assignment.

They make use of the fact that all rows of the release Y come from different rows of X. If several assignments
are equally cheap, one is returned. The result depends only on the cells, except that the order of Y decides
between rows that are equal in every column.

X has n rows and Y n' rows. C(y) is the set of rows of X with the quasi-identifiers of row y of Y.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import (
    LIST_LENGTHS,
    CandidateLists,
    ListCandidates,
    describe_assignment,
    match_dense,
    match_sparse,
)
from anoncup.geometry.nearest_neighbours import NeighbourIndex, build_index, find_k_nearest_rows
from anoncup.tracks.linkage.attack_rates import AnnotatedGuess
from anoncup.tracks.linkage.question import DENSE_LIMIT
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.euclidean import list_nearest
from anoncup.tracks.microdata.distances import (
    NEAREST_COUNT,
    compute_gower_sums,
    find_nearest_by_gower,
    group_by_known_codes,
    search_by_gower,
)
from anoncup.tracks.microdata.release import MicrodataTarget, choose_columns


def gower_assignment(target: MicrodataTarget, *, dense_limit: int = DENSE_LIMIT) -> IntArray | AnnotatedGuess:
    """Assign rows of Y to distinct rows of X with the smallest sum of Gower's distances, (n',).

    With more than ``dense_limit`` rows in X, only lists of the nearest rows are searched, and the guess
    carries a note about it.
    """
    return _assign_distinct(target, _GowerCosts(target), dense_limit)


def euc2_assignment(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    dense_limit: int = DENSE_LIMIT,
) -> IntArray | AnnotatedGuess:
    """Assign rows of Y to distinct rows of X as in EUC2, preferring equal quasi-identifiers, (n',).

    The assignment has the fewest rows outside of C(y), then the smallest sum of distances; rows whose C(y) is
    empty can be assigned to any row. Distances are Euclidean, in raw units. ``dense_limit`` has the same
    meaning as for ``gower_assignment``.
    """
    roles = target.original.columns
    names = choose_columns(quasi_identifiers, roles.quasi_identifiers)
    return _assign_distinct(
        target, _ClassCosts(target, names, choose_columns(sensitive, roles.sensitive)), dense_limit
    )


class _CostModel(Protocol):
    """Costs of assigning a row of Y to a row of X."""

    def compute(self, rows: IntArray) -> FloatArray:
        """Return the costs of the given rows of Y for all rows of X, (rows, n)."""
        ...

    def make_lister(self, rows: IntArray, candidates: IntArray) -> ListCandidates:
        """Return the function that lists the cheapest candidates, rows of X, for these rows of Y."""
        ...


def _assign_distinct(
    target: MicrodataTarget, costs: _CostModel, dense_limit: int
) -> IntArray | AnnotatedGuess:
    order, original_rows = _order_by_cells(target), target.original.rows
    if original_rows <= dense_limit:
        guess = np.empty(target.rows, dtype=np.int64)
        guess[order] = match_dense(costs.compute(order))
        return guess
    assignment = match_sparse(costs.make_lister, target.rows, original_rows, order=order)
    note = describe_assignment(assignment, rows=original_rows, dense_limit=dense_limit)
    return AnnotatedGuess(assignment.columns, note)


@memoize
def _order_by_cells(target: MicrodataTarget) -> IntArray:
    """Return the rows sorted by their known codes, then by their values; the last column comes first."""
    keys = (*target.values.T, group_by_known_codes(target))  # the last key comes first
    order = np.lexsort(keys[-2:])
    # Two keys suffice for most rows, and sorting by all of them takes several times as long.
    repeats = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys[-2:]])
    is_tied = np.append(repeats, False) | np.append(False, repeats)
    rows = np.sort(order[is_tied])
    order[is_tied] = rows[np.lexsort([key[rows] for key in keys])]
    return order


@dataclass(frozen=True, slots=True)
class _GowerCosts:
    """The cost is Gower's sum."""

    target: MicrodataTarget

    def compute(self, rows: IntArray) -> FloatArray:
        return compute_gower_sums(self.target, rows)

    def make_lister(self, rows: IntArray, candidates: IntArray) -> ListCandidates:  # noqa: ARG002
        includes_all = len(candidates) == self.target.original.rows

        def find_nearest(rows: IntArray, length: int) -> tuple[IntArray, FloatArray]:
            if includes_all and length <= NEAREST_COUNT:
                neighbours, sums = find_nearest_by_gower(self.target)
                return neighbours[rows, :length], sums[rows, :length]
            return search_by_gower(
                self.target, rows, count=length, candidates=None if includes_all else candidates
            )

        def list_candidates(rows: IntArray, length: int) -> CandidateLists:
            neighbours, sums = find_nearest(rows, length)
            is_complete = length >= len(candidates)
            return CandidateLists(
                neighbours, sums, np.full(len(rows), np.inf) if is_complete else sums[:, -1]
            )

        return list_candidates


@dataclass(frozen=True)
class _ClassCosts:
    """The cost is the distance minus the row's smallest one, relative to the diameter of X, within [-1, 1].

    Outside of C(y), unless it is empty, ``class_penalty`` is added, which exceeds all sums of distances.
    """

    target: MicrodataTarget
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]

    @cached_property
    def queries(self) -> FloatArray:
        return self.target.select(self.sensitive)

    @cached_property
    def whole_index(self) -> NeighbourIndex:
        return self.target.original.index_classes((), self.sensitive)

    @property
    def class_penalty(self) -> float:
        return 2.0 * self.target.rows + 1.0

    @cached_property
    def diameter(self) -> float:
        extent = np.ptp(self.target.original.select(self.sensitive), axis=0)
        return float(np.linalg.norm(extent)) or 1.0

    def compute(self, rows: IntArray) -> FloatArray:
        original, y = self.target.original, self.queries[rows]
        squares = np.zeros((len(rows), original.rows))
        for y_column, x_column in zip(y.T, original.select(self.sensitive).T, strict=True):
            squares += (y_column[:, np.newaxis] - x_column) ** 2
        distances, classes = (
            np.sqrt(squares),
            self.target.match_classes(self.quasi_identifiers)[rows, np.newaxis],
        )
        is_outside = (classes >= 0) & (classes != original.group_by(self.quasi_identifiers).group_ids)
        costs: FloatArray = self.scale(distances, distances.min(axis=1)) + self.class_penalty * is_outside
        return costs

    def scale(self, distances: FloatArray, minimum: FloatArray) -> FloatArray:
        """Scale distances (rows, columns) to [-1, 1], given each row's smallest one; infinity stays.

        Rounding can lead to values outside [-1, 1] for rows far away from all of X; these are clipped.
        """
        is_finite = np.isfinite(distances)
        shares = (np.where(is_finite, distances, 0.0) - minimum[:, np.newaxis]) / self.diameter
        return np.where(is_finite, np.clip(shares, -1.0, 1.0), np.inf)

    def make_lister(self, rows: IntArray, candidates: IntArray) -> ListCandidates:
        """List the nearest candidates in C(y).

        Rows for which C(y) has no candidate, and rows in crowded classes, those with more rows of Y than
        candidates, get the nearest candidates of all classes that have some to spare. All other classes need
        theirs themselves.
        """
        classes = self.target.original.group_by(self.quasi_identifiers)
        candidate_counts = np.bincount(classes.group_ids[candidates], minlength=classes.count)
        class_of = self.target.match_classes(self.quasi_identifiers)
        class_of = np.where((class_of >= 0) & (candidate_counts[class_of] > 0), class_of, -1)
        row_counts = np.bincount(class_of[rows][class_of[rows] >= 0], minlength=classes.count)
        is_spare = (row_counts < candidate_counts)[classes.group_ids[candidates]]
        class_index = self._index(candidates, self.quasi_identifiers)
        spare_index = self._index(candidates[is_spare], ())

        def list_candidates(rows: IntArray, length: int) -> CandidateLists:
            own_class, has_class = class_of[rows], class_of[rows] >= 0
            is_crowded = has_class & (row_counts > candidate_counts)[own_class]
            is_exhausted = ~has_class | (candidate_counts[own_class] <= length)
            may_leave = ~has_class | (is_crowded & is_exhausted & (length > LIST_LENGTHS[0]))
            inside_rows, inside = self._search(class_index, rows, own_class, length)
            outside_rows, outside = self._search(spare_index, rows, np.where(may_leave, 0, -1), length)
            minimum = np.where(has_class, inside[:, 0], outside[:, 0])
            inside, outside = self.scale(inside, minimum), self.scale(outside, minimum)
            outside[has_class] += self.class_penalty
            unlisted_bounds = np.select(
                [may_leave, ~is_exhausted, is_crowded],
                [
                    np.inf if length >= is_spare.sum() else outside[:, -1],
                    inside[:, -1],
                    self.class_penalty - 1.0,
                ],
                default=np.inf,
            )
            return CandidateLists(
                np.hstack((inside_rows, outside_rows)), np.hstack((inside, outside)), unlisted_bounds
            )

        return list_candidates

    def _index(self, rows: IntArray, quasi_identifiers: tuple[str, ...]) -> NeighbourIndex:
        """Return the search index of the given rows of X, by classes of equal quasi-identifiers."""
        original = self.target.original
        if len(rows) == original.rows:
            return original.index_classes(quasi_identifiers, self.sensitive)
        is_included = np.zeros(original.rows, dtype=np.bool_)
        is_included[rows] = True
        return build_index(original.select(self.sensitive), original.group_by(quasi_identifiers), is_included)

    def _search(
        self, index: NeighbourIndex, rows: IntArray, groups: IntArray, count: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the nearest rows of the given groups of X for each row of Y, and their distances."""
        if index is self.whole_index and count == NEAREST_COUNT and (groups == 0).all():
            neighbours, squares = list_nearest(self.target, self.sensitive)
            return neighbours[rows], np.sqrt(squares[rows])
        neighbours, squares = find_k_nearest_rows(index, self.queries[rows], groups, count)
        return neighbours, np.sqrt(squares)
