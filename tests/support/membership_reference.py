"""Second implementation of the membership track: plain loops over lists, exact fractions if possible.

A table is a list of rows, a row a list of cells: floats in the first columns, strings in the others.
"""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from anoncup.geometry.arrays import FloatArray

Cell = float | str
Row = list[Cell]
Rows = list[Row]
TEXTS = ("a", "b", "", "never")
"""Categories of hostile tables, in schema order."""


def roc(scores: list[float], members: list[bool]) -> list[tuple[Fraction, Fraction]]:
    """Return (FPR, TPR) for every threshold, starting with no candidate selected."""
    positives, negatives = members.count(True), members.count(False)
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        selected = [member for score, member in zip(scores, members, strict=True) if score >= threshold]
        points.append((Fraction(selected.count(False), negatives), Fraction(selected.count(True), positives)))
    return points


def tpr(scores: list[float], members: list[bool]) -> Fraction:
    fpr_limit, best = Fraction(1, 100), Fraction(0)
    points = roc(scores, members)
    for (start_fpr, start_tpr), (end_fpr, end_tpr) in pairwise(points):
        if start_fpr == fpr_limit:
            best = max(best, start_tpr)
        if end_fpr == fpr_limit:
            best = max(best, end_tpr)
        if start_fpr < fpr_limit < end_fpr:
            best = max(
                best, start_tpr + (end_tpr - start_tpr) * (fpr_limit - start_fpr) / (end_fpr - start_fpr)
            )
    return best


def auc(scores: list[float], members: list[bool]) -> Fraction:
    inside = [score for score, member in zip(scores, members, strict=True) if member]
    outside = [score for score, member in zip(scores, members, strict=True) if not member]
    wins = sum(Fraction((a > b) + (a >= b), 2) for a in inside for b in outside)
    return Fraction(wins, len(inside) * len(outside))


def accuracy(scores: list[float], members: list[bool]) -> Fraction:
    """Return the expected accuracy of selecting the top N scores with ties broken at random."""
    member_count, expected_hits = members.count(True), Fraction(0)
    for score, member in zip(scores, members, strict=True):
        higher = sum(other_score > score for other_score in scores)
        chance = Fraction(min(max(member_count - higher, 0), ties := scores.count(score)), ties)
        expected_hits += chance if member else 1 - chance
    return expected_hits / len(scores)


def attribute_gain(
    guess: list[Cell], truth: list[Cell], members: list[bool], reference: list[Cell], tolerance: float
) -> Fraction:
    """Return the share of members' cells guessed right beyond the best constant and the reference.

    ``guess`` and ``truth`` are about all candidates, ``reference`` is about the members.
    """
    member_truth = [cell for cell, member in zip(truth, members, strict=True) if member]

    def share(answers: list[Cell]) -> Fraction:
        moved = [nearest(answer, truth) for answer in answers]
        hits = [is_right(a, b, tolerance) for a, b in zip(moved, member_truth, strict=True)]
        return Fraction(sum(hits), len(hits))

    control = max(share(reference), *(share([value] * len(member_truth)) for value in truth))
    gain = share([cell for cell, member in zip(guess, members, strict=True) if member]) - control
    return Fraction(0) if control == 1 else max(gain / (1 - control), Fraction(0))


def decimal(cell: Cell) -> Fraction:
    """Return the number as it is written in a file."""
    return Fraction(str(cell))


def nearest(cell: Cell | Fraction, values: list[Cell]) -> Cell:
    """Return a text as it is; of the numbers the nearest, of two equally near ones the lower."""
    if isinstance(cell, str):
        return cell
    number = Fraction(str(cell))
    return min(values, key=lambda value: (abs(decimal(value) - number), decimal(value)))


def impute(
    train_rows: Rows,
    train_cells: list[Cell],
    query_rows: Rows,
    truth: list[Cell],
    categories: Sequence[str] = TEXTS,
) -> list[Cell]:
    """Return the reference's predictions for ``query_rows`` after training on ``train_rows``.

    ``truth``: hidden cells of all candidates, to the nearest of which a predicted number is moved.
    """
    x = np.array(features([*train_rows, *query_rows]))
    train_features, query_features = x[: len(train_rows)], x[len(train_rows) :]
    ridge = np.array([0.0] + [1.0] * (x.shape[1] - 1))
    distinct = sorted(
        set(train_cells), key=lambda cell: categories.index(cell) if isinstance(cell, str) else cell
    )
    if isinstance(train_cells[0], str):
        probabilities = []
        for value in distinct:
            y = np.array([float(cell == value) for cell in train_cells])
            weights = logistic(train_features, y, ridge) if len(distinct) > 1 else np.zeros(x.shape[1])
            probabilities.append(1 / (1 + np.exp(-(query_features @ weights))))
        return [
            next(
                value
                for value, probability in zip(distinct, row, strict=True)
                if probability >= max(row) - 1e-6
            )
            for row in zip(*probabilities, strict=True)
        ]
    scaled = standardize([float(cell) for cell in train_cells])
    rows = np.vstack([train_features, np.diag(np.sqrt(ridge))])
    weights = np.linalg.lstsq(rows, np.array([*scaled, *np.zeros(len(ridge))]), rcond=None)[0]
    decimals = [decimal(cell) for cell in train_cells]
    mean_value = sum(decimals, Fraction(0)) / len(decimals)
    squares = [(number - mean_value) ** 2 for number in decimals]
    deviation = square_root(sum(squares, Fraction(0)) / len(decimals))
    # A prediction half-way between two numbers takes the lower.
    predictions = [
        mean_value + (Fraction(prediction) - Fraction(1, 10**6)) * deviation
        for prediction in (query_features @ weights).tolist()
    ]
    return [nearest(prediction, truth) for prediction in predictions]


def square_root(value: Fraction) -> Fraction:
    """Return the square root to 100 digits."""
    with localcontext(prec=100):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def is_right(a: float | str, b: float | str, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(decimal(a) - decimal(b)) <= decimal(tolerance)


def column_floats(rows: Rows, column: int) -> list[float]:
    return [float(row[column]) for row in rows]


def column_decimals(rows: Rows, column: int) -> list[Fraction]:
    """Return the numbers of a column as the decimals written in a file."""
    return [Fraction(str(row[column])) for row in rows]


def quantile(values: list[Fraction], percent: int) -> Fraction:
    """Return the percentile, interpolated linearly between ranks; the weights are hundredths."""
    ordered = sorted(values)
    lower, hundredths = divmod((len(values) - 1) * percent, 100)
    upper = min(lower + 1, len(values) - 1)
    return (ordered[lower] * (100 - hundredths) + ordered[upper] * hundredths) / 100


def bins(member_rows: Rows, released: Rows, column: int, bin_count: int) -> tuple[list[object], list[object]]:
    if isinstance(member_rows[0][column], str):
        return [row[column] for row in member_rows], [row[column] for row in released]
    x, y = column_decimals(member_rows, column), column_decimals(released, column)
    thresholds = {quantile(x, 100 * index // bin_count) for index in range(1, bin_count)}
    own_bins, released_bins = (
        [sum(threshold <= value for threshold in thresholds) for value in values] for values in (x, y)
    )
    return list(own_bins), list(released_bins)


def total_variation(a: list[object], b: list[object]) -> Fraction:
    categories = set(a) | set(b)
    gaps = [
        abs(Fraction(a.count(category), len(a)) - Fraction(b.count(category), len(b)))
        for category in categories
    ]
    return sum(gaps, Fraction(0)) / 2


def mean(values: Sequence[Fraction | float]) -> float:
    return float(sum(values) / len(values)) if values else 0.0


def marginals(member_rows: Rows, released: Rows) -> float:
    return mean(
        [total_variation(*bins(member_rows, released, column, 20)) for column in range(len(member_rows[0]))]
    )


def pairs(member_rows: Rows, released: Rows) -> float:
    binned = [bins(member_rows, released, column, 5) for column in range(len(member_rows[0]))]
    variations = []
    for (a, b), (c, d) in combinations(binned, 2):
        variations.append(total_variation(list(zip(a, c, strict=True)), list(zip(b, d, strict=True))))
    return mean(variations)


def covariance(x: list[float], y: list[float]) -> Fraction:
    """Return the mean product of deviations from the means."""
    a, b = [Fraction(value) for value in x], [Fraction(value) for value in y]
    x_mean, y_mean = sum(a) / len(a), sum(b) / len(b)
    return Fraction(sum((p - x_mean) * (q - y_mean) for p, q in zip(a, b, strict=True))) / len(a)


def pearson(x: list[float], y: list[float]) -> float:
    variance_product = covariance(x, x) * covariance(y, y)
    if not variance_product:
        return 0.0
    xy_covariance = covariance(x, y)
    magnitude = math.sqrt(xy_covariance**2 / variance_product)
    return -magnitude if xy_covariance < 0 else magnitude


def correlations(member_rows: Rows, released: Rows) -> float:
    numeric_columns = [column for column, cell in enumerate(member_rows[0]) if not isinstance(cell, str)]
    differences = []
    for a, b in combinations(numeric_columns, 2):
        own_correlation, released_correlation = (
            pearson(column_floats(rows, a), column_floats(rows, b)) for rows in (member_rows, released)
        )
        differences.append(abs(own_correlation - released_correlation) / 2)
    return mean(differences)


def tails(member_rows: Rows, released: Rows) -> float:
    differences = []
    for column in (index for index, cell in enumerate(member_rows[0]) if not isinstance(cell, str)):
        x, y = column_decimals(member_rows, column), column_decimals(released, column)
        low, high = quantile(x, 1), quantile(x, 99)
        own_share, released_share = (
            Fraction(sum(value < low or value > high for value in values), len(values)) for values in (x, y)
        )
        differences.append(abs(released_share - own_share))
    return mean(differences)


def copies(member_rows: Rows, released: Rows) -> float:
    return float(Fraction(sum(row in member_rows for row in released), len(released)))


def propensity(member_rows: Rows, released: Rows) -> float:
    x = np.array(features([*member_rows, *released]))
    y = np.array([0.0] * len(member_rows) + [1.0] * len(released))
    p = 1 / (1 + np.exp(-(x @ logistic(x, y, np.array([0.0] + [1.0] * (x.shape[1] - 1))))))
    return float(4 * np.mean((p - len(released) / len(x)) ** 2))


def logistic(x: FloatArray, y: FloatArray, ridge: FloatArray) -> FloatArray:
    """Fit by Newton's method with step halving; the program uses a trust region instead."""
    weights = np.zeros(x.shape[1])

    def loss(w: FloatArray) -> float:
        return float(np.logaddexp(0, x @ w).sum() - y @ (x @ w) + (ridge * w * w).sum() / 2)

    for _ in range(60):
        p = 1 / (1 + np.exp(-(x @ weights)))
        hessian = x.T @ (x * (p * (1 - p))[:, None]) + np.diag(ridge)
        step = np.linalg.solve(hessian, x.T @ (p - y) + ridge * weights)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > 1e-12:
            step = step / 2
        weights = weights - step
    return weights


def features(rows: Rows) -> list[list[float]]:
    columns: list[list[float]] = [[1.0] * len(rows)]
    for column, cell in enumerate(rows[0]):
        if isinstance(cell, str):
            categories = sorted({str(row[column]) for row in rows})
            columns += [[float(row[column] == category) for row in rows] for category in categories]
        else:
            columns.append(standardize(column_floats(rows, column)))
    return [list(row) for row in zip(*columns, strict=True)]


def standardize(values: list[float]) -> list[float]:
    fractions = [Fraction(value) for value in values]
    mean_value, variance = sum(fractions) / len(fractions), covariance(values, values)
    if not variance:
        return [0.0] * len(values)
    return [
        (-1) ** (value < mean_value) * math.sqrt((value - mean_value) ** 2 / variance) for value in fractions
    ]


def gower(a: Row, b: Row, candidates: Rows) -> float:
    """Return the Gower distance, computed exactly and rounded to twelve decimals."""
    return float(round(exact_gower(a, b, candidates), 12))


def exact_gower(a: Row, b: Row, candidates: Rows) -> Fraction:
    differences = map(cell_difference, a, b, zip(*candidates, strict=True))
    return sum(differences, Fraction(0)) / len(a)


def has_distance_at_a_rounding_tie(rows: Rows, others: Rows, candidates: Rows) -> bool:
    """Whether an exact distance lies so close to half a unit of the twelfth decimal that floats may decide."""
    distances = (exact_gower(row, other, candidates) for row in rows for other in others)
    return any(abs(distance * 10**12 % 1 - Fraction(1, 2)) < Fraction(1, 1000) for distance in distances)


def cell_difference(x: Cell, y: Cell, column: Sequence[Cell]) -> Fraction:
    if isinstance(x, str) or isinstance(y, str):
        return Fraction(x != y)
    numbers = [float(cell) for cell in column]
    width, gap = Fraction(max(numbers)) - Fraction(min(numbers)), abs(Fraction(x) - Fraction(y))
    return min(gap / width, Fraction(1)) if width else Fraction(gap != 0)


def closest(candidates: Rows, released: Rows) -> list[float]:
    return [1 - min(gower(row, release_row, candidates) for release_row in released) for row in candidates]


def closest_ratio(candidates: Rows, released: Rows) -> list[float]:
    ratios = []
    for row in candidates:
        distances = [gower(row, release_row, candidates) for release_row in released]
        best = 0.0
        for release_row, distance in zip(released, distances, strict=True):
            if distance == min(distances):
                second_nearest = sorted(
                    gower(release_row, candidate, candidates) for candidate in candidates
                )[1]
                best = max(
                    best, second_nearest / (distance + second_nearest) if distance + second_nearest else 0.5
                )
        ratios.append(best)
    return ratios


def exact_copy(candidates: Rows, released: Rows) -> list[float]:
    return [float(row in released) for row in candidates]


def density(candidates: Rows, released: Rows) -> list[float]:
    variances = {}
    for column, cell in enumerate(candidates[0]):
        if not isinstance(cell, str) and covariance(values := column_floats(candidates, column), values):
            variances[column] = covariance(values, values)
    if not variances:
        return [0.5] * len(candidates)
    width: float = len(candidates) ** (-1 / (len(variances) + 4))

    def kernel_density(row: Row, rows: Rows) -> float:
        return math.fsum(math.exp(-exponent(row, neighbour)) for neighbour in rows) / len(rows)

    def exponent(a: Row, b: Row) -> float:
        gaps = [
            (Fraction(a[column]) - Fraction(b[column])) ** 2 / variance
            for column, variance in variances.items()
        ]
        return min(float(min(sum(gaps), Fraction(10**9))) / (2 * width**2), 2000.0)

    scores = []
    for row in candidates:
        release_density = kernel_density(row, released)
        scores.append(release_density / (release_density + kernel_density(row, candidates)))
    return scores
