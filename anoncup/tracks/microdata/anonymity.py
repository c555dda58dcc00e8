"""k-anonymity and its companions, on the anonymized table over its quasi-identifiers.

An equivalence class is the set of rows of Y with equal quasi-identifiers. Reported beside the utility.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import Grouping, group_rows
from anoncup.tracks.memo import kept_of_few, once
from anoncup.tracks.microdata.release import Release


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


@dataclass(frozen=True, slots=True)
class Steps:
    """Cumulative shares of groups as step functions: a step where a group begins, and one for each row of it.

    Groups start at the rows ``starts`` (groups,) and at the steps ``heads`` (groups,); the other steps are
    ``is_row``. ``sizes`` (steps,) are the groups', ``passed`` (steps,) how many of the group's rows there are
    up to the step. ``kind`` (steps,) numbers the pairs of these two; ``shares`` are the kinds' quotients
    times all rows, rounded up.
    """

    starts: IntArray
    heads: IntArray
    is_row: BoolArray
    sizes: IntArray
    passed: IntArray
    kind: IntArray
    shares: IntArray


def distinct_values(ranks: IntArray, steps: Steps) -> float:
    """Fewest distinct ranks in a group; ``ranks`` as for :func:`ordered_emd`."""
    new = np.ones(len(ranks), dtype=np.int64)
    new[1:] = ranks[1:] != ranks[:-1]
    new[steps.starts] = 1
    return float(_sums(new, steps.starts).min())


def steps_of(sizes: IntArray) -> Steps:
    """Of groups of so many rows."""
    rows, starts = int(sizes.sum()), np.cumsum(sizes) - sizes
    heads = starts + np.arange(len(sizes))
    is_row = np.ones(rows + len(sizes), dtype=bool)
    is_row[heads] = False
    passed = np.arange(len(is_row)) - np.repeat(heads, sizes + 1)
    distinct, of_size = np.unique(sizes, return_inverse=True)
    first = np.cumsum(distinct + 1) - distinct - 1
    fractions = np.arange((distinct + 1).sum()) - np.repeat(first, distinct + 1)
    return Steps(
        starts=starts,
        heads=heads,
        is_row=is_row,
        sizes=np.repeat(sizes, sizes + 1),
        passed=passed,
        kind=passed + np.repeat(first[of_size], sizes + 1),
        shares=-(-fractions * rows // np.repeat(distinct, distinct + 1)),
    )


def ordered_emd(ranks: IntArray, steps: Steps) -> float:
    """Largest ordered-distance EMD of a group's ranks from all ranks, which run from 0 without gaps.

    ``ranks`` (n,) stand by group, in a group ascending. EMD = sum over i < m - 1 of |P(i) - Q(i)| / (m - 1),
    P and Q the cumulative shares. Between two steps of P only Q grows, so that the sum over a stretch follows
    from prefix sums. All in integers: shares are multiplied by n * group size.
    """
    rows, most = len(ranks), int(ranks.max())
    if most == 0:
        return 0.0
    below = np.cumsum(np.bincount(ranks))[:-1]
    prefix = np.concatenate(([0], np.cumsum(below)))
    starts = np.zeros(len(steps.sizes), dtype=np.int64)
    starts[steps.is_row] = ranks
    ends = np.append(starts[1:], most)
    ends[steps.heads[1:] - 1] = most
    turns = np.clip(np.searchsorted(below, steps.shares)[steps.kind], starts, ends)
    level, at_turn = steps.passed * rows, prefix[turns]
    under = level * (turns - starts) - steps.sizes * (at_turn - prefix[starts])
    over = steps.sizes * (prefix[ends] - at_turn) - level * (ends - turns)
    sizes = steps.sizes[steps.heads]
    return float((_sums(under + over, steps.heads) / (sizes * rows)).max()) / most


def _sums(numbers: IntArray, starts: IntArray) -> IntArray:
    """Of the stretches that begin at ``starts``: whole numbers lose nothing in a sum of all."""
    sums: IntArray = np.diff(np.cumsum(numbers)[np.append(starts[1:], len(numbers)) - 1], prepend=0)
    return sums


def _classes(release: Release) -> Grouping:
    return once(release.kept, ("classes",), lambda: group_rows(release.target.codes, release.target.widths))


def _by_column(release: Release, measure: Callable[[IntArray, Steps], float]) -> dict[str, float]:
    steps = kept_of_few(
        release.kept, ("steps",), release.target.rows, lambda: steps_of(_classes(release).sizes)
    )
    names = release.original.columns.sensitive
    return {name: measure(ranks, steps) for name, ranks in zip(names, _ranks(release), strict=True)}


def _ranks(release: Release) -> Iterator[IntArray]:
    """Each sensitive column's values as 0, 1, ... from the least, equal ones alike; by class, then rank."""
    for place, column in enumerate(release.target.values.T):
        yield kept_of_few(
            release.kept, ("ranks", place), release.target.rows, partial(_by_class, release, column)
        )


def _by_class(release: Release, column: FloatArray) -> IntArray:
    ranks = np.unique(column, return_inverse=True)[1]
    most = int(ranks.max()) + 1
    ordered: IntArray = np.sort(_classes(release).group_of * most + ranks) % most
    return ordered
