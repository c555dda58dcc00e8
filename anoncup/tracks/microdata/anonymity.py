"""k-anonymity, l-diversity and t-closeness of the anonymized table Y over its quasi-identifiers.

Y has n' rows. An equivalence class is a set of rows of Y with equal quasi-identifiers. These measures are
only reported and have no weight in the utility.
"""

from collections.abc import Callable

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import RowGroups, group_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.release import ScoredMicrodata


def k_min(release: ScoredMicrodata) -> float:
    """Return S1, the size of the smallest class, in 1..n'; high is good."""
    return float(_group_classes(release).sizes.min(initial=release.target.rows))


def k_mean(release: ScoredMicrodata) -> float:
    """Return S2, the mean size of the classes, n' / number of classes, in 1..n'; high is good."""
    return release.target.rows / _group_classes(release).count


def classes(release: ScoredMicrodata) -> float:
    """Return the number of classes, in 1..n'."""
    return float(_group_classes(release).count)


def unique_share(release: ScoredMicrodata) -> float:
    """Return the share of rows that are alone in their class (sample uniques), in [0, 1]; 0 is best."""
    return float((_group_classes(release).sizes == 1).sum()) / release.target.rows


def l_diversity(release: ScoredMicrodata) -> float:
    """Return distinct l, the fewest values that a sensitive column has in any class; high is good."""
    return min(compute_l_diversity_by_column(release).values(), default=0.0)


@memoize
def compute_l_diversity_by_column(release: ScoredMicrodata) -> dict[str, float]:
    """Return distinct l of each sensitive column."""
    return _measure_by_column(release, _count_fewest_values)


def t_closeness(release: ScoredMicrodata) -> float:
    """Return t, the largest distance between a sensitive column's distributions in a class and in the table.

    t is in [0, 1]; 0 is best. The distance is the earth mover's distance with ordered distances (Li, Li,
    Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007), because all
    sensitive columns are numeric.
    """
    return max(compute_t_closeness_by_column(release).values(), default=0.0)


@memoize
def compute_t_closeness_by_column(release: ScoredMicrodata) -> dict[str, float]:
    """Return t of each sensitive column."""
    return _measure_by_column(release, _find_largest_distance)


@memoize
def _group_classes(release: ScoredMicrodata) -> RowGroups:
    return group_rows(release.target.codes)


def _measure_by_column(
    release: ScoredMicrodata, measure: Callable[[IntArray, IntArray], float]
) -> dict[str, float]:
    sizes, names = _group_classes(release).sizes, enumerate(release.original.columns.sensitive)
    return {name: measure(_rank_by_class(release, column_index), sizes) for column_index, name in names}


@memoize
def _rank_by_class(release: ScoredMicrodata, column_index: int) -> IntArray:
    """Return the ranks of a sensitive column's values, (n',), sorted by class, then rank.

    The m distinct values have the ranks 0 to m - 1.
    """
    ranks = np.unique(release.target.values[:, column_index], return_inverse=True)[1]
    rank_count = int(ranks.max()) + 1
    sorted_ranks: IntArray = np.sort(_group_classes(release).group_ids * rank_count + ranks) % rank_count
    return sorted_ranks


def _count_fewest_values(ranks: IntArray, sizes: IntArray) -> float:
    """Return the fewest distinct ranks in a class; arguments as for ``_find_largest_distance``."""
    first_rows = np.cumsum(sizes) - sizes
    is_new = np.diff(ranks, prepend=-1) != 0
    is_new[first_rows] = True
    return float(np.add.reduceat(is_new, first_rows, dtype=np.int64).min())


def _find_largest_distance(ranks: IntArray, sizes: IntArray) -> float:
    """Return the largest earth mover's distance between the ranks in a class and all ranks.

    ``ranks`` are those of ``_rank_by_class``, in classes of the given ``sizes``. The distance is

        1 / (m - 1) * sum over i < m - 1 of |P(i) - Q(i)|

    where P(i) and Q(i) are the shares of rows with ranks up to i in the class and in the table. From the rank
    of the class's j-th row to that of the next one, P is j / size. In this interval Q ascends and crosses P
    at the quantile j / size of the table, so that the sums on both sides follow from prefix sums of Q.

    All numbers are multiplied by n' and by the size of the class. They are integers, and therefore exact.
    """
    rows, last_rank = len(ranks), int(ranks.max())
    if last_rank == 0:
        return 0.0
    first_rows, size_of = np.cumsum(sizes) - sizes, np.repeat(sizes, sizes)
    j = np.arange(rows) - np.repeat(first_rows, sizes) + 1
    rank_counts = np.bincount(ranks)
    prefix_sums = np.append(0, np.cumsum(np.cumsum(rank_counts)[:-1]))
    next_ranks = np.append(ranks[1:], last_rank)
    next_ranks[first_rows[1:] - 1] = last_rank
    table_ranks = np.repeat(np.arange(last_rank + 1), rank_counts)
    quantiles = table_ranks[-(-j * rows // size_of) - 1]
    crossings = np.clip(quantiles, ranks, next_ranks)
    q_start, q_crossing, q_end = (size_of * prefix_sums[i] for i in (ranks, crossings, next_ranks))
    p_above_q = j * rows * (crossings - ranks) - (q_crossing - q_start)
    q_above_p = (q_end - q_crossing) - j * rows * (next_ranks - crossings)
    before_first_row = sizes * prefix_sums[ranks[first_rows]]  # here P is 0
    totals = before_first_row + np.add.reduceat(p_above_q + q_above_p, first_rows)
    return float((totals / (sizes * rows)).max()) / last_rank
