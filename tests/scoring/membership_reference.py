"""The numbers of `membership` once more: plain loops over lists, fractions where a number is rational.

A table is a list of rows, a row a list of cells: floats in the first columns, texts in the others.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from anoncup.geometry.arrays import FloatArray

Cell = float | str
Row = list[Cell]
Rows = list[Row]
TEXTS = ("a", "b", "", "never")
"""The categories of hostile tables, in their order."""


def roc(scores: list[float], members: list[bool]) -> list[tuple[Fraction, Fraction]]:
    """(FPR, TPR) for every threshold, none named first."""
    true, false = members.count(True), members.count(False)
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        named = [member for score, member in zip(scores, members, strict=True) if score >= threshold]
        points.append((Fraction(named.count(False), false), Fraction(named.count(True), true)))
    return points


def tpr(scores: list[float], members: list[bool]) -> Fraction:
    rate, best = Fraction(1, 100), Fraction(0)
    points = roc(scores, members)
    for (left, low), (right, high) in pairwise(points):
        if left == rate:
            best = max(best, low)
        if right == rate:
            best = max(best, high)
        if left < rate < right:
            best = max(best, low + (high - low) * (rate - left) / (right - left))
    return best


def auc(scores: list[float], members: list[bool]) -> Fraction:
    inside = [score for score, member in zip(scores, members, strict=True) if member]
    outside = [score for score, member in zip(scores, members, strict=True) if not member]
    won = sum(Fraction((a > b) + (a >= b), 2) for a in inside for b in outside)
    return Fraction(won, len(inside) * len(outside))


def accuracy(scores: list[float], members: list[bool]) -> Fraction:
    """Every candidate is named with the chance that lots drawn at the N-th place give it."""
    needed, right = members.count(True), Fraction(0)
    for score, member in zip(scores, members, strict=True):
        above = sum(other > score for other in scores)
        chance = Fraction(min(max(needed - above, 0), tied := scores.count(score)), tied)
        right += chance if member else 1 - chance
    return right / len(scores)


def beyond(own: list[Cell], truth: list[Cell], reference: list[Cell], tolerance: float) -> Fraction:
    """Of the members' cells: what is right beyond the best single value and the reference."""

    def share(said: list[Cell]) -> Fraction:
        hits = [right(a, b, tolerance) for a, b in zip(said, truth, strict=True)]
        return Fraction(sum(hits), len(hits))

    control = max(share(reference), *(share([value] * len(truth)) for value in truth))
    return Fraction(0) if control == 1 else max((share(own) - control) / (1 - control), Fraction(0))


def imputed(known: Rows, cells: list[Cell], asked: Rows, categories: Sequence[str] = TEXTS) -> list[Cell]:
    """The reference's answers for rows, learned from known rows with these cells."""
    x = np.array(features([*known, *asked]))
    learned, wanted = x[: len(known)], x[len(known) :]
    ridge = np.array([0.0] + [1.0] * (x.shape[1] - 1))
    kinds = sorted(set(cells), key=lambda cell: categories.index(cell) if isinstance(cell, str) else cell)
    if isinstance(cells[0], str):
        chances = []
        for kind in kinds:
            y = np.array([float(cell == kind) for cell in cells])
            weights = logistic(learned, y, ridge) if len(kinds) > 1 else np.zeros(x.shape[1])
            chances.append(1 / (1 + np.exp(-(wanted @ weights))))
        return [
            next(kind for kind, chance in zip(kinds, row, strict=True) if chance >= max(row) - 1e-6)
            for row in zip(*chances, strict=True)
        ]
    numbers = [float(cell) for cell in cells]
    scaled = standard(numbers)
    rows = np.vstack([learned, np.diag(np.sqrt(ridge))])
    weights = np.linalg.lstsq(rows, np.array([*scaled, *np.zeros(len(ridge))]), rcond=None)[0]
    places = dict(zip(numbers, scaled, strict=True))
    found: list[Cell] = []
    for said in (wanted @ weights).tolist():
        gaps = {kind: abs(places[float(kind)] - said) for kind in kinds}
        found.append(next(kind for kind in kinds if gaps[kind] <= min(gaps.values()) + 2e-6))
    return found


def right(a: float | str, b: float | str, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(a - b) <= tolerance


def numbers_of(rows: Rows, column: int) -> list[float]:
    return [float(row[column]) for row in rows]


def decimals_of(rows: Rows, column: int) -> list[Fraction]:
    """The numbers of a column as they are written in a file."""
    return [Fraction(str(row[column])) for row in rows]


def quantile(values: list[Fraction], percent: int) -> Fraction:
    """Linear between ranks: the weights of both neighbours are hundredths."""
    ordered = sorted(values)
    below, hundredths = divmod((len(values) - 1) * percent, 100)
    above = min(below + 1, len(values) - 1)
    return (ordered[below] * (100 - hundredths) + ordered[above] * hundredths) / 100


def bins(own: Rows, released: Rows, column: int, number: int) -> tuple[list[object], list[object]]:
    if isinstance(own[0][column], str):
        return [row[column] for row in own], [row[column] for row in released]
    x, y = decimals_of(own, column), decimals_of(released, column)
    cuts = {quantile(x, 100 * place // number) for place in range(1, number)}
    before, after = ([sum(cut <= value for cut in cuts) for value in values] for values in (x, y))
    return list(before), list(after)


def variation(a: list[object], b: list[object]) -> Fraction:
    kinds = set(a) | set(b)
    gaps = [abs(Fraction(a.count(kind), len(a)) - Fraction(b.count(kind), len(b))) for kind in kinds]
    return sum(gaps, Fraction(0)) / 2


def mean(values: Sequence[Fraction | float]) -> float:
    return float(sum(values) / len(values)) if values else 0.0


def marginals(own: Rows, released: Rows) -> float:
    return mean([variation(*bins(own, released, column, 20)) for column in range(len(own[0]))])


def pairs(own: Rows, released: Rows) -> float:
    cut = [bins(own, released, column, 5) for column in range(len(own[0]))]
    found = []
    for (a, b), (c, d) in combinations(cut, 2):
        found.append(variation(list(zip(a, c, strict=True)), list(zip(b, d, strict=True))))
    return mean(found)


def moments(x: list[float], y: list[float]) -> Fraction:
    """The mean product of deviations."""
    a, b = [Fraction(value) for value in x], [Fraction(value) for value in y]
    centre, other = sum(a) / len(a), sum(b) / len(b)
    return Fraction(sum((p - centre) * (q - other) for p, q in zip(a, b, strict=True))) / len(a)


def pearson(x: list[float], y: list[float]) -> float:
    spread = moments(x, x) * moments(y, y)
    if not spread:
        return 0.0
    together = moments(x, y)
    size = math.sqrt(together**2 / spread)
    return -size if together < 0 else size


def correlations(own: Rows, released: Rows) -> float:
    numeric = [place for place, cell in enumerate(own[0]) if not isinstance(cell, str)]
    found = []
    for a, b in combinations(numeric, 2):
        before, after = (pearson(numbers_of(rows, a), numbers_of(rows, b)) for rows in (own, released))
        found.append(abs(before - after) / 2)
    return mean(found)


def tails(own: Rows, released: Rows) -> float:
    found = []
    for column in (place for place, cell in enumerate(own[0]) if not isinstance(cell, str)):
        x, y = decimals_of(own, column), decimals_of(released, column)
        low, high = quantile(x, 1), quantile(x, 99)
        beyond = Fraction(sum(not low <= value <= high for value in y), len(y))
        found.append(abs(beyond - Fraction(2, 100)))
    return mean(found)


def copies(own: Rows, released: Rows) -> float:
    return float(Fraction(sum(row in own for row in released), len(released)))


def propensity(own: Rows, released: Rows) -> float:
    x = np.array(features([*own, *released]))
    y = np.array([0.0] * len(own) + [1.0] * len(released))
    p = 1 / (1 + np.exp(-(x @ logistic(x, y, np.array([0.0] + [1.0] * (x.shape[1] - 1))))))
    return float(4 * np.mean((p - len(released) / len(x)) ** 2))


def logistic(x: FloatArray, y: FloatArray, ridge: FloatArray) -> FloatArray:
    """By Newton's steps, halved until they go down, where the rules have a trust region."""
    weights = np.zeros(x.shape[1])

    def loss(w: FloatArray) -> float:
        return float(np.logaddexp(0, x @ w).sum() - y @ (x @ w) + (ridge * w * w).sum() / 2)

    for _ in range(60):
        p = 1 / (1 + np.exp(-(x @ weights)))
        bent = x.T @ (x * (p * (1 - p))[:, None]) + np.diag(ridge)
        step = np.linalg.solve(bent, x.T @ (p - y) + ridge * weights)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > 1e-12:
            step = step / 2
        weights = weights - step
    return weights


def features(rows: Rows) -> list[list[float]]:
    columns: list[list[float]] = [[1.0] * len(rows)]
    for place, cell in enumerate(rows[0]):
        if isinstance(cell, str):
            kinds = sorted({str(row[place]) for row in rows})
            columns += [[float(row[place] == kind) for row in rows] for kind in kinds]
        else:
            columns.append(standard(numbers_of(rows, place)))
    return [list(row) for row in zip(*columns, strict=True)]


def standard(values: list[float]) -> list[float]:
    exact = [Fraction(value) for value in values]
    centre, spread = sum(exact) / len(exact), moments(values, values)
    if not spread:
        return [0.0] * len(values)
    return [(-1) ** (value < centre) * math.sqrt((value - centre) ** 2 / spread) for value in exact]


def gower(a: Row, b: Row, candidates: Rows) -> float:
    """Exact, and to twelve decimals."""
    differences = map(difference, a, b, zip(*candidates, strict=True))
    return float(round(sum(differences, Fraction(0)) / len(a), 12))


def difference(x: Cell, y: Cell, column: Sequence[Cell]) -> Fraction:
    if isinstance(x, str) or isinstance(y, str):
        return Fraction(x != y)
    numbers = [float(cell) for cell in column]
    width, between = Fraction(max(numbers)) - Fraction(min(numbers)), abs(Fraction(x) - Fraction(y))
    return min(between / width, Fraction(1)) if width else Fraction(between != 0)


def closest(candidates: Rows, released: Rows) -> list[float]:
    return [1 - min(gower(row, other, candidates) for other in released) for row in candidates]


def closest_ratio(candidates: Rows, released: Rows) -> list[float]:
    found = []
    for row in candidates:
        apart = [gower(row, other, candidates) for other in released]
        best = 0.0
        for other, distance in zip(released, apart, strict=True):
            if distance == min(apart):
                second = sorted(gower(other, each, candidates) for each in candidates)[1]
                best = max(best, second / (distance + second) if distance + second else 0.5)
        found.append(best)
    return found


def exact_copy(candidates: Rows, released: Rows) -> list[float]:
    return [float(row in released) for row in candidates]


def density(candidates: Rows, released: Rows) -> list[float]:
    spreads = {}
    for place, cell in enumerate(candidates[0]):
        if not isinstance(cell, str) and moments(values := numbers_of(candidates, place), values):
            spreads[place] = moments(values, values)
    if not spreads:
        return [0.5] * len(candidates)
    width: float = len(candidates) ** (-1 / (len(spreads) + 4))

    def height(row: Row, rows: Rows) -> float:
        return math.fsum(math.exp(-apart(row, other)) for other in rows) / len(rows)

    def apart(a: Row, b: Row) -> float:
        gaps = [(Fraction(a[place]) - Fraction(b[place])) ** 2 / spread for place, spread in spreads.items()]
        return min(float(min(sum(gaps), Fraction(10**9))) / (2 * width**2), 2000.0)

    found = []
    for row in candidates:
        own = height(row, released)
        found.append(own / (own + height(row, candidates)))
    return found
