"""EUC1 and EUC2 beside a dict, a merge, a loop over rows, a matrix product and scipy's tree."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial import cKDTree

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.microdata.attackers.euclidean import euc1, euc2
from anoncup.tracks.microdata.release import Target
from benchmarks.peers.duel import Duel, Goal, no_answer

BLOCK = 512
Cells = npt.NDArray[Any]
Attack = Callable[..., IntArray]


def new(target: Target) -> Target:
    """The same with nothing derived from it yet."""
    return replace(target, kept={})


def all_new(target: Target) -> Target:
    """The same with nothing derived from either table yet."""
    return replace(target, original=replace(target.original, kept={}), kept={})


def some_rows(target: Target, rows: slice) -> Target:
    """Those rows of Y, and all of X."""
    table = target.anonymized.iloc[rows].reset_index(drop=True)
    return replace(target, anonymized=table, codes=target.codes[rows], values=target.values[rows], kept={})


def names(target: Target, columns: int) -> tuple[str, ...]:
    return tuple(target.original.columns.quasi_identifiers[:columns])


def ours_by_codes(target: Target, columns: int) -> IntArray:
    return euc1(all_new(target), quasi_identifiers=names(target, columns))


def ours_prepared(target: Target) -> IntArray:
    return euc1(new(target))


def dict_by_codes(target: Target, columns: int) -> IntArray:
    return _by_dict(target, target.original.codes[:, :columns], target.codes[:, :columns])


def _by_dict(target: Target, before: Cells, after: Cells) -> IntArray:
    """A dict from quasi-identifiers to rows, and a loop over those of each row of Y."""
    rows_of: dict[tuple[object, ...], list[int]] = {}
    for row, key in enumerate(map(tuple, before.tolist())):
        rows_of.setdefault(key, []).append(row)
    points, found = target.original.values.tolist(), []
    for key, query in zip(map(tuple, after.tolist()), target.values.tolist(), strict=True):
        nearest, least = -1, None
        for row in rows_of.get(key, ()):
            total = 0.0
            for x, y in zip(points[row], query, strict=True):
                total += (x - y) * (x - y)
            if least is None or total < least:
                nearest, least = row, total
        found.append(nearest)
    return np.array(found, dtype=np.int64)


def merge_by_codes(target: Target, columns: int) -> IntArray:
    chosen = list(names(target, columns))
    before = pd.DataFrame(target.original.codes[:, :columns], columns=chosen)
    after = pd.DataFrame(target.codes[:, :columns], columns=chosen)
    return _by_merge(target, before, after)


def _by_merge(target: Target, before: pd.DataFrame, after: pd.DataFrame) -> IntArray:
    """All pairs with equal quasi-identifiers, their distances, and the least of each row of Y."""
    left, right = after.assign(j=np.arange(len(after))), before.assign(i=np.arange(len(before)))
    pairs = left.merge(right, on=list(before.columns))
    j, i = pairs["j"].to_numpy(), pairs["i"].to_numpy()
    total = _squares(target.original.values.T[:, i], target.values.T[:, j])
    order = np.lexsort((i, total, j))
    j, i = j[order], i[order]
    first = np.diff(j, prepend=-1) > 0
    found = np.full(len(after), -1, dtype=np.int64)
    found[j[first]] = i[first]
    return found


def _squares(x: FloatArray, y: FloatArray) -> FloatArray:
    """Squared differences added in column order; columns first."""
    with np.errstate(over="ignore"):
        total: FloatArray = ((x - y) ** 2).sum(axis=0)
    return total


def memcpy(target: Target) -> None:
    """Y, 8 bytes a cell."""
    target.codes.copy(order="K")
    target.values.copy(order="K")


def one_shot(target: Target) -> IntArray:
    return euc2(all_new(target))


def prepared(target: Target) -> IntArray:
    return euc2(new(target))


def by_row(target: Target) -> IntArray:
    """Each row of Y beside all of X, as it is mostly written. numpy adds up in an order of its own."""
    points = target.original.values
    with np.errstate(over="ignore"):
        found = [int(((points - query) ** 2).sum(axis=1).argmin()) for query in target.values]
    return np.array(found, dtype=np.int64)


def by_product(target: Target) -> IntArray:
    """|x|^2 - 2 x.y by a matrix product, in blocks of rows."""
    points, found = target.original.values, []
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = (points * points).sum(axis=1)
        for first in range(0, target.rows, BLOCK):
            found.append((lengths - 2 * (target.values[first : first + BLOCK] @ points.T)).argmin(axis=1))
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def by_tree(target: Target) -> IntArray:
    """scipy's kd-tree: of equally near rows any."""
    with np.errstate(over="ignore"):
        return np.asarray(cKDTree(target.original.values).query(target.values)[1], dtype=np.int64)


def euc1_duels(part: int) -> list[Duel]:
    """``part``: of how many rows the dict gets one at 6 quasi-identifiers, where classes are large."""
    codes = "EUC1, {} QIs, of coded columns"
    return [
        _by_columns(codes, "dict", (ours_by_codes, dict_by_codes), 13, Goal(60)),
        _by_columns(codes, "pandas merge", (ours_by_codes, merge_by_codes), 13, Goal(10)),
        _by_columns(codes, "dict", (ours_by_codes, dict_by_codes), 6, Goal(140), part=part, cut=some_rows),
        Duel(
            "EUC1, 13 QIs, X prepared",
            "memcpy of Y",
            ours_prepared,
            memcpy,
            Goal(4, at_most=True),
            differing=no_answer,
        ),
    ]


def _by_columns(
    task: str, peer: str, both: tuple[Attack, Attack], columns: int, goal: Goal, **others: Any
) -> Duel:
    ours, theirs = (partial(each, columns=columns) for each in both)
    return Duel(task.format(columns), peer, ours, theirs, goal, **others)


def euc2_duels(part: int) -> list[Duel]:
    """``part``: of how many rows the loop over rows gets one."""
    loop = partial(Duel, peer="row loop", theirs=by_row, part=part, cut=some_rows)
    return [
        loop("EUC2, none matched, one shot", ours=one_shot, goal=Goal(140)),
        loop("EUC2, none matched, X prepared", ours=prepared),
        Duel("EUC2, none matched, one shot", "float64 GEMM", one_shot, by_product, Goal(9)),
        Duel("EUC2, none matched, X prepared", "float64 GEMM", prepared, by_product),
        Duel("EUC2, none matched, one shot", "cKDTree", one_shot, by_tree),
    ]
