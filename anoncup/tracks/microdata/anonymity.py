"""k-anonymity, l-diversity and t-closeness of the anonymized table Y over its quasi-identifiers.

An equivalence class is a set of rows of Y with equal quasi-identifiers. These measures are only reported and
have no weight in the utility.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import RowGroups, group_rows
from anoncup.tracks.memo import memoize, memoize_if_small
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
    return _measure_by_column(release, _count_min_distinct)


def t_closeness(release: ScoredMicrodata) -> float:
    """Return t, the largest distance between a sensitive column's distributions in a class and in the table.

    t is in [0, 1]; 0 is best. The distance is the earth mover's distance with ordered distances (Li, Li,
    Venkatasubramanian 2007), because all sensitive columns are numeric.
    """
    return max(compute_t_closeness_by_column(release).values(), default=0.0)


@memoize
def compute_t_closeness_by_column(release: ScoredMicrodata) -> dict[str, float]:
    """Return t of each sensitive column."""
    return _measure_by_column(release, _max_ordered_emd)


@dataclass(frozen=True, slots=True)
class StepFunctions:
    """Cumulative distribution functions of all groups, with a step at the start and at each row of a group.

    Groups start at the rows ``first_rows`` (groups,) and at the steps ``first_steps`` (groups,); ``is_row``
    (steps,) is true for all other steps. For each step, ``sizes`` (steps,) is the size of its group and
    ``rows_so_far`` (steps,) the number of the group's rows up to the step. ``share_index`` (steps,) numbers
    the distinct pairs of these two. ``shares`` (pairs,) are rows_so_far / size times the number of all rows,
    rounded up.
    """

    first_rows: IntArray
    first_steps: IntArray
    is_row: BoolArray
    sizes: IntArray
    rows_so_far: IntArray
    share_index: IntArray
    shares: IntArray


def _count_min_distinct(ranks: IntArray, steps: StepFunctions) -> float:
    """Return the fewest distinct ranks in a group; ``ranks`` as for :func:`_max_ordered_emd`."""
    is_new = np.ones(len(ranks), dtype=np.int64)
    is_new[1:] = ranks[1:] != ranks[:-1]
    is_new[steps.first_rows] = 1
    return float(_sum_segments(is_new, steps.first_rows).min())


def _build_steps(sizes: IntArray) -> StepFunctions:
    """Build the step functions of groups with the given numbers of rows."""
    rows, first_rows = int(sizes.sum()), np.cumsum(sizes) - sizes
    first_steps = first_rows + np.arange(len(sizes))
    is_row = np.ones(rows + len(sizes), dtype=bool)
    is_row[first_steps] = False
    rows_so_far = np.arange(len(is_row)) - np.repeat(first_steps, sizes + 1)
    distinct_sizes, size_index = np.unique(sizes, return_inverse=True)
    first_numerators = np.cumsum(distinct_sizes + 1) - distinct_sizes - 1
    numerators = np.arange((distinct_sizes + 1).sum()) - np.repeat(first_numerators, distinct_sizes + 1)
    return StepFunctions(
        first_rows=first_rows,
        first_steps=first_steps,
        is_row=is_row,
        sizes=np.repeat(sizes, sizes + 1),
        rows_so_far=rows_so_far,
        share_index=rows_so_far + np.repeat(first_numerators[size_index], sizes + 1),
        shares=-(-numerators * rows // np.repeat(distinct_sizes, distinct_sizes + 1)),
    )


def _max_ordered_emd(ranks: IntArray, steps: StepFunctions) -> float:
    """Return the largest earth mover's distance between the ranks of a group and all ranks.

    ``ranks`` (n,) are 0 to m - 1 without gaps, sorted by group, then ascending. The distance is the sum over
    i < m - 1 of |P(i) - Q(i)| / (m - 1), where P and Q are the cumulative shares of the group and of all
    rows. Between two steps of P only Q grows, so the sum over each interval follows from prefix sums. All
    numbers are integers, because shares are multiplied by n * group size.
    """
    rows, max_rank = len(ranks), int(ranks.max())
    if max_rank == 0:
        return 0.0
    cumulative_counts = np.cumsum(np.bincount(ranks))[:-1]
    prefix_sums = np.concatenate(([0], np.cumsum(cumulative_counts)))
    starts = np.zeros(len(steps.sizes), dtype=np.int64)
    starts[steps.is_row] = ranks
    ends = np.append(starts[1:], max_rank)
    ends[steps.first_steps[1:] - 1] = max_rank
    crossings = np.clip(np.searchsorted(cumulative_counts, steps.shares)[steps.share_index], starts, ends)
    scaled_shares, prefix_at_crossing = steps.rows_so_far * rows, prefix_sums[crossings]
    excess = scaled_shares * (crossings - starts) - steps.sizes * (prefix_at_crossing - prefix_sums[starts])
    deficit = steps.sizes * (prefix_sums[ends] - prefix_at_crossing) - scaled_shares * (ends - crossings)
    sizes = steps.sizes[steps.first_steps]
    return float((_sum_segments(excess + deficit, steps.first_steps) / (sizes * rows)).max()) / max_rank


def _sum_segments(numbers: IntArray, starts: IntArray) -> IntArray:
    """Return the sums of the segments that begin at ``starts``, exactly because the numbers are integers."""
    sums: IntArray = np.diff(np.cumsum(numbers)[np.append(starts[1:], len(numbers)) - 1], prepend=0)
    return sums


@memoize
def _group_classes(release: ScoredMicrodata) -> RowGroups:
    return group_rows(release.target.codes)


def _measure_by_column(
    release: ScoredMicrodata, measure: Callable[[IntArray, StepFunctions], float]
) -> dict[str, float]:
    steps = _build_class_steps(release)
    names = enumerate(release.original.columns.sensitive)
    return {name: measure(_rank_by_class(release, column_index), steps) for column_index, name in names}


@memoize_if_small
def _build_class_steps(release: ScoredMicrodata) -> StepFunctions:
    return _build_steps(_group_classes(release).sizes)


@memoize_if_small
def _rank_by_class(release: ScoredMicrodata, column_index: int) -> IntArray:
    """Return the dense ranks of a sensitive column, sorted by class, then rank, (n',)."""
    ranks = np.unique(release.target.values[:, column_index], return_inverse=True)[1]
    rank_count = int(ranks.max()) + 1
    sorted_ranks: IntArray = np.sort(_group_classes(release).group_ids * rank_count + ranks) % rank_count
    return sorted_ranks
