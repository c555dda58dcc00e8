"""A third way to the numbers, for tables too large for plain loops: straight from the formulas.

It shares no code with the program; rows come as lists of text, as a CSV reader gives them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Row = Sequence[str]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rules:
    """The roles and parameters of the 2015 contest, by column position."""

    quasi: Sequence[int]
    sensitive: Sequence[int]
    crossed: Sequence[int]
    target: int
    single: int
    """The column of id_sa."""
    ranked: int
    """The column of sa_rank and sa_nearest."""


class Numbers:
    """Both tables as numbers, and the classes of X."""

    def __init__(self, rules: Rules, x: Sequence[Row], y: Sequence[Row], source: Ints) -> None:
        self.rules, self.x, self.y, self.source = rules, x, y, source
        self.sx, self.sy = (values(table, rules.sensitive) for table in (x, y))
        self.qx, self.qy = (keys(table, rules.quasi) for table in (x, y))
        self.classes: dict[Row, list[int]] = defaultdict(list)
        for row, key in enumerate(self.qx):
            self.classes[key].append(row)

    def candidates(self, row: int) -> Ints | None:
        found = self.classes.get(self.qy[row])
        return None if found is None else np.array(found)


def values(table: Sequence[Row], columns: Sequence[int]) -> Floats:
    return np.array([[float(row[column]) for column in columns] for row in table])


def keys(table: Sequence[Row], columns: Sequence[int]) -> list[Row]:
    return [tuple(row[column] for column in columns) for row in table]


def utility(n: Numbers) -> dict[str, float]:
    spread = n.sx.max(0) - n.sx.min(0)
    apart = np.abs(n.sy - n.sx[n.source])
    upper = np.triu_indices(len(n.rules.sensitive), 1)
    return {
        "mean_mae": float(np.mean([abs(mean(a) - mean(b)) for a, b in zip(n.sx.T, n.sy.T, strict=True)])),
        **cross_tables(n),
        "cor_mae": float(np.abs(correlations(n.sx) - correlations(n.sy))[upper].mean()),
        "information_loss": float(
            np.where(spread > 0, apart / np.where(spread > 0, spread, 1), apart > 0).mean()
        ),
        "row_difference": float(len(n.x) - len(n.y)),
    }


def shares_of(apart: Floats, spread: Floats) -> Floats:
    """Differences as shares of the range; a range of 0: 0 if equal, else 1."""
    return np.where(spread > 0, apart / np.where(spread > 0, spread, 1), apart > 0)


def mean(cells: Sequence[float] | Floats) -> float:
    return math.fsum(cells) / len(cells) if len(cells) else 0.0


def cross_tables(n: Numbers) -> dict[str, float]:
    space = math.prod(len({row[c] for row in (*n.x, *n.y)}) for c in n.rules.crossed)
    cells: list[dict[Row, list[float]]] = []
    for table in (n.x, n.y):
        cells.append(defaultdict(list))
        for row, key in zip(table, keys(table, n.rules.crossed), strict=True):
            cells[-1][key].append(float(row[n.rules.target]))
    both = set(cells[0]) | set(cells[1])
    before, after = ([cell.get(key, []) for key in both] for cell in cells)
    pairs = list(zip(before, after, strict=True))
    return {
        "cross_mean": math.fsum(abs(mean(a) - mean(b)) for a, b in pairs) / space,
        "cross_count": sum(abs(len(a) - len(b)) for a, b in pairs) / space,
    }


def correlations(cells: Floats) -> Floats:
    centred = cells - cells.mean(0)
    constant = cells.min(0) == cells.max(0)
    lengths = np.where(constant, 1.0, np.sqrt((centred**2).sum(0)))
    found: Floats = centred.T @ centred / np.outer(lengths, lengths)
    found[constant] = found[:, constant] = 0.0
    return found


def anonymity(n: Numbers) -> dict[str, float]:
    sizes = Counter(n.qy).values()
    return {"k_min": float(min(sizes)), "k_mean": len(n.y) / len(sizes)}


def attackers(n: Numbers) -> dict[str, float]:
    single, ranked = (n.rules.sensitive.index(column) for column in (n.rules.single, n.rules.ranked))
    every = np.arange(len(n.x))
    by_column = [nearest(n, row, every, [single]) for row in range(len(n.y))]
    by_all = [nearest(n, row, every, range(len(n.rules.sensitive))) for row in range(len(n.y))]
    matched = np.array([n.candidates(row) is not None for row in range(len(n.y))])
    return {
        "id_rand": mean([chance(n, row) for row in range(len(n.y))]),
        "id_sa": rate(n, np.array(by_column)),
        "sort": rate(n, by_rank(column_sums(n.sx), column_sums(n.sy), stretched=False)),
        "sa_rank": rate(n, by_rank(n.sx[:, ranked], n.sy[:, ranked], stretched=True)),
        "sa_nearest": rate(n, np.array([np.argmin(np.abs(n.sx[:, ranked] - y)) for y in n.sy[:, ranked]])),
        "euc1": rate(n, np.where(matched, by_all, -1)),
        "euc2": rate(n, np.array(by_all)),
        "own_row": rate(n, np.arange(len(n.y))),
        "aya": rate(n, np.array([nearest_unlike(n, row, every) for row in range(len(n.y))])),
        "gower": rate(n, nearest_by_gower(n)),
    }


def nearest_unlike(n: Numbers, row: int, every: Ints) -> int:
    """The nearest matching row that is not equal in every column; none left: as EUC2."""
    found, columns = n.candidates(row), range(len(n.rules.sensitive))
    unlike = [] if found is None else [i for i in found if (n.sx[i] != n.sy[row]).any()]
    if not unlike:
        return nearest(n, row, every, columns)
    squares = np.zeros(len(unlike))
    for column in columns:
        gap = n.sx[unlike, column] - n.sy[row, column]
        squares = squares + gap * gap
    return int(unlike[np.argmin(squares)])


def nearest_by_gower(n: Numbers) -> Ints:
    """By all columns; totals within 1e-12 of the least are equal, the lower row wins."""
    spread = n.sx.max(0) - n.sx.min(0)
    codes = [
        np.unique([*column_of(n.x, c), *column_of(n.y, c)], return_inverse=True)[1] for c in n.rules.quasi
    ]
    guess = np.empty(len(n.y), dtype=np.int64)
    for row in range(len(n.y)):
        total = np.minimum(1, shares_of(np.abs(n.sx - n.sy[row]), spread)).sum(1)
        for column in codes:
            total = total + (column[: len(n.x)] != column[len(n.x) + row])
        guess[row] = np.argmax(total <= total.min() * (1 + 1e-12))
    return guess


def column_of(rows: Sequence[Row], column: int) -> list[str]:
    return [row[column] for row in rows]


def rate(n: Numbers, guess: Ints) -> float:
    return float(np.count_nonzero(guess == n.source) / len(n.y))


def chance(n: Numbers, row: int) -> float:
    found = n.candidates(row)
    return 0.0 if found is None or n.source[row] not in found else 1 / len(found)


def nearest(n: Numbers, row: int, every: Ints, columns: Sequence[int]) -> int:
    """Of the matching rows, or of all, the nearest: squares summed in column order, the lower row on ties."""
    found = n.candidates(row)
    rows = every if found is None else found
    total = np.zeros(len(rows))
    for column in columns:
        gap = n.sx[rows, column] - n.sy[row, column]
        total = total + (gap * gap if len(columns) > 1 else np.abs(gap))
    return int(rows[np.argmin(total)])


def column_sums(cells: Floats) -> Floats:
    total = np.zeros(len(cells))
    for column in cells.T:
        total = total + column
    return total


def by_rank(x: Floats, y: Floats, *, stretched: bool) -> Ints:
    order, ranks = np.argsort(x, kind="stable"), np.arange(len(y))
    guess = np.empty(len(y), dtype=np.int64)
    guess[np.argsort(y, kind="stable")] = order[ranks * len(x) // len(y) if stretched else ranks]
    return guess


def gower_distances(n: Numbers) -> Floats:
    """Of every individual; a deleted one counts 1."""
    spread = n.sx.max(0) - n.sx.min(0)
    found = np.ones(len(n.x))
    for row, origin in enumerate(n.source):
        mismatches = sum(n.x[origin][c] != n.y[row][c] for c in n.rules.quasi)
        apart = np.abs(n.sx[origin] - n.sy[row])
        shares = np.minimum(1, shares_of(apart, spread))
        found[origin] = (mismatches + shares.sum()) / (len(n.rules.quasi) + len(n.rules.sensitive))
    return found


def scales(rules: Rules, x: Sequence[Row]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for draw in range(5):
        rng = np.random.Generator(np.random.PCG64(draw))
        columns = []
        for column in range(len(x[0])):
            order = rng.permutation(len(x))
            columns.append([x[row][column] for row in order])
        null = list(zip(*columns, strict=True))
        for name, value in utility(Numbers(rules, x, null, np.arange(len(x)))).items():
            found[name].append(value)
    deviations = values(x, rules.sensitive).std(0)
    return {name: mean(drawn) for name, drawn in found.items()} | {
        "mean_mae": float(deviations.mean()),
        "row_difference": float(len(x)),
    }


def utility_score(found: dict[str, float], scale: dict[str, float], largest: float) -> float:
    """U with equal weights."""
    scores = []
    for name, value in found.items():
        tiny = 1e-9 * largest if name in {"mean_mae", "cross_mean"} else 1e-9
        small, bound = (0.0 if number < tiny else number for number in (value, scale[name]))
        scores.append((0.0 if small == 0 else 1.0) if bound == 0 else min(1.0, small / bound))
    return sum(scores) / len(scores)
