"""Second implementation of the microdata scores: slow loops over lists, with exact fractions."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

Texts = list[tuple[str, ...]]
Cells = list[list[float]]
Tables = tuple[Texts, Cells, Texts, Cells]
"""Quasi-identifiers and sensitive cells of the original, then of the anonymized table."""
Guess = list[int]
LARGEST = Fraction(1.7976931348623157e308)


def average(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def clamp_to_float(value: Fraction) -> float:
    return float(min(value, LARGEST))


def column_fractions(cells: Cells, index: int) -> list[Fraction]:
    return [Fraction(row[index]) for row in cells]


def mean_mae(xs: Cells, ys: Cells) -> float:
    gaps = [
        abs(average(column_fractions(xs, c)) - average(column_fractions(ys, c))) for c in range(len(xs[0]))
    ]
    return clamp_to_float(average(gaps))


def cell_space(xq: Texts, yq: Texts, columns: Sequence[int]) -> int:
    space = 1
    for index in columns:
        space *= len({row[index] for row in xq + yq})
    return space


def group_rows(rows: Texts, columns: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for row_number, row in enumerate(rows):
        groups.setdefault(tuple(row[index] for index in columns), []).append(row_number)
    return groups


def cross_mean(tables: Tables, columns: Sequence[int], targets: Sequence[int]) -> float:
    xq, xs, yq, ys = tables
    original_cells, released_cells = group_rows(xq, columns), group_rows(yq, columns)
    results = []
    for target in targets:
        total = Fraction(0)
        for cell in set(original_cells) | set(released_cells):
            mean_before = average([Fraction(xs[i][target]) for i in original_cells.get(cell, [])])
            mean_after = average([Fraction(ys[j][target]) for j in released_cells.get(cell, [])])
            total += abs(mean_before - mean_after)
        results.append(total / cell_space(xq, yq, columns))
    return clamp_to_float(average(results))


def cross_count(xq: Texts, yq: Texts, columns: Sequence[int]) -> float:
    original_cells, released_cells = group_rows(xq, columns), group_rows(yq, columns)
    total = sum(
        abs(len(original_cells.get(c, [])) - len(released_cells.get(c, [])))
        for c in set(original_cells) | set(released_cells)
    )
    return total / cell_space(xq, yq, columns)


def pearson(a: list[Fraction], b: list[Fraction]) -> float:
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 0.0
    mean_a, mean_b = average(a), average(b)
    da, db = [x - mean_a for x in a], [x - mean_b for x in b]
    cov = sum((x * y for x, y in zip(da, db, strict=True)), Fraction(0))
    square = sum((x * x for x in da), Fraction(0)) * sum((y * y for y in db), Fraction(0))
    with localcontext() as context:
        context.prec = 60
        top = Decimal(cov.numerator) / Decimal(cov.denominator)
        return float(top / (Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def cor_mae(xs: Cells, ys: Cells) -> float:
    pairs = list(combinations(range(len(xs[0])), 2))
    gaps = [
        abs(
            pearson(column_fractions(xs, a), column_fractions(xs, b))
            - pearson(column_fractions(ys, a), column_fractions(ys, b))
        )
        for a, b in pairs
    ]
    return sum(gaps) / len(gaps) if gaps else 0.0


def column_widths(cells: Cells) -> list[Fraction]:
    return [Fraction(max(column)) - Fraction(min(column)) for column in zip(*cells, strict=True)]


def cell_loss(x: float, y: float, width: Fraction) -> Fraction:
    return abs(Fraction(x) - Fraction(y)) / width if width else Fraction(int(x != y))


def information_loss(xs: Cells, ys: Cells, source: Sequence[int]) -> float:
    widths = column_widths(xs)
    losses = [
        cell_loss(xs[source[j]][c], y, widths[c]) for j, row in enumerate(ys) for c, y in enumerate(row)
    ]
    return clamp_to_float(average(losses))


def gower(
    xq: Sequence[str], xs: list[float], yq: Sequence[str], ys: list[float], widths: list[Fraction]
) -> float:
    """Return the distance of two rows, where ``widths`` are the ranges of the original's columns."""
    parts = [Fraction(int(a != b)) for a, b in zip(xq, yq, strict=True)]
    parts += [min(cell_loss(x, y, width), Fraction(1)) for x, y, width in zip(xs, ys, widths, strict=True)]
    return float(average(parts))


def class_sizes(yq: Texts) -> list[int]:
    return list(Counter(yq).values())


def column_l_diversity(yq: Texts, ys: Cells, index: int) -> float:
    return float(
        min(len({ys[j][index] for j in rows}) for rows in group_rows(yq, range(len(yq[0]))).values())
    )


def column_t_closeness(yq: Texts, ys: Cells, index: int) -> float:
    values = sorted({row[index] for row in ys})
    if len(values) == 1:
        return 0.0
    worst = Fraction(0)
    for rows in group_rows(yq, range(len(yq[0]))).values():
        transport = cumulative = Fraction(0)
        for value in values[:-1]:
            class_share = Fraction(sum(ys[j][index] == value for j in rows), len(rows))
            cumulative += class_share - Fraction(sum(row[index] == value for row in ys), len(ys))
            transport += abs(cumulative)
        worst = max(worst, transport / (len(values) - 1))
    return float(worst)


def candidates(xq: Texts, yq: Texts, columns: Sequence[int]) -> list[list[int]]:
    classes = group_rows(xq, columns)
    return [classes.get(tuple(row[index] for index in columns), []) for row in yq]


def id_rand_rate(xq: Texts, yq: Texts, source: Sequence[int], columns: Sequence[int]) -> float:
    sets = candidates(xq, yq, columns)
    return float(average([Fraction(int(s in c), max(len(c), 1)) for s, c in zip(source, sets, strict=True)]))


def nearest(rows: Sequence[int], distance: dict[int, float]) -> int:
    best = -1
    for i in sorted(rows):
        if best < 0 or distance[i] < distance[best]:
            best = i
    return best


def id_sa(tables: Tables, columns: Sequence[int], index: int) -> Guess:
    xq, xs, yq, ys = tables
    return [
        nearest(c or range(len(xs)), {i: abs(x[index] - y[index]) for i, x in enumerate(xs)})
        for c, y in zip(candidates(xq, yq, columns), ys, strict=True)
    ]


def squared_distance(x: list[float], y: list[float], columns: Sequence[int]) -> float:
    total = 0.0
    for index in columns:
        gap = x[index] - y[index]
        total = total + gap * gap
    return total


def euclidean_guess(
    tables: Tables, columns: Sequence[int], sensitive: Sequence[int], *, search_all: bool
) -> Guess:
    xq, xs, yq, ys = tables
    guess = []
    for c, y in zip(candidates(xq, yq, columns), ys, strict=True):
        rows = c or (range(len(xs)) if search_all else [])
        guess.append(nearest(rows, {i: squared_distance(x, y, sensitive) for i, x in enumerate(xs)}))
    return guess


def rank_rows(values: list[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda row: (values[row], row))


def row_sums(cells: Cells, columns: Sequence[int]) -> list[float]:
    totals = []
    for row in cells:
        total = 0.0
        for index in columns:
            total = total + row[index]
        totals.append(total)
    return totals


def sort(xs: Cells, ys: Cells, columns: Sequence[int]) -> Guess:
    guess = [-1] * len(ys)
    for j, i in zip(rank_rows(row_sums(ys, columns)), rank_rows(row_sums(xs, columns)), strict=False):
        guess[j] = i
    return guess


def sa_rank(xs: Cells, ys: Cells, index: int) -> Guess:
    order, n, released_count = rank_rows([row[index] for row in xs]), len(xs), len(ys)
    guess = [-1] * released_count
    for r, j in enumerate(rank_rows([row[index] for row in ys]), start=1):
        guess[j] = order[((r - 1) * n) // released_count + 1 - 1]
    return guess
