"""Compare EUC1 and EUC2 with a dict, a merge, a loop over rows, a matrix product and scipy's k-d tree."""

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
from anoncup.tracks.microdata.release import MicrodataTarget
from benchmarks.peers.duel import Duel, SpeedGoal

_BLOCK = 512
Cells = npt.NDArray[Any]
Attack = Callable[..., IntArray]


def _copy_without_target_cache(target: MicrodataTarget) -> MicrodataTarget:
    """Return the target without cached values of the release."""
    return replace(target, memo={})


def copy_without_caches(target: MicrodataTarget) -> MicrodataTarget:
    """Return the target without cached values of either table."""
    original = target.original
    encoding = {
        key: value
        for key, value in original.memo.items()
        if key[0].endswith(("Original.values", "Original._encode"))
    }
    return replace(target, original=replace(original, memo=encoding), memo={})


def select_rows(target: MicrodataTarget, rows: slice) -> MicrodataTarget:
    """Return a target with some rows of Y and all of X."""
    table = target.anonymized.iloc[rows].reset_index(drop=True)
    return replace(target, anonymized=table, codes=target.codes[rows], values=target.values[rows], memo={})


def _list_quasi_identifiers(target: MicrodataTarget, columns: int) -> tuple[str, ...]:
    return tuple(target.original.columns.quasi_identifiers[:columns])


def attack_euc1(target: MicrodataTarget, columns: int) -> IntArray:
    return euc1(copy_without_caches(target), quasi_identifiers=_list_quasi_identifiers(target, columns))


def _attack_with_dict(target: MicrodataTarget, columns: int) -> IntArray:
    return _link_with_dict(target, target.original.codes[:, :columns], target.codes[:, :columns])


def _link_with_dict(target: MicrodataTarget, original: Cells, anonymized: Cells) -> IntArray:
    """Link each row of Y by a loop over the rows of X with equal quasi-identifiers, found in a dict."""
    rows_of: dict[tuple[object, ...], list[int]] = {}
    for row, key in enumerate(map(tuple, original.tolist())):
        rows_of.setdefault(key, []).append(row)
    points, rows = target.original.values.tolist(), []
    for key, query in zip(map(tuple, anonymized.tolist()), target.values.tolist(), strict=True):
        nearest, least_distance = -1, None
        for row in rows_of.get(key, ()):
            total = 0.0
            for x, y in zip(points[row], query, strict=True):
                total += (x - y) * (x - y)
            if least_distance is None or total < least_distance:
                nearest, least_distance = row, total
        rows.append(nearest)
    return np.array(rows, dtype=np.int64)


def _attack_with_merge(target: MicrodataTarget, columns: int) -> IntArray:
    columns_used = list(_list_quasi_identifiers(target, columns))
    original = pd.DataFrame(target.original.codes[:, :columns], columns=columns_used)
    anonymized = pd.DataFrame(target.codes[:, :columns], columns=columns_used)
    return _link_with_merge(target, original, anonymized)


def _link_with_merge(target: MicrodataTarget, original: pd.DataFrame, anonymized: pd.DataFrame) -> IntArray:
    """Link each row of Y to the nearest of all pairs with equal quasi-identifiers."""
    anonymized_rows = anonymized.assign(j=np.arange(len(anonymized)))
    original_rows = original.assign(i=np.arange(len(original)))
    pairs = anonymized_rows.merge(original_rows, on=list(original.columns))
    j, i = pairs["j"].to_numpy(), pairs["i"].to_numpy()
    squared_distances = _sum_squared_differences(target.original.values.T[:, i], target.values.T[:, j])
    order = np.lexsort((i, squared_distances, j))
    j, i = j[order], i[order]
    is_nearest = np.diff(j, prepend=-1) > 0
    rows = np.full(len(anonymized), -1, dtype=np.int64)
    rows[j[is_nearest]] = i[is_nearest]
    return rows


def _sum_squared_differences(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the sums of squared differences over the first axis, added in column order."""
    total: FloatArray = ((x - y) ** 2).sum(axis=0)
    return total


def attack_euc2(target: MicrodataTarget) -> IntArray:
    return euc2(copy_without_caches(target))


def _attack_euc2_prepared(target: MicrodataTarget) -> IntArray:
    return euc2(_copy_without_target_cache(target))


def _attack_row_by_row(target: MicrodataTarget) -> IntArray:
    """Link each row of Y by its distances to all rows of X. numpy may sum in another order than we do."""
    points = target.original.values
    rows = [int(((points - query) ** 2).sum(axis=1).argmin()) for query in target.values]
    return np.array(rows, dtype=np.int64)


def _attack_with_product(target: MicrodataTarget) -> IntArray:
    """Link by the smallest |x|^2 - 2 x.y, from a matrix product in blocks of rows."""
    points, blocks = target.original.values, []
    lengths = (points * points).sum(axis=1)
    for first in range(0, target.rows, _BLOCK):
        blocks.append((lengths - 2 * (target.values[first : first + _BLOCK] @ points.T)).argmin(axis=1))
    return np.concatenate([np.zeros(0, dtype=np.int64), *blocks])


def _attack_with_tree(target: MicrodataTarget) -> IntArray:
    """Link by scipy's k-d tree, which returns any of equally near rows."""
    return np.asarray(cKDTree(target.original.values).query(target.values)[1], dtype=np.int64)


def build_euc1_duels(part: int) -> list[Duel]:
    """Return the duels of EUC1.

    With 6 quasi-identifiers, where classes are large, the dict gets one row in ``part``.
    """
    task = "EUC1, {} QIs, of coded columns"
    by_dict, by_merge = (attack_euc1, _attack_with_dict), (attack_euc1, _attack_with_merge)
    return [
        _build_duel(task, "dict", by_dict, 13, SpeedGoal(10)),
        _build_duel(task, "pandas merge", by_merge, 13, SpeedGoal(4)),
        _build_duel(task, "dict", by_dict, 6, SpeedGoal(10), part=part, select_rows=select_rows),
    ]


def _build_duel(
    task: str, peer: str, functions: tuple[Attack, Attack], columns: int, goal: SpeedGoal, **options: Any
) -> Duel:
    our_function, peer_function = (partial(function, columns=columns) for function in functions)
    return Duel(task.format(columns), peer, our_function, peer_function, goal, **options)


def build_euc2_duels(part: int) -> list[Duel]:
    """Return the duels of EUC2. The loop over rows gets one row in ``part``."""
    loop = partial(
        Duel, peer="row loop", peer_function=_attack_row_by_row, part=part, select_rows=select_rows
    )
    return [
        loop("EUC2, none matched, one shot", our_function=attack_euc2, goal=SpeedGoal(60)),
        loop("EUC2, none matched, X prepared", our_function=_attack_euc2_prepared),
        Duel(
            "EUC2, none matched, one shot",
            "float64 GEMM",
            attack_euc2,
            _attack_with_product,
            SpeedGoal(5),
        ),
        Duel(
            "EUC2, none matched, X prepared",
            "float64 GEMM",
            _attack_euc2_prepared,
            _attack_with_product,
        ),
        Duel("EUC2, none matched, one shot", "cKDTree", attack_euc2, _attack_with_tree),
    ]
