"""Third implementation of the microdata scores, vectorized for tables too large for plain loops.

It shares no code with the program. Rows are lists of strings, as a CSV reader returns them.
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
class ColumnRoles:
    """Column roles and parameters of the 2015 contest, by column position."""

    quasi: Sequence[int]
    sensitive: Sequence[int]
    cross_columns: Sequence[int]
    cross_target: int
    id_sa_column: int
    """Column used by id_sa."""
    rank_column: int
    """Column used by sa_rank and sa_nearest."""


class NumericTables:
    """Numeric cells of X and Y and the equivalence classes of X."""

    def __init__(self, rules: ColumnRoles, x: Sequence[Row], y: Sequence[Row], source: Ints) -> None:
        self.rules, self.x, self.y, self.source = rules, x, y, source
        self.sx, self.sy = (parse_numeric_cells(table, rules.sensitive) for table in (x, y))
        self.qx, self.qy = (list_row_keys(table, rules.quasi) for table in (x, y))
        self.classes: dict[Row, list[int]] = defaultdict(list)
        for row, key in enumerate(self.qx):
            self.classes[key].append(row)

    def find_candidates(self, row: int) -> Ints | None:
        rows = self.classes.get(self.qy[row])
        return None if rows is None else np.array(rows)


def parse_numeric_cells(table: Sequence[Row], columns: Sequence[int]) -> Floats:
    return np.array([[float(row[column]) for column in columns] for row in table])


def list_row_keys(table: Sequence[Row], columns: Sequence[int]) -> list[Row]:
    return [tuple(row[column] for column in columns) for row in table]


def compute_utility_losses(tables: NumericTables) -> dict[str, float]:
    spread = tables.sx.max(0) - tables.sx.min(0)
    differences = np.abs(tables.sy - tables.sx[tables.source])
    upper = np.triu_indices(len(tables.rules.sensitive), 1)
    return {
        "mean_mae": float(
            np.mean([abs(mean(a) - mean(b)) for a, b in zip(tables.sx.T, tables.sy.T, strict=True)])
        ),
        **cross_tables(tables),
        "cor_mae": float(np.abs(correlations(tables.sx) - correlations(tables.sy))[upper].mean()),
        "information_loss": float(
            np.where(spread > 0, differences / np.where(spread > 0, spread, 1), differences > 0).mean()
        ),
        "row_difference": float(len(tables.x) - len(tables.y)),
    }


def compute_range_shares(differences: Floats, spread: Floats) -> Floats:
    """Return the differences divided by the range; with a range of 0, 0 if equal and 1 otherwise."""
    return np.where(spread > 0, differences / np.where(spread > 0, spread, 1), differences > 0)


def mean(cells: Sequence[float] | Floats) -> float:
    return math.fsum(cells) / len(cells) if len(cells) else 0.0


def cross_tables(tables: NumericTables) -> dict[str, float]:
    space = math.prod(
        len({row[column] for row in (*tables.x, *tables.y)}) for column in tables.rules.cross_columns
    )
    cells: list[dict[Row, list[float]]] = []
    for table in (tables.x, tables.y):
        cells.append(defaultdict(list))
        for row, key in zip(table, list_row_keys(table, tables.rules.cross_columns), strict=True):
            cells[-1][key].append(float(row[tables.rules.cross_target]))
    cell_keys = set(cells[0]) | set(cells[1])
    original_cells, released_cells = ([cell.get(key, []) for key in cell_keys] for cell in cells)
    pairs = list(zip(original_cells, released_cells, strict=True))
    return {
        "cross_mean": math.fsum(abs(mean(a) - mean(b)) for a, b in pairs) / space,
        "cross_count": sum(abs(len(a) - len(b)) for a, b in pairs) / space,
    }


def correlations(cells: Floats) -> Floats:
    centred = cells - cells.mean(0)
    constant = cells.min(0) == cells.max(0)
    lengths = np.where(constant, 1.0, np.sqrt((centred**2).sum(0)))
    matrix: Floats = centred.T @ centred / np.outer(lengths, lengths)
    matrix[constant] = matrix[:, constant] = 0.0
    return matrix


def anonymity(tables: NumericTables) -> dict[str, float]:
    sizes = Counter(tables.qy).values()
    return {"k_min": float(min(sizes)), "k_mean": len(tables.y) / len(sizes)}


def compute_attack_rates(tables: NumericTables) -> dict[str, float]:
    id_sa_column, rank_column = (
        tables.rules.sensitive.index(column)
        for column in (tables.rules.id_sa_column, tables.rules.rank_column)
    )
    all_rows = np.arange(len(tables.x))
    nearest_by_column = [find_nearest(tables, row, all_rows, [id_sa_column]) for row in range(len(tables.y))]
    nearest_by_all = [
        find_nearest(tables, row, all_rows, range(len(tables.rules.sensitive)))
        for row in range(len(tables.y))
    ]
    has_candidates = np.array([tables.find_candidates(row) is not None for row in range(len(tables.y))])
    return {
        "id_rand": mean([compute_hit_chance(tables, row) for row in range(len(tables.y))]),
        "id_sa": rate(tables, np.array(nearest_by_column)),
        "sort": rate(
            tables,
            guess_by_rank(compute_column_sums(tables.sx), compute_column_sums(tables.sy), is_stretched=False),
        ),
        "sa_rank": rate(
            tables, guess_by_rank(tables.sx[:, rank_column], tables.sy[:, rank_column], is_stretched=True)
        ),
        "sa_nearest": rate(
            tables,
            np.array([np.argmin(np.abs(tables.sx[:, rank_column] - y)) for y in tables.sy[:, rank_column]]),
        ),
        "euc1": rate(tables, np.where(has_candidates, nearest_by_all, -1)),
        "euc2": rate(tables, np.array(nearest_by_all)),
        "own_row": rate(tables, np.arange(len(tables.y))),
        "aya": rate(
            tables, np.array([find_nearest_unequal(tables, row, all_rows) for row in range(len(tables.y))])
        ),
        "gower": rate(tables, find_nearest_by_gower(tables)),
    }


def find_nearest_unequal(tables: NumericTables, row: int, all_rows: Ints) -> int:
    """Return the nearest matching row that differs in at least one column; without one, as EUC2."""
    matching, columns = tables.find_candidates(row), range(len(tables.rules.sensitive))
    unequal = (
        []
        if matching is None
        else [candidate for candidate in matching if (tables.sx[candidate] != tables.sy[row]).any()]
    )
    if not unequal:
        return find_nearest(tables, row, all_rows, columns)
    squares = np.zeros(len(unequal))
    for column in columns:
        gap = tables.sx[unequal, column] - tables.sy[row, column]
        squares = squares + gap * gap
    return int(unequal[np.argmin(squares)])


def find_nearest_by_gower(tables: NumericTables) -> Ints:
    """Return the row nearest by all columns; totals within 1e-12 of the minimum tie, the lower row wins."""
    spread = tables.sx.max(0) - tables.sx.min(0)
    codes = [
        np.unique(
            [*list_column_cells(tables.x, position), *list_column_cells(tables.y, position)],
            return_inverse=True,
        )[1]
        for position in tables.rules.quasi
    ]
    guess = np.empty(len(tables.y), dtype=np.int64)
    for row in range(len(tables.y)):
        total = np.minimum(1, compute_range_shares(np.abs(tables.sx - tables.sy[row]), spread)).sum(1)
        for column in codes:
            total = total + (column[: len(tables.x)] != column[len(tables.x) + row])
        guess[row] = np.argmax(total <= total.min() * (1 + 1e-12))
    return guess


def list_column_cells(rows: Sequence[Row], column: int) -> list[str]:
    return [row[column] for row in rows]


def rate(tables: NumericTables, guess: Ints) -> float:
    return float(np.count_nonzero(guess == tables.source) / len(tables.y))


def compute_hit_chance(tables: NumericTables, row: int) -> float:
    matching = tables.find_candidates(row)
    return 0.0 if matching is None or tables.source[row] not in matching else 1 / len(matching)


def find_nearest(tables: NumericTables, row: int, all_rows: Ints, columns: Sequence[int]) -> int:
    """Return the nearest row among the matching rows, or among all if none matches.

    Squares are summed in column order; the lower row wins a tie.
    """
    matching = tables.find_candidates(row)
    rows = all_rows if matching is None else matching
    total = np.zeros(len(rows))
    for column in columns:
        gap = tables.sx[rows, column] - tables.sy[row, column]
        total = total + (gap * gap if len(columns) > 1 else np.abs(gap))
    return int(rows[np.argmin(total)])


def compute_column_sums(cells: Floats) -> Floats:
    total = np.zeros(len(cells))
    for column in cells.T:
        total = total + column
    return total


def guess_by_rank(x: Floats, y: Floats, *, is_stretched: bool) -> Ints:
    order, ranks = np.argsort(x, kind="stable"), np.arange(len(y))
    guess = np.empty(len(y), dtype=np.int64)
    guess[np.argsort(y, kind="stable")] = order[ranks * len(x) // len(y) if is_stretched else ranks]
    return guess


def compute_gower_distances(tables: NumericTables) -> Floats:
    """Return the Gower distance of every individual; a deleted one counts 1."""
    spread = tables.sx.max(0) - tables.sx.min(0)
    distances = np.ones(len(tables.x))
    for row, origin in enumerate(tables.source):
        mismatches = sum(tables.x[origin][column] != tables.y[row][column] for column in tables.rules.quasi)
        differences = np.abs(tables.sx[origin] - tables.sy[row])
        shares = np.minimum(1, compute_range_shares(differences, spread))
        distances[origin] = (mismatches + shares.sum()) / (
            len(tables.rules.quasi) + len(tables.rules.sensitive)
        )
    return distances


def scales(rules: ColumnRoles, x: Sequence[Row]) -> dict[str, float]:
    losses: dict[str, list[float]] = defaultdict(list)
    for seed in range(5):
        rng = np.random.Generator(np.random.PCG64(seed))
        columns = []
        for column in range(len(x[0])):
            order = rng.permutation(len(x))
            columns.append([x[row][column] for row in order])
        null_rows = list(zip(*columns, strict=True))
        for name, value in compute_utility_losses(
            NumericTables(rules, x, null_rows, np.arange(len(x)))
        ).items():
            losses[name].append(value)
    deviations = parse_numeric_cells(x, rules.sensitive).std(0)
    return {name: mean(samples) for name, samples in losses.items()} | {
        "mean_mae": float(deviations.mean()),
        "row_difference": float(len(x)),
    }


def compute_utility_score(losses: dict[str, float], scale: dict[str, float], largest: float) -> float:
    """Return U with equal weights."""
    scores = []
    for name, value in losses.items():
        tiny = 1e-9 * largest if name in {"mean_mae", "cross_mean"} else 1e-9
        loss, limit = (0.0 if number < tiny else number for number in (value, scale[name]))
        scores.append((0.0 if loss == 0 else 1.0) if limit == 0 else min(1.0, loss / limit))
    return sum(scores) / len(scores)
