"""k-anonymity, l-diversity and t-closeness of the anonymized table over its quasi-identifiers.

An equivalence class is the set of rows of Y with equal quasi-identifiers. Reported beside the utility.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import RowGroups, group_rows
from anoncup.tracks.memo import memoize, memoize_if_small
from anoncup.tracks.microdata.release import MicrodataRelease


def k_min(release: MicrodataRelease) -> float:
    """S1: size of the smallest class, in 1..n'; high is good."""
    return float(_group_classes(release).sizes.min(initial=release.target.rows))


def k_mean(release: MicrodataRelease) -> float:
    """S2: mean size of the classes, n' / number of classes, in 1..n'; high is good."""
    return release.target.rows / _group_classes(release).count


def classes(release: MicrodataRelease) -> float:
    """Number of classes, in 1..n'."""
    return float(_group_classes(release).count)


def unique_share(release: MicrodataRelease) -> float:
    """Share of rows alone in their class (sample uniques), in [0, 1]; 0 is best."""
    return float((_group_classes(release).sizes == 1).sum()) / release.target.rows


def l_diversity(release: MicrodataRelease) -> float:
    """Distinct l: fewest values of a sensitive column in a class, over classes and columns; high is good."""
    return min(l_diversity_by_column(release).values(), default=0.0)


def l_diversity_by_column(release: MicrodataRelease) -> dict[str, float]:
    """Return distinct l of each sensitive column."""
    return memoize(release.memo, ("l",), lambda: _measure_by_column(release, _min_distinct_values))


def t_closeness(release: MicrodataRelease) -> float:
    """t: largest distance of a sensitive column's distribution in a class from that in the table; in [0, 1].

    0 is best. Earth mover's distance with ordered distances (Li, Li, Venkatasubramanian 2007), since all
    columns are numeric.
    """
    return max(t_closeness_by_column(release).values(), default=0.0)


def t_closeness_by_column(release: MicrodataRelease) -> dict[str, float]:
    """Return t of each sensitive column."""
    return memoize(release.memo, ("t",), lambda: _measure_by_column(release, _max_ordered_emd))


@dataclass(frozen=True, slots=True)
class StepFunctions:
    """Cumulative shares of groups as step functions, with a step at the start and at each row of a group.

    Groups start at the rows ``starts`` (groups,) and at the steps ``heads`` (groups,); all other steps are
    ``is_row``. For each step, ``sizes`` (steps,) is the size of its group and ``rows_so_far`` (steps,) the
    number of the group's rows up to the step. ``share_index`` (steps,) numbers the distinct pairs of these
    two; ``shares`` are the quotients of these pairs times the number of all rows, rounded up.
    """

    starts: IntArray
    heads: IntArray
    is_row: BoolArray
    sizes: IntArray
    rows_so_far: IntArray
    share_index: IntArray
    shares: IntArray


def _min_distinct_values(ranks: IntArray, steps: StepFunctions) -> float:
    """Return the fewest distinct ranks in a group; ``ranks`` as for :func:`_max_ordered_emd`."""
    is_new = np.ones(len(ranks), dtype=np.int64)
    is_new[1:] = ranks[1:] != ranks[:-1]
    is_new[steps.starts] = 1
    return float(_segment_sums(is_new, steps.starts).min())


def _build_steps(sizes: IntArray) -> StepFunctions:
    """Build the step functions of groups with these numbers of rows."""
    rows, starts = int(sizes.sum()), np.cumsum(sizes) - sizes
    heads = starts + np.arange(len(sizes))
    is_row = np.ones(rows + len(sizes), dtype=bool)
    is_row[heads] = False
    rows_so_far = np.arange(len(is_row)) - np.repeat(heads, sizes + 1)
    distinct, size_index = np.unique(sizes, return_inverse=True)
    first_numerator = np.cumsum(distinct + 1) - distinct - 1
    numerators = np.arange((distinct + 1).sum()) - np.repeat(first_numerator, distinct + 1)
    return StepFunctions(
        starts=starts,
        heads=heads,
        is_row=is_row,
        sizes=np.repeat(sizes, sizes + 1),
        rows_so_far=rows_so_far,
        share_index=rows_so_far + np.repeat(first_numerator[size_index], sizes + 1),
        shares=-(-numerators * rows // np.repeat(distinct, distinct + 1)),
    )


def _max_ordered_emd(ranks: IntArray, steps: StepFunctions) -> float:
    """Return the largest ordered-distance EMD of a group's ranks from all ranks (0, 1, ... without gaps).

    ``ranks`` (n,) are sorted by group, then ascending. EMD = sum over i < m - 1 of |P(i) - Q(i)| / (m - 1),
    where P and Q are the cumulative shares. Between two steps of P only Q grows, so the sum over each stretch
    follows from prefix sums. All numbers are integers: shares are multiplied by n * group size.
    """
    rows, max_rank = len(ranks), int(ranks.max())
    if max_rank == 0:
        return 0.0
    below = np.cumsum(np.bincount(ranks))[:-1]
    prefix = np.concatenate(([0], np.cumsum(below)))
    starts = np.zeros(len(steps.sizes), dtype=np.int64)
    starts[steps.is_row] = ranks
    ends = np.append(starts[1:], max_rank)
    ends[steps.heads[1:] - 1] = max_rank
    crossings = np.clip(np.searchsorted(below, steps.shares)[steps.share_index], starts, ends)
    level, prefix_at_crossing = steps.rows_so_far * rows, prefix[crossings]
    excess = level * (crossings - starts) - steps.sizes * (prefix_at_crossing - prefix[starts])
    deficit = steps.sizes * (prefix[ends] - prefix_at_crossing) - level * (ends - crossings)
    sizes = steps.sizes[steps.heads]
    return float((_segment_sums(excess + deficit, steps.heads) / (sizes * rows)).max()) / max_rank


def _segment_sums(numbers: IntArray, starts: IntArray) -> IntArray:
    """Return the sums of the segments that begin at ``starts``; cumulative sums of integers are exact."""
    sums: IntArray = np.diff(np.cumsum(numbers)[np.append(starts[1:], len(numbers)) - 1], prepend=0)
    return sums


def _group_classes(release: MicrodataRelease) -> RowGroups:
    return memoize(
        release.memo, ("classes",), lambda: group_rows(release.target.codes, release.target.widths)
    )


def _measure_by_column(
    release: MicrodataRelease, measure: Callable[[IntArray, StepFunctions], float]
) -> dict[str, float]:
    steps = memoize_if_small(
        release.memo, ("steps",), release.target.rows, lambda: _build_steps(_group_classes(release).sizes)
    )
    names = release.original.columns.sensitive
    return {name: measure(ranks, steps) for name, ranks in zip(names, _iter_ranks(release), strict=True)}


def _iter_ranks(release: MicrodataRelease) -> Iterator[IntArray]:
    """Yield the dense ranks of each sensitive column, sorted by class, then rank."""
    for column_index, column in enumerate(release.target.values.T):
        yield memoize_if_small(
            release.memo,
            ("ranks", column_index),
            release.target.rows,
            partial(_rank_by_class, release, column),
        )


def _rank_by_class(release: MicrodataRelease, column: FloatArray) -> IntArray:
    ranks = np.unique(column, return_inverse=True)[1]
    rank_count = int(ranks.max()) + 1
    sorted_ranks: IntArray = np.sort(_group_classes(release).group_ids * rank_count + ranks) % rank_count
    return sorted_ranks
