"""The rules once more: slow loops over lists, written from the formulas, with exact fractions."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

Texts = list[tuple[str, ...]]
Cells = list[list[float]]
Tables = tuple[Texts, Cells, Texts, Cells]
"""The original's quasi-identifiers and sensitive cells, then the anonymized table's."""
Guess = list[int]
LARGEST = Fraction(1.7976931348623157e308)


def average(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def as_float(value: Fraction) -> float:
    return float(min(value, LARGEST))


def column(cells: Cells, place: int) -> list[Fraction]:
    return [Fraction(row[place]) for row in cells]


def mean_mae(xs: Cells, ys: Cells) -> float:
    gaps = [abs(average(column(xs, c)) - average(column(ys, c))) for c in range(len(xs[0]))]
    return as_float(average(gaps))


def cell_space(xq: Texts, yq: Texts, places: Sequence[int]) -> int:
    space = 1
    for place in places:
        space *= len({row[place] for row in xq + yq})
    return space


def members(rows: Texts, places: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(rows):
        found.setdefault(tuple(row[place] for place in places), []).append(number)
    return found


def cross_mean(tables: Tables, places: Sequence[int], targets: Sequence[int]) -> float:
    xq, xs, yq, ys = tables
    before, after = members(xq, places), members(yq, places)
    results = []
    for target in targets:
        total = Fraction(0)
        for cell in set(before) | set(after):
            mean_before = average([Fraction(xs[i][target]) for i in before.get(cell, [])])
            mean_after = average([Fraction(ys[j][target]) for j in after.get(cell, [])])
            total += abs(mean_before - mean_after)
        results.append(total / cell_space(xq, yq, places))
    return as_float(average(results))


def cross_count(xq: Texts, yq: Texts, places: Sequence[int]) -> float:
    before, after = members(xq, places), members(yq, places)
    total = sum(abs(len(before.get(c, [])) - len(after.get(c, []))) for c in set(before) | set(after))
    return total / cell_space(xq, yq, places)


def pearson(a: list[Fraction], b: list[Fraction]) -> float:
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 0.0
    da, db = [x - average(a) for x in a], [x - average(b) for x in b]
    cov = sum((x * y for x, y in zip(da, db, strict=True)), Fraction(0))
    square = sum((x * x for x in da), Fraction(0)) * sum((y * y for y in db), Fraction(0))
    with localcontext() as context:
        context.prec = 60
        top = Decimal(cov.numerator) / Decimal(cov.denominator)
        return float(top / (Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def cor_mae(xs: Cells, ys: Cells) -> float:
    pairs = list(combinations(range(len(xs[0])), 2))
    gaps = [
        abs(pearson(column(xs, a), column(xs, b)) - pearson(column(ys, a), column(ys, b))) for a, b in pairs
    ]
    return sum(gaps) / len(gaps) if gaps else 0.0


def cell_loss(x: float, y: float, values: list[Fraction]) -> Fraction:
    width = max(values) - min(values)
    return abs(Fraction(x) - Fraction(y)) / width if width else Fraction(int(x != y))


def information_loss(xs: Cells, ys: Cells, source: Sequence[int]) -> float:
    losses = [
        cell_loss(xs[source[j]][c], y, column(xs, c)) for j, row in enumerate(ys) for c, y in enumerate(row)
    ]
    return as_float(average(losses))


def gower(xq: Texts, xs: Cells, i: int, texts: tuple[str, ...], cells: list[float]) -> float:
    parts = [Fraction(int(a != b)) for a, b in zip(xq[i], texts, strict=True)]
    parts += [min(cell_loss(xs[i][c], y, column(xs, c)), Fraction(1)) for c, y in enumerate(cells)]
    return float(average(parts))


def class_sizes(yq: Texts) -> list[int]:
    return list(Counter(yq).values())


def l_of_column(yq: Texts, ys: Cells, place: int) -> float:
    return float(min(len({ys[j][place] for j in rows}) for rows in members(yq, range(len(yq[0]))).values()))


def t_of_column(yq: Texts, ys: Cells, place: int) -> float:
    values = sorted({row[place] for row in ys})
    if len(values) == 1:
        return 0.0
    worst = Fraction(0)
    for rows in members(yq, range(len(yq[0]))).values():
        moved = running = Fraction(0)
        for value in values[:-1]:
            here = Fraction(sum(ys[j][place] == value for j in rows), len(rows))
            running += here - Fraction(sum(row[place] == value for row in ys), len(ys))
            moved += abs(running)
        worst = max(worst, moved / (len(values) - 1))
    return float(worst)


def candidates(xq: Texts, yq: Texts, places: Sequence[int]) -> list[list[int]]:
    classes = members(xq, places)
    return [classes.get(tuple(row[place] for place in places), []) for row in yq]


def id_rand_rate(xq: Texts, yq: Texts, source: Sequence[int], places: Sequence[int]) -> float:
    sets = candidates(xq, yq, places)
    return float(average([Fraction(int(s in c), max(len(c), 1)) for s, c in zip(source, sets, strict=True)]))


def nearest(among: Sequence[int], distance: dict[int, float]) -> int:
    best = -1
    for i in sorted(among):
        if best < 0 or distance[i] < distance[best]:
            best = i
    return best


def id_sa(tables: Tables, places: Sequence[int], place: int) -> Guess:
    xq, xs, yq, ys = tables
    return [
        nearest(c or range(len(xs)), {i: abs(x[place] - y[place]) for i, x in enumerate(xs)})
        for c, y in zip(candidates(xq, yq, places), ys, strict=True)
    ]


def squared(x: list[float], y: list[float], places: Sequence[int]) -> float:
    total = 0.0
    for place in places:
        gap = x[place] - y[place]
        total = total + gap * gap
    return total


def euclid(tables: Tables, places: Sequence[int], sensitive: Sequence[int], *, search_all: bool) -> Guess:
    xq, xs, yq, ys = tables
    guess = []
    for c, y in zip(candidates(xq, yq, places), ys, strict=True):
        among = c or (range(len(xs)) if search_all else [])
        guess.append(nearest(among, {i: squared(x, y, sensitive) for i, x in enumerate(xs)}))
    return guess


def ranked(values: list[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda row: (values[row], row))


def sums(cells: Cells, places: Sequence[int]) -> list[float]:
    totals = []
    for row in cells:
        total = 0.0
        for place in places:
            total = total + row[place]
        totals.append(total)
    return totals


def sort(xs: Cells, ys: Cells, places: Sequence[int]) -> Guess:
    guess = [-1] * len(ys)
    for j, i in zip(ranked(sums(ys, places)), ranked(sums(xs, places)), strict=False):
        guess[j] = i
    return guess


def sa_rank(xs: Cells, ys: Cells, place: int) -> Guess:
    order, n, kept = ranked([row[place] for row in xs]), len(xs), len(ys)
    guess = [-1] * kept
    for r, j in enumerate(ranked([row[place] for row in ys]), start=1):
        guess[j] = order[((r - 1) * n) // kept + 1 - 1]
    return guess
