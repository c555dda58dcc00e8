"""Second implementation of the all-column and one-to-one attackers: slow loops over lists."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

from tests.support.microdata_reference import (
    Guess,
    Tables,
    candidates,
    cell_loss,
    column_widths,
    nearest,
    squared_distance,
)

Row = tuple[tuple[str, ...], list[float]]
Cost = tuple[int, Decimal]
"""Number of rows outside their class, then the sum of distances."""
Costs = list[list[Cost]]


def aya(tables: Tables, columns: Sequence[int], sensitive: Sequence[int]) -> Guess:
    xq, xs, yq, ys = tables
    guess = []
    for c, texts, cells in zip(candidates(xq, yq, columns), yq, ys, strict=True):
        unequal = [i for i in c if (xq[i], xs[i]) != (texts, cells)]
        rows = unequal or c or range(len(xs))
        guess.append(nearest(rows, {i: squared_distance(x, cells, sensitive) for i, x in enumerate(xs)}))
    return guess


def gower_sums(tables: Tables) -> list[list[float]]:
    """Return the sum over all columns for each released and each original row."""
    xq, xs, yq, ys = tables
    widths = column_widths(xs)
    return [
        [gower_sum((xq[i], xs[i]), (texts, cells), widths) for i in range(len(xs))]
        for texts, cells in zip(yq, ys, strict=True)
    ]


def gower_sum(x: Row, y: Row, widths: list[Fraction]) -> float:
    total = float(sum(a != b for a, b in zip(x[0], y[0], strict=True)))
    for a, b, width in zip(x[1], y[1], widths, strict=True):
        total = total + float(min(cell_loss(a, b, width), Fraction(1)))
    return total


def gower(tables: Tables) -> Guess:
    guess = []
    for sums in gower_sums(tables):
        limit = min(sums) * (1 + 1e-12)
        guess.append(next(i for i, total in enumerate(sums) if total <= limit))
    return guess


def gower_costs(tables: Tables) -> Costs:
    return [[(0, Decimal(total)) for total in sums] for sums in gower_sums(tables)]


def euclidean_costs(tables: Tables, columns: Sequence[int], sensitive: Sequence[int]) -> Costs:
    xq, xs, yq, ys = tables
    return [
        [(int(bool(c) and i not in c), distance(x, cells, sensitive)) for i, x in enumerate(xs)]
        for c, cells in zip(candidates(xq, yq, columns), ys, strict=True)
    ]


def distance(x: list[float], y: list[float], columns: Sequence[int]) -> Decimal:
    """Return the Euclidean distance to 28 digits; ``Decimal`` does not overflow."""
    return sum(((Decimal(x[p]) - Decimal(y[p])) ** 2 for p in columns), Decimal(0)).sqrt()


def total_cost(costs: Costs, guess: Sequence[int]) -> Cost:
    row_costs = [costs[j][i] for j, i in enumerate(guess)]
    return sum(outside for outside, _ in row_costs), sum((cost for _, cost in row_costs), Decimal(0))


def assignments(costs: Costs) -> Iterator[tuple[int, ...]]:
    """Yield every assignment of distinct columns to the rows."""
    return permutations(range(len(costs[0])), len(costs))


def lowest_cost(costs: Costs) -> Cost:
    return min(total_cost(costs, guess) for guess in assignments(costs))


def list_near_optimal(costs: Costs, best: Cost, margin: Decimal) -> list[Guess]:
    """Return every assignment that costs at most ``margin`` more than the best."""
    limit = (best[0], best[1] + margin)
    return [list(guess) for guess in assignments(costs) if total_cost(costs, guess) <= limit]
