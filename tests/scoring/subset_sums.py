"""A secret out of a board's row: which of two originals each row is, by sums that fit what is published.

The release's rows come in pairs: either of two rows of Y is from either of two rows of X, and the attacker
knows the pairs. What a pair adds to the loss and to an attacker's hits, he computes for both ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.rules.settings import OVERALL_DIGITS
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.release import prepare, release_of
from anoncup.tracks.microdata.utility import information_loss

SCALE = 0.066
"""Of information_loss, as in docs/scoring.md; it is a sixth of U, and the rest of U is known."""
SHARE, KNOWN = 1 / 6, 0.1
EXACT = 1e-13


@dataclass(frozen=True)
class Puzzle:
    """``losses`` (pairs, 2): what each pair adds to U if it is straight, or crossed; ``hits``: to the rows
    that an attacker's guess has right. ``secret`` (pairs,): which are crossed."""

    losses: FloatArray
    hits: IntArray
    secret: IntArray
    rows: int

    @property
    def utility(self) -> float:
        return KNOWN + float(self.losses[np.arange(len(self.secret)), self.secret].sum())

    @property
    def correct(self) -> int:
        return int(self.hits[np.arange(len(self.secret)), self.secret].sum())

    @property
    def overall(self) -> float:
        return (self.utility + self.correct / self.rows) / 2


def puzzle(pairs: int, seed: int) -> Puzzle:
    """Of real tables: both rows of a pair get cells of either row."""
    rng = np.random.default_rng(seed)
    original = prepare(household_table(2 * pairs, seed=seed), household_columns())
    names = list(household_columns().sensitive)
    x = original.table[names].to_numpy(float)
    mixed = rng.permuted(x.reshape(pairs, 2, -1), axis=1).reshape(x.shape)
    released = original.table.assign(**{name: mixed[:, place] for place, name in enumerate(names)})
    straight = np.arange(2 * pairs)
    base = information_loss(release_of(original, released, straight))
    losses = np.zeros((pairs, 2))
    for pair in range(pairs):
        crossed = straight.copy()
        crossed[2 * pair : 2 * pair + 2] = crossed[2 * pair : 2 * pair + 2][::-1]
        losses[pair, 1] = information_loss(release_of(original, released, crossed)) - base
    losses = losses * SHARE / SCALE
    losses[0] += base * SHARE / SCALE
    guess = straight.reshape(pairs, 2) ^ (rng.random((pairs, 2)) < 0.5)
    hits = np.stack([(guess == straight.reshape(-1, 2)).sum(1), (guess != straight.reshape(-1, 2)).sum(1)], 1)
    return Puzzle(losses, hits, rng.integers(0, 2, pairs), 2 * pairs)


def half(one: Puzzle, places: slice) -> tuple[BoolArray, FloatArray, IntArray]:
    """All ways of these pairs: (ways, pairs) crossed, and what they add to U and to the hits."""
    losses, hits = one.losses[places], one.hits[places]
    ways = (np.arange(1 << len(losses))[:, None] >> np.arange(len(losses)) & 1).astype(bool)
    u = losses[:, 0].sum() + ways @ (losses[:, 1] - losses[:, 0])
    return ways, u, hits[:, 0].sum() + ways @ (hits[:, 1] - hits[:, 0])


def windows(one: Puzzle, digits: int | None) -> Iterator[tuple[int, float, float]]:
    """What is published: the hits that it allows, and for each the U between the two; None: all digits."""
    if digits is None:
        yield one.correct, one.utility - EXACT, one.utility + EXACT
        return
    u, e, both = (
        round(one.utility, digits),
        round(one.correct / one.rows, digits),
        round(one.overall, OVERALL_DIGITS),
    )
    reach, unit = 0.5 * 10.0**-digits, 10.0**-OVERALL_DIGITS
    for hits in range(one.rows + 1):
        rate = hits / one.rows
        low, high = max(u - reach, 2 * both - unit - rate), min(u + reach, 2 * both + unit - rate)
        if abs(rate - e) <= reach + EXACT and low <= high:
            yield hits, low - EXACT, high + EXACT


def solved(one: Puzzle, digits: int | None) -> tuple[int, float]:
    """How many secrets fit what is published, and the share of pairs that are as in most of them."""
    middle = len(one.secret) // 2
    sides = half(one, slice(0, middle)), half(one, slice(middle, None))
    found, crossed = 0, []
    for (ways, u, hits), (_, other_u, other_hits) in (sides, sides[::-1]):
        order = np.lexsort((other_u, other_hits))
        fits = np.zeros(len(u), dtype=np.int64)
        for allowed, low, high in windows(one, digits):
            for other in np.unique(other_hits):
                mine = np.flatnonzero(hits == allowed - other)
                values = other_u[order][other_hits[order] == other]
                fits[mine] += np.searchsorted(values, high - KNOWN - u[mine], "right") - np.searchsorted(
                    values, low - KNOWN - u[mine]
                )
        found = int(fits.sum())
        crossed += list((fits @ ways) / max(found, 1))
    right = (np.array(crossed) > 0.5) == one.secret.astype(bool)
    return found, float(right.mean())
