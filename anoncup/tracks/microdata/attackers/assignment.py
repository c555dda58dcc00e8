"""Attackers that guess every row of the original X at most once, by the cheapest assignment.

They make use of the fact that all rows of the release Y come from different rows of X. If several assignments
are equally cheap, one is returned. The result depends only on the cells, except that the order of Y decides
between rows that are equal in every column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.assignment import (
    CandidateLists,
    CandidateListSource,
    ListCandidates,
    describe_assignment,
    match_dense,
    match_sparse,
)
from anoncup.geometry.encoding import RowGroups, group_rows
from anoncup.geometry.nearest_neighbours import NeighbourIndex, build_index, find_k_nearest_rows
from anoncup.tracks.linkage.attack_rates import AnnotatedGuess
from anoncup.tracks.linkage.parameters import DENSE_LIMIT
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.nearest import choose_columns
from anoncup.tracks.microdata.distances import (
    NEAREST_COUNT,
    build_gower_index,
    build_whole_gower_index,
    compute_gower_sums,
    find_nearest_by_gower,
    group_by_known_codes,
    search_gower_index,
)
from anoncup.tracks.microdata.release import MicrodataTarget

_ROWS_PER_BLOCK = 32
"""Number of rows of a full matrix that are computed at a time, so that they fit into a processor's cache."""


def gower_assignment(target: MicrodataTarget, *, dense_limit: int = DENSE_LIMIT) -> IntArray | AnnotatedGuess:
    """Assign rows of Y to distinct rows of X with the smallest sum of Gower's distances.

    With more than ``dense_limit`` rows in X, only lists of the nearest rows are searched, and the prediction
    carries a note about it.
    """
    order = _order_by_cells(target)
    if target.original.rows <= dense_limit:
        return _restore_order(order, match_dense(_compute_gower_costs(target, order)))
    return _assign_by_lists(
        target,
        order,
        lambda rows, candidates: _make_gower_lister(target, order[rows], candidates),
        dense_limit,
    )


def euc2_assignment(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    dense_limit: int = DENSE_LIMIT,
) -> IntArray | AnnotatedGuess:
    """Assign rows of Y to distinct rows of X as in EUC2, preferring equal quasi-identifiers.

    The class of a row is the set of rows of X with the same quasi-identifiers. The assignment has the fewest
    rows outside their class, then the smallest sum of distances; rows without a class can be assigned to any
    row. Distances are Euclidean, in raw units. ``dense_limit`` has the same meaning as for
    :func:`gower_assignment`.
    """
    roles, order = target.original.columns, _order_by_cells(target)
    cost_model = _build_cost_model(
        target,
        choose_columns(quasi_identifiers, roles.quasi_identifiers),
        choose_columns(sensitive, roles.sensitive),
    )
    if target.original.rows <= dense_limit:
        return _restore_order(order, match_dense(cost_model.compute_costs(order)))
    return _assign_by_lists(
        target,
        order,
        lambda rows, candidates: _make_class_lister(cost_model, order[rows], candidates),
        dense_limit,
    )


@memoize
def _order_by_cells(target: MicrodataTarget) -> IntArray:
    """Return the rows sorted by their known codes, then by their values; the last column comes first."""
    return np.lexsort((*target.values.T, group_by_known_codes(target)))


def _restore_order(order: IntArray, assigned_rows: IntArray) -> IntArray:
    guess = np.empty_like(assigned_rows)
    guess[order] = assigned_rows
    return guess


def _assign_by_lists(
    target: MicrodataTarget, order: IntArray, candidate_source: CandidateListSource, dense_limit: int
) -> AnnotatedGuess:
    matching = match_sparse(candidate_source, target.rows, target.original.rows)
    note = describe_assignment(matching, rows=target.original.rows, dense_limit=dense_limit)
    return AnnotatedGuess(_restore_order(order, matching.columns), note)


def _compute_gower_costs(target: MicrodataTarget, rows: IntArray) -> FloatArray:
    """Return Gower's sums of the given rows of Y for all rows of X, computed in blocks."""
    blocks = np.array_split(rows, len(rows) // _ROWS_PER_BLOCK + 1)
    return np.vstack([compute_gower_sums(target, block_rows) for block_rows in blocks])


def _make_gower_lister(target: MicrodataTarget, rows: IntArray, candidates: IntArray) -> ListCandidates:
    includes_all = len(candidates) == target.original.rows
    index = (
        build_whole_gower_index(target.original)
        if includes_all
        else build_gower_index(target.original, candidates)
    )

    def find_nearest(positions: IntArray, length: int) -> tuple[IntArray, FloatArray]:
        if not includes_all or length > NEAREST_COUNT:
            return search_gower_index(target, index, positions, length)
        neighbours, sums = find_nearest_by_gower(target)
        return neighbours[positions, :length], sums[positions, :length]

    def list_candidates(positions: IntArray, length: int, previous_length: int) -> CandidateLists:
        neighbours, sums = find_nearest(rows[positions], min(length, len(candidates)))
        unlisted_bounds = np.full(len(positions), np.inf) if length >= len(candidates) else sums[:, -1]
        return CandidateLists(neighbours, sums, unlisted_bounds)

    return list_candidates


@dataclass(frozen=True, slots=True)
class _AssignmentCostModel:
    """Cost model of ``euc2_assignment``: coordinates of X and Y, and classes of equal quasi-identifiers.

    ``class_of`` (n',) is each row's class of X, or -1. The cost of a pair is its distance minus the row's
    smallest one, relative to the ``diameter`` of X, and therefore in [-1, 1]. Outside the class,
    ``class_penalty`` is added, which exceeds all sums of distances. ``build_class_index`` and
    ``build_whole_index`` return search trees of all rows of X, by class and as one tree.
    """

    x: FloatArray
    y: FloatArray
    grouping: RowGroups
    class_of: IntArray
    diameter: float
    class_penalty: float
    build_class_index: Callable[[], NeighbourIndex]
    build_whole_index: Callable[[], NeighbourIndex]

    def compute_costs(self, rows: IntArray) -> FloatArray:
        """Return the costs of the given rows of Y for all rows of X, (rows, n)."""
        squares = np.zeros((len(rows), len(self.x)))
        for values, original_column in zip(self.y[rows].T, self.x.T, strict=True):
            squares += (values[:, None] - original_column) ** 2
        classes = self.class_of[rows, None]
        is_outside_class = (classes >= 0) & (classes != self.grouping.group_ids)
        distances = np.sqrt(squares)
        costs: FloatArray = (
            self.scale_costs(distances, distances.min(axis=1)) + self.class_penalty * is_outside_class
        )
        return costs

    def scale_costs(self, distances: FloatArray, minimum: FloatArray) -> FloatArray:
        """Scale distances to [-1, 1]; infinity stays.

        Rounding can lead to values outside [-1, 1] for rows far away from all of X; these are clipped.
        """
        finite = np.isfinite(distances)
        shares = (np.where(finite, distances, 0.0) - minimum[:, None]) / self.diameter
        return np.where(finite, np.clip(shares, -1.0, 1.0), np.inf)


def _build_cost_model(
    target: MicrodataTarget, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]
) -> _AssignmentCostModel:
    original, x = target.original, target.original.select(sensitive)
    return _AssignmentCostModel(
        x=x,
        y=target.select(sensitive),
        grouping=original.group_by(quasi_identifiers),
        class_of=target.match_classes(quasi_identifiers),
        diameter=float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0,
        class_penalty=2.0 * target.rows + 1.0,
        build_class_index=partial(original.index_classes, quasi_identifiers, sensitive),
        build_whole_index=partial(original.index_classes, (), sensitive),
    )


def _make_class_lister(
    cost_model: _AssignmentCostModel, rows: IntArray, candidates: IntArray
) -> ListCandidates:
    """Return a function that lists the nearest rows of X in the class of each row of Y.

    Rows without a class, or in a class with too few rows of X, get the nearest rows of all classes that have
    rows to spare. All other classes need their rows themselves.
    """
    group_of, class_of = cost_model.grouping.group_ids[candidates], cost_model.class_of[rows]
    original_counts = np.bincount(group_of, minlength=cost_model.grouping.count)
    class_of = np.where((class_of >= 0) & (original_counts[class_of] > 0), class_of, -1)
    release_counts = np.bincount(class_of[class_of >= 0], minlength=cost_model.grouping.count)
    listed_counts = np.where(class_of < 0, 0, original_counts[class_of])
    is_crowded = (class_of >= 0) & (release_counts > original_counts)[class_of]
    is_spare = (release_counts < original_counts)[group_of]
    class_index = _build_class_index(cost_model, candidates)
    spare_index = _build_spare_index(cost_model, candidates[is_spare])
    candidate_positions = np.full(len(cost_model.x) + 1, -1)
    candidate_positions[candidates] = np.arange(len(candidates))

    def list_candidates(positions: IntArray, length: int, previous_length: int) -> CandidateLists:
        has_class, is_exhausted = class_of[positions] >= 0, listed_counts[positions] <= length
        may_leave = ~has_class | (is_crowded[positions] & is_exhausted & (previous_length > 0))
        queries = cost_model.y[rows[positions]]
        own_neighbours, own_distances = _search_selected(
            class_index, queries, has_class, class_of[positions], length
        )
        other_neighbours, other_distances = _search_selected(
            spare_index, queries, may_leave, np.zeros_like(positions), length
        )
        minimum = np.empty(len(positions))
        minimum[has_class] = own_distances[has_class, :1].ravel()
        minimum[~has_class] = other_distances[~has_class, :1].ravel()
        outside_costs = (
            cost_model.scale_costs(other_distances, minimum)
            + np.where(has_class, cost_model.class_penalty, 0.0)[:, None]
        )
        inside_costs = cost_model.scale_costs(own_distances, minimum)
        unlisted_bounds = np.where(is_crowded[positions], cost_model.class_penalty - 1.0, np.inf)
        unlisted_bounds[~is_exhausted] = inside_costs[~is_exhausted, -1:].ravel()
        unlisted_bounds[may_leave] = (
            np.inf if length >= is_spare.sum() else outside_costs[may_leave, -1:].ravel()
        )
        return CandidateLists(
            candidate_positions[np.hstack((own_neighbours, other_neighbours))],
            np.hstack((inside_costs, outside_costs)),
            unlisted_bounds,
        )

    return list_candidates


def _search_selected(
    index: NeighbourIndex, queries: FloatArray, is_selected: BoolArray, groups: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """Search like :func:`find_k_nearest_rows` for the selected queries and return rows and distances.

    Both results have no columns if no query is selected.
    """
    if not is_selected.any():
        return np.empty((len(queries), 0), dtype=np.int64), np.empty((len(queries), 0))
    neighbours, squares = find_k_nearest_rows(index, queries, np.where(is_selected, groups, -1), count)
    return neighbours, np.sqrt(squares)


def _build_class_index(cost_model: _AssignmentCostModel, candidates: IntArray) -> NeighbourIndex:
    """Return the search index of the candidates, with one tree for each class."""
    if len(candidates) == len(cost_model.x):
        return cost_model.build_class_index()
    return build_index(cost_model.x, cost_model.grouping, _mark_rows(cost_model, candidates))


def _build_spare_index(cost_model: _AssignmentCostModel, spare_rows: IntArray) -> NeighbourIndex:
    """Return the search index of ``spare_rows`` of X, with a single tree."""
    if len(spare_rows) == len(cost_model.x):
        return cost_model.build_whole_index()
    return build_index(
        cost_model.x,
        group_rows(np.zeros((len(cost_model.x), 0), dtype=np.int64)),
        _mark_rows(cost_model, spare_rows),
    )


def _mark_rows(cost_model: _AssignmentCostModel, rows: IntArray) -> BoolArray:
    mask = np.zeros(len(cost_model.x), dtype=np.bool_)
    mask[rows] = True
    return mask
