"""k-anonymity and its companions, on the anonymized table over its quasi-identifiers.

An equivalence class is the set of rows of Y with equal quasi-identifiers. Reported beside the utility.
"""

from collections.abc import Callable

import numpy as np

from app.scoring.arrays import IntArray
from app.scoring.encoding import Grouping, group_rows
from app.scoring.release import Release, once


def k_min(release: Release) -> float:
    """S1: size of the smallest class, in 1..n'; high is good."""
    return float(_classes(release).sizes.min(initial=release.target.rows))


def k_mean(release: Release) -> float:
    """S2: mean size of the classes, n' / number of classes, in 1..n'; high is good."""
    return release.target.rows / _classes(release).count


def classes(release: Release) -> float:
    """Number of classes, in 1..n'."""
    return float(_classes(release).count)


def unique_share(release: Release) -> float:
    """Share of rows alone in their class (sample uniques), in [0, 1]; 0 is best."""
    return float((_classes(release).sizes == 1).sum()) / release.target.rows


def l_diversity(release: Release) -> float:
    """Distinct l: fewest values a sensitive column has in a class, over classes and columns; high is good."""
    return min(l_diversity_by_column(release).values(), default=0.0)


def l_diversity_by_column(release: Release) -> dict[str, float]:
    """Distinct l of each sensitive column."""
    return once(release.kept, ("l",), lambda: _by_column(release, distinct_values))


def t_closeness(release: Release) -> float:
    """t: how far a class's distribution of a sensitive column is from the whole table's, at most; in [0, 1].

    0 is best. Earth mover's distance with ordered distances (Li, Li, Venkatasubramanian 2007): all columns
    are numeric.
    """
    return max(t_closeness_by_column(release).values(), default=0.0)


def t_closeness_by_column(release: Release) -> dict[str, float]:
    """t of each sensitive column."""
    return once(release.kept, ("t",), lambda: _by_column(release, ordered_emd))


def distinct_values(ranks: IntArray, grouping: Grouping) -> float:
    """Fewest distinct ranks in a group."""
    pairs = np.unique(grouping.group_of * (int(ranks.max()) + 1) + ranks)
    return float(np.bincount(pairs // (int(ranks.max()) + 1)).min())


def ordered_emd(ranks: IntArray, grouping: Grouping) -> float:
    """Largest ordered-distance EMD of a group's ranks from all ranks; ``ranks`` run from 0 without gaps.

    EMD = sum over i < m - 1 of |P(i) - Q(i)| / (m - 1), P and Q the cumulative shares. P is a step function
    with as many steps as the group has rows; between two steps Q only grows, so that the sum over a stretch
    follows from prefix sums. All in integers: shares are multiplied by n * group size.
    """
    rows, most = len(ranks), int(ranks.max())
    if most == 0:
        return 0.0
    below = np.cumsum(np.bincount(ranks))[:-1]
    prefix = np.concatenate(([0], np.cumsum(below)))
    order = np.lexsort((ranks, grouping.group_of))
    sizes = grouping.sizes
    group = np.concatenate((np.arange(grouping.count), grouping.group_of[order]))
    start = np.concatenate((np.zeros(grouping.count, dtype=np.int64), ranks[order]))
    passed = np.concatenate((np.zeros(grouping.count, dtype=np.int64), _places(grouping) + 1))
    by_group = np.lexsort((passed, group))
    group, start, passed = group[by_group], start[by_group], passed[by_group]
    ends = np.append(start[1:], most)
    ends[np.flatnonzero(np.diff(group))] = most
    level, size = passed * rows, sizes[group]
    turn = np.clip(np.searchsorted(below, -(-level // size)), start, ends)
    under = level * (turn - start) - size * (prefix[turn] - prefix[start])
    over = size * (prefix[ends] - prefix[turn]) - level * (ends - turn)
    moved = np.zeros(grouping.count, dtype=np.int64)
    np.add.at(moved, group, under + over)
    return float((moved / (sizes * rows)).max()) / most


def _classes(release: Release) -> Grouping:
    return once(release.kept, ("classes",), lambda: group_rows(release.target.codes, release.target.widths))


def _places(grouping: Grouping) -> IntArray:
    """0, 1, 2, ... within each group, groups in order."""
    starts = np.cumsum(grouping.sizes) - grouping.sizes
    return np.arange(len(grouping.group_of)) - np.repeat(starts, grouping.sizes)


def _by_column(release: Release, measure: Callable[[IntArray, Grouping], float]) -> dict[str, float]:
    grouping, names = _classes(release), release.original.columns.sensitive
    return {name: measure(ranks, grouping) for name, ranks in zip(names, _ranks(release), strict=True)}


def _ranks(release: Release) -> list[IntArray]:
    """Each sensitive column's values as 0, 1, ... in ascending order, equal values alike."""
    columns = release.target.values.T
    return once(release.kept, ("ranks",), lambda: [np.unique(c, return_inverse=True)[1] for c in columns])
