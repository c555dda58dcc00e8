"""Attackers that give no row of X away twice: the cheapest assignment instead of each row's nearest.

They know the most: that every row of Y comes from another row of X. Among equally cheap assignments one is
taken; which one depends on the rows' cells, and on the order of Y only between rows equal in every column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray, ordered
from anoncup.geometry.assignment import Lister, ListRows, Lists, match_dense, match_listed, note_of
from anoncup.geometry.encoding import Grouping, group_rows
from anoncup.geometry.nearest_neighbours import Index, build_index, several_nearest
from anoncup.tracks.linkage.attack_rates import Noted
from anoncup.tracks.linkage.parameters import DENSE_LIMIT
from anoncup.tracks.memo import kept_of_few, once
from anoncup.tracks.microdata.distances import (
    NEAREST,
    gower_index,
    gower_nearest,
    gower_sums,
    known_classes,
    nearest_by_gower,
    unit_values,
    whole_gower_index,
)
from anoncup.tracks.microdata.release import Target

BLOCK = 32
"""Rows of a full matrix computed at a time."""


def gower_assignment(target: Target, *, dense_limit: int = DENSE_LIMIT) -> IntArray | Noted:
    """Rows of Y to distinct rows of X at the least sum of Gower's distances.

    With more than ``dense_limit`` rows in X by lists of the nearest rows; the answer then says so.
    """
    order = _order_by_cells(target)
    if target.original.rows <= dense_limit:
        return _in_place(order, match_dense(_gower_costs(target, order)))
    return _noted(target, order, lambda rows, among: _gower_lists(target, order[rows], among), dense_limit)


def euc2_assignment(
    target: Target,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    dense_limit: int = DENSE_LIMIT,
) -> IntArray | Noted:
    """EUC2 with distinct rows of X: fewest rows outside their class, then the least sum of distances.

    Who has a class in X (rows with the same quasi-identifiers) leaves it only if the class is exhausted; who
    has none is free. Distances are Euclidean, in raw units. ``dense_limit`` as for :func:`gower_assignment`.
    """
    roles, order = target.original.columns, _order_by_cells(target)
    scene = _scene(
        target,
        tuple(roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers),
        tuple(roles.sensitive if sensitive is None else sensitive),
    )
    if target.original.rows <= dense_limit:
        return _in_place(order, match_dense(scene.costs(order)))
    return _noted(target, order, lambda rows, among: _class_lists(scene, order[rows], among), dense_limit)


def _order_by_cells(target: Target) -> IntArray:
    """Rows by the last known code, then the one before, and so on; then by the last value, and so on."""

    def order() -> IntArray:
        return ordered(known_classes(target), *target.values.T[::-1])

    return once(target.kept, ("order by cells",), order)


def _in_place(order: IntArray, column_of: IntArray) -> IntArray:
    guess = np.empty_like(column_of)
    guess[order] = column_of
    return guess


def _noted(target: Target, order: IntArray, lister: Lister, dense_limit: int) -> Noted:
    matching = match_listed(lister, target.rows, target.original.rows)
    note = note_of(matching, rows=target.original.rows, dense_limit=dense_limit)
    return Noted(_in_place(order, matching.column_of), note)


def _gower_costs(target: Target, rows: IntArray) -> FloatArray:
    """A few rows at a time, which fit a processor's cache."""
    parts = np.array_split(rows, len(rows) // BLOCK + 1)
    return np.vstack([gower_sums(target, part) for part in parts])


def _gower_lists(target: Target, rows: IntArray, among: IntArray) -> ListRows:
    whole = len(among) == target.original.rows
    index = whole_gower_index(target.original) if whole else gower_index(target.original, among)

    def nearest(some: IntArray, length: int) -> tuple[IntArray, FloatArray]:
        if not whole or length > NEAREST:
            return gower_nearest(target, index, some, length)
        found, sums = nearest_by_gower(target)
        return found[some, :length], sums[some, :length]

    def listed(some: IntArray, length: int, before: int) -> Lists:  # noqa: ARG001
        found, sums = nearest(rows[some], min(length, len(among)))
        beyond = np.full(len(some), np.inf) if length >= len(among) else sums[:, -1]
        return Lists(found, sums, beyond)

    return listed


@dataclass(frozen=True, slots=True)
class _Scene:
    """What euc2_assignment's costs come from: coordinates of X and Y, and classes of equal quasi-identifiers.

    ``class_of`` (n',) numbers C(y), -1 = none. Costs are distances as shares of X's ``diameter`` over the
    row's least, so in [-1, 1], plus ``toll`` outside the class, which no distances can make up for.
    ``by_class`` and ``together`` make the search trees of all rows of X.
    """

    x: FloatArray
    y: FloatArray
    grouping: Grouping
    class_of: IntArray
    diameter: float
    toll: float
    by_class: Callable[[], Index]
    together: Callable[[], Index]

    def costs(self, rows: IntArray) -> FloatArray:
        """Of the given rows of Y in all rows of X, (rows, n)."""
        squares = np.zeros((len(rows), len(self.x)))
        for values, others in zip(self.y[rows].T, self.x.T, strict=True):
            squares += (values[:, None] - others) ** 2
        classes = self.class_of[rows, None]
        away = (classes >= 0) & (classes != self.grouping.group_of)
        distances = np.sqrt(squares)
        costs: FloatArray = self.shares(distances, distances.min(axis=1)) + self.toll * away
        return costs

    def shares(self, distances: FloatArray, least: FloatArray) -> FloatArray:
        """Beyond [-1, 1] is only the rounding of a row that is far from all of X. Infinity stays."""
        finite = np.isfinite(distances)
        shares = (np.where(finite, distances, 0.0) - least[:, None]) / self.diameter
        return np.where(finite, np.clip(shares, -1.0, 1.0), np.inf)


def _scene(target: Target, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]) -> _Scene:
    (x, y), original = unit_values(target, sensitive), target.original

    def trees(names: tuple[str, ...]) -> Callable[[], Index]:
        key = "index in one unit", names, sensitive
        return lambda: kept_of_few(
            original.kept, key, original.rows, lambda: build_index(x, original.grouping(names))
        )

    return _Scene(
        x=x,
        y=y,
        grouping=original.grouping(quasi_identifiers),
        class_of=target.matches(quasi_identifiers),
        diameter=float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0,
        toll=2.0 * target.rows + 1.0,
        by_class=trees(quasi_identifiers),
        together=trees(()),
    )


def _class_lists(scene: _Scene, rows: IntArray, among: IntArray) -> ListRows:
    """Lists for some rows of Y over some rows of X: the nearest of the row's class.

    A row without a class, or crowded out of it, has the nearest of the classes that more rows of X than of Y
    are in; the rows of the other classes are all needed there.
    """
    group_of, class_of = scene.grouping.group_of[among], scene.class_of[rows]
    sizes = np.bincount(group_of, minlength=scene.grouping.count)
    class_of = np.where((class_of >= 0) & (sizes[class_of] > 0), class_of, -1)
    members = np.bincount(class_of[class_of >= 0], minlength=scene.grouping.count)
    places = np.where(class_of < 0, 0, sizes[class_of])
    crowded = (class_of >= 0) & (members > sizes)[class_of]
    is_open = (members < sizes)[group_of]
    by_class, of_open = _class_trees(scene, among), _open_tree(scene, among[is_open])
    places_of_rows = np.full(len(scene.x) + 1, -1)
    places_of_rows[among] = np.arange(len(among))

    def listed(some: IntArray, length: int, before: int) -> Lists:
        inside, full = class_of[some] >= 0, places[some] <= length
        leaving = ~inside | (crowded[some] & full & (before > 0))
        queries = scene.y[rows[some]]
        own, near = _nearest_of_some(by_class, queries, inside, class_of[some], length)
        other, far = _nearest_of_some(of_open, queries, leaving, np.zeros_like(some), length)
        least = np.empty(len(some))
        least[inside], least[~inside] = near[inside, :1].ravel(), far[~inside, :1].ravel()
        outside = scene.shares(far, least) + np.where(inside, scene.toll, 0.0)[:, None]
        inner = scene.shares(near, least)
        beyond = np.where(crowded[some], scene.toll - 1.0, np.inf)
        beyond[~full] = inner[~full, -1:].ravel()
        beyond[leaving] = np.inf if length >= is_open.sum() else outside[leaving, -1:].ravel()
        return Lists(places_of_rows[np.hstack((own, other))], np.hstack((inner, outside)), beyond)

    return listed


def _nearest_of_some(
    index: Index, queries: FloatArray, wanted: BoolArray, groups: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """As :func:`several_nearest`, but distances; only for those wanted, and where nobody is, no columns."""
    if not wanted.any():
        return np.empty((len(queries), 0), dtype=np.int64), np.empty((len(queries), 0))
    found, squares = several_nearest(index, queries, np.where(wanted, groups, -1), count)
    return found, np.sqrt(squares)


def _class_trees(scene: _Scene, among: IntArray) -> Index:
    """Trees over the classes' rows among some of X."""
    if len(among) == len(scene.x):
        return scene.by_class()
    return build_index(scene.x, scene.grouping, _marked(scene, among))


def _open_tree(scene: _Scene, open_rows: IntArray) -> Index:
    """One tree over some rows of X."""
    if len(open_rows) == len(scene.x):
        return scene.together()
    return build_index(
        scene.x, group_rows(np.zeros((len(scene.x), 0), dtype=np.int64)), _marked(scene, open_rows)
    )


def _marked(scene: _Scene, rows: IntArray) -> BoolArray:
    marked = np.zeros(len(scene.x), dtype=np.bool_)
    marked[rows] = True
    return marked
