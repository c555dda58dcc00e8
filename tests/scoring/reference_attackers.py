"""The attackers by all columns and the one-to-one ones once more: slow loops over lists, from their words."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

from tests.scoring.reference import (
    Cells,
    Guess,
    Tables,
    Texts,
    candidates,
    cell_loss,
    column,
    nearest,
    squared,
)

Cost = tuple[int, Decimal]
"""Rows outside their class, then the sum of distances."""
Costs = list[list[Cost]]


def aya(tables: Tables, places: Sequence[int], sensitive: Sequence[int]) -> Guess:
    xq, xs, yq, ys = tables
    guess = []
    for c, texts, cells in zip(candidates(xq, yq, places), yq, ys, strict=True):
        others = [i for i in c if (xq[i], xs[i]) != (texts, cells)]
        among = others or c or range(len(xs))
        guess.append(nearest(among, {i: squared(x, cells, sensitive) for i, x in enumerate(xs)}))
    return guess


def gower_sum(xq: Texts, xs: Cells, i: int, texts: tuple[str, ...], cells: list[float]) -> float:
    total = float(sum(a != b for a, b in zip(xq[i], texts, strict=True)))
    for c, y in enumerate(cells):
        total = total + float(min(cell_loss(xs[i][c], y, column(xs, c)), Fraction(1)))
    return total


def gower(tables: Tables) -> Guess:
    xq, xs, yq, ys = tables
    guess = []
    for texts, cells in zip(yq, ys, strict=True):
        sums = [gower_sum(xq, xs, i, texts, cells) for i in range(len(xs))]
        guess.append(next(i for i, total in enumerate(sums) if total <= min(sums) * (1 + 1e-12)))
    return guess


def gower_costs(tables: Tables) -> Costs:
    xq, xs, yq, ys = tables
    return [
        [(0, Decimal(gower_sum(xq, xs, i, texts, cells))) for i in range(len(xs))]
        for texts, cells in zip(yq, ys, strict=True)
    ]


def euclidean_costs(tables: Tables, places: Sequence[int], sensitive: Sequence[int]) -> Costs:
    xq, xs, yq, ys = tables
    return [
        [(int(bool(c) and i not in c), distance(x, cells, sensitive)) for i, x in enumerate(xs)]
        for c, cells in zip(candidates(xq, yq, places), ys, strict=True)
    ]


def distance(x: list[float], y: list[float], places: Sequence[int]) -> Decimal:
    """To 28 digits, of whatever size."""
    return sum(((Decimal(x[p]) - Decimal(y[p])) ** 2 for p in places), Decimal(0)).sqrt()


def total(costs: Costs, guess: Sequence[int]) -> Cost:
    chosen = [costs[j][i] for j, i in enumerate(guess)]
    return sum(outside for outside, _ in chosen), sum((part for _, part in chosen), Decimal(0))


def assignments(costs: Costs) -> Iterator[tuple[int, ...]]:
    """Every way to give the rows distinct columns."""
    return permutations(range(len(costs[0])), len(costs))


def cheapest(costs: Costs) -> Cost:
    return min(total(costs, guess) for guess in assignments(costs))


def all_near(costs: Costs, best: Cost, margin: Decimal) -> list[Guess]:
    """Every assignment that costs at most ``margin`` more than the best."""
    limit = (best[0], best[1] + margin)
    return [list(guess) for guess in assignments(costs) if total(costs, guess) <= limit]
