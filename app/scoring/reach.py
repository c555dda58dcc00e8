"""What E tells of U: between which values U lies if E is at least so much (docs/publication.md).

Whoever has a target computes every attacker's answer. A row that shows E says that one of those that count
is right on so many rows, though not on which; and a measure that adds up how far each row is from its owner
has no longer its whole range.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil, floor, inf

import numpy as np

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.excessive.accepted import Accepted
from app.scoring.kernels import limits as kernels
from app.scoring.rates import ABSTAIN, Answer, Candidates, Noted, OwnCluster, most_correct

LEVELS = 100
"""Numbers of rows, besides all, that limits are told for."""
SLACK = 1e-9
"""By how much sums in another order differ at most, per cell, where the largest number is 1."""
LARGEST_NUMBER = 1e100
"""Beyond it nothing is told: sums have to stay finite."""
PRICES = (0.0, *2.0 ** np.arange(-4, 5))
"""What a distance is taken to cost, in parts of what a row's cells cost on average."""
UNIT = 100_000
"""Limits of U are written in parts of it, rounded outward."""

Reach = tuple[tuple[int, float, float], ...]
"""(rows, least, largest), ascending: if some attacker is right on so many rows, U lies between such a pair.
A number of rows that is left out has the pairs of the last before it.
"""
Pairs = list[tuple[float, float]]
UtilityBy = Callable[[dict[str, float]], float]
Costs = tuple[int, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Cells:
    """Of a measure whose value is the mean of |x[source] - y| over all cells: x (n, c), y (n', c), finite."""

    x: FloatArray
    y: FloatArray

    @cached_property
    def largest(self) -> float:
        return float(np.max([np.abs(cells).max(initial=1.0) for cells in (self.x, self.y)]))


@dataclass(frozen=True)
class Side:
    """A limit, for any secret, of the sum of |x[source] - y| over all cells; ``sign`` -1: from above.

    Row i with the owner r costs ``sign`` * sum |x_r - y_i| + ``of_x[r]`` + ``of_y[i]``, whoever r is at
    least ``least[i]``. ``sign`` times the sum is at least ``base`` and what each row costs above its least:
    ``base`` takes off what ``of_x`` (n,) and ``of_y`` (n',) add, for every row has an owner of its own.
    """

    sign: int
    of_x: FloatArray
    of_y: FloatArray
    least: FloatArray

    @cached_property
    def base(self) -> float:
        owners = np.sort(self.of_x)[len(self.of_x) - len(self.of_y) :]
        return float(self.least.sum() - owners.sum() - self.of_y.sum())


@dataclass(frozen=True, slots=True)
class Priced:
    """As a ``Side``, of the secrets that the rule accepts: row i with the owner r costs ``sign`` *
    sum |x_r - y_i| + ``price`` * their distance, at least ``least[i]``; all distances are ``most`` together.
    """

    sign: int
    price: float
    least: FloatArray
    most: float

    @property
    def base(self) -> float:
        return float(self.least.sum()) - (self.price * self.most if self.price else 0.0)


@dataclass(frozen=True, slots=True)
class Known:
    """What anyone computes of one measure of a target; ``rule``: of one that is known to be accepted.

    ``lots``: answers that draw them, with what rows cost by these.
    """

    cells: Cells
    sides: tuple[Side, ...]
    lots: tuple[tuple[Candidates, list[Costs]], ...] = ()
    rule: Accepted | None = None
    priced: tuple[Priced, ...] = ()

    @property
    def every(self) -> tuple[Side | Priced, ...]:
        return *self.sides, *self.priced


def known(cells: Cells, rule: Accepted | None = None, answers: Sequence[Answer] = ()) -> Known | None:
    """None where there is nothing to add up, or too much. ``answers`` are those that will be asked about."""
    if not cells.y.size or not cells.largest <= LARGEST_NUMBER:
        return None
    everybody = Candidates(
        np.zeros(len(cells.y), np.int64), np.zeros(len(cells.x), np.int64), np.array([len(cells.x)])
    )
    lots = [answer for answer in answers if isinstance(answer, Candidates)]
    costs, *of_lots = costs_in_groups(cells, [everybody, *lots])
    sides = tuple(Side(*of_side) for of_side in costs)
    drawn = tuple(zip(lots, of_lots, strict=True))
    return Known(cells, sides, drawn, rule, tuple(priced(cells, rule)) if rule else ())


def priced(cells: Cells, rule: Accepted) -> Iterator[Priced]:
    """Both limits at every price: whatever it is, they hold."""
    sums = np.zeros_like(rule.distances)
    for x, y in zip(cells.x.T, cells.y.T, strict=True):
        sums += np.abs(x - y[:, None])
    possible = np.isfinite(rule.distances)
    paid = np.where(possible, rule.distances, 0.0) if rule.most < inf else np.zeros_like(sums)
    unit = sums.mean() / max(float(paid[possible].mean()), SLACK)
    for price in PRICES if rule.most < inf else PRICES[:1]:
        costs = np.where(possible, price * unit * paid, inf)
        for sign in (1, -1):
            yield Priced(sign, price * unit, (sign * sums + costs).min(axis=1), rule.most)


def costs_in_groups(cells: Cells, answers: Sequence[Candidates]) -> list[list[Costs]]:
    """For each answer, of each side ``sign``, ``of_x``, ``of_y`` and the least that each row costs with an
    owner of its group.

    Column by column, an owner for each. Rows that are not answered are left out.
    """
    owners, rows = len(cells.x), len(cells.y)
    column_shifts, shifts = np.empty((2, owners + rows)), np.zeros((2, owners + rows))
    least, below = np.zeros((len(answers), len(kernels.SIGNS), rows)), np.empty(rows, np.int64)
    ends = [np.empty((3, len(answer.sizes)), np.int64) for answer in answers]
    for values in np.ascontiguousarray(np.concatenate((cells.x, cells.y)).T):
        order = np.argsort(values)
        kernels.fill_shifts(values, order, owners, column_shifts)
        shifts += column_shifts
        for answer, room, costs in zip(answers, ends, least, strict=True):
            kernels.add_least(
                values, order, answer.group_of, answer.chosen, column_shifts, room, below, costs
            )
    nothing = np.zeros(owners + rows)
    by_side = nothing, shifts[0], nothing, shifts[1]
    return [
        [
            (sign, shift[:owners], shift[owners:], cost[answer.chosen != ABSTAIN])
            for sign, shift, cost in zip(kernels.SIGNS, by_side, costs, strict=True)
        ]
        for answer, costs in zip(answers, least, strict=True)
    ]


def levels(trials: int, fewest: int = 0) -> IntArray:
    """From ``fewest`` to all rows, the closer the fewer are missing: so many more tell the more."""
    missing = np.geomspace(1, trials, LEVELS).astype(np.int64)
    return np.unique(np.maximum(trials - np.append(missing, (0, trials)), fewest))


def limits(answer: Answer, about: Known | None, right: IntArray) -> FloatArray:
    """The least and the largest value if so many rows are ``right``, (levels, 2), as far as they can be."""
    correct = right[right <= most_correct(answer) + SLACK * right[-1]]
    if about is None:
        return np.tile([0.0, inf], (len(correct), 1))
    weights, costs = further(answer, about)
    found = [
        (side.sign, side.sign * (side.base + cheapest(weights, cost, correct)) / about.cells.y.size)
        for side, cost in zip(about.every, costs, strict=True)
    ]
    slack = SLACK * about.cells.largest
    low = np.max([limit for sign, limit in found if sign == 1], axis=0) - slack
    high = np.min([limit for sign, limit in found if sign == -1], axis=0) + slack
    possible = np.logical_and.accumulate(low <= high)
    return np.stack([np.maximum(low, 0.0), high], axis=1)[possible]


def further(answer: Answer, about: Known) -> tuple[FloatArray, list[FloatArray]]:
    """How many rows each answered row is if its answer is right, and by side what it then costs besides.

    Of lots the sides that have a price tell nothing besides.
    """
    match answer:
        case OwnCluster():
            weights = 1.0 / answer.sizes
            return weights, [np.zeros(len(weights)) for _ in about.every]
        case Candidates():
            rows = np.flatnonzero(answer.chosen != ABSTAIN)
            weights = 1.0 / answer.sizes[answer.chosen[rows]]
            costs = [least for *_, least in costs_by(answer, about)]
            costs += [side.least[rows] for side in about.priced]
        case _:
            guess = answer.guess if isinstance(answer, Noted) else answer
            rows = np.flatnonzero(guess != ABSTAIN)
            weights = np.ones(len(rows))
            costs = costs_of_owners(about, rows, guess[rows])
    return weights, [
        np.maximum(cost - side.least[rows], 0.0) for side, cost in zip(about.every, costs, strict=True)
    ]


def costs_by(answer: Candidates, about: Known) -> list[Costs]:
    """What rows cost by an answer that draws lots."""
    found = (costs for each, costs in about.lots if each is answer)
    return next(found, None) or costs_in_groups(about.cells, [answer])[0]


def costs_of_owners(about: Known, rows: IntArray, owners: IntArray) -> list[FloatArray]:
    gaps = about.cells.x.take(owners, axis=0)
    gaps -= about.cells.y.take(rows, axis=0)
    sums = np.abs(gaps, out=gaps).sum(axis=1)
    costs = [side.sign * sums + side.of_x[owners] + side.of_y[rows] for side in about.sides]
    if about.rule is None:
        return costs
    apart = np.minimum(about.rule.distances[rows, owners], about.rule.most)
    return costs + [side.sign * sums + (side.price * apart if side.price else 0.0) for side in about.priced]


def cheapest(weights: FloatArray, costs: FloatArray, correct: FloatArray) -> FloatArray:
    """The least that so many rows cost together; of the last one as large a part as is needed."""
    # What is right with 1/size each may add up to a whole number, but for rounding.
    correct = correct - SLACK * correct.max(initial=0)
    # Where all weigh the same only the costs need an order; numbers alone sort several times faster.
    if (weights == 1.0).all():
        rows, costs = np.arange(len(costs) + 1.0), np.sort(costs)
    else:
        order = np.argsort(costs / weights)
        rows, costs = from_zero(weights[order]), costs[order]
    found: FloatArray = np.interp(correct, rows, from_zero(costs))
    return found


def from_zero(steps: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(steps)))


def distinct(answers: Iterable[Answer]) -> list[Answer]:
    """Without the guesses that another attacker makes as well: they tell nothing besides."""
    kept: dict[bytes | int, Answer] = {}
    for answer in answers:
        guess = answer.guess if isinstance(answer, Noted) else answer
        kept.setdefault(guess.tobytes() if isinstance(guess, np.ndarray) else id(guess), answer)
    return list(kept.values())


def reach(told: Sequence[Mapping[str, FloatArray]], right: IntArray, utility_by: UtilityBy) -> Reach:
    """U's limits, from those of the measures that read the secret for each attacker that counts.

    One of them is right as often as E says.
    """
    found: list[tuple[int, float, float]] = []
    last: Pairs = []
    for level, rows in enumerate(right.tolist()):
        able = [each for each in told if level < min(map(len, each.values()))]
        if able and (pairs := of_utility(able, level, utility_by)) != last:
            found += [(rows, low, high) for low, high in pairs]
            last = pairs
    return tuple(found)


def of_utility(told: Sequence[Mapping[str, FloatArray]], level: int, utility_by: UtilityBy) -> Pairs:
    """Every measure may lie in each of its stretches, whichever the others lie in; rounded outward."""
    names = list(told[0])
    stretches = [united([tuple(each[name][level].tolist()) for each in told]) for name in names]
    found = []
    for pairs in product(*stretches):
        low, high = (utility_by(dict(zip(names, ends, strict=True))) for ends in zip(*pairs, strict=True))
        found.append((floor(low * UNIT) / UNIT, ceil(high * UNIT) / UNIT))
    return united(found)


def united(pairs: Pairs) -> Pairs:
    """Stretches that do not touch, ascending."""
    found: Pairs = []
    for low, high in sorted(pairs):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found
