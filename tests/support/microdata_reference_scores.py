"""All measures and attackers of the second implementation, applied to the files of a contest."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum
from statistics import fmean, pstdev

import numpy as np

from tests.support import microdata_reference as measures
from tests.support import microdata_reference_attackers as attackers
from tests.support.microdata_reference import Cells, Guess, Tables, Texts

SCALE_DRAWS = 5


def parse_table(content: bytes, quasi_count: int) -> tuple[Texts, Cells]:
    """Return the quasi-identifiers, which are the first columns, and the numbers behind them."""
    rows = list(csv.reader(io.StringIO(content.decode())))[1:]
    texts = [tuple(row[:quasi_count]) for row in rows]
    return texts, [list(map(float, row[quasi_count:])) for row in rows]


@dataclass
class ReferenceOriginal:
    """An original, and the scale of each weighted measure.

    ``cross_columns`` are positions among the quasi-identifiers, the others positions among the numbers.
    """

    texts: Texts
    cells: Cells
    cross_columns: Sequence[int]
    value_column: int = 0
    """Column of cross_mean and id_sa."""
    rank_column: int = 0
    """Column of sa_rank and sa_nearest."""
    scales: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        source = list(range(len(self.cells)))
        draws = [self.compute_measures(*self.permute_columns(seed), source) for seed in range(SCALE_DRAWS)]
        self.scales = {name: fmean(draw[name] for draw in draws) for name in draws[0]}
        self.scales["mean_mae"] = fmean(map(pstdev, zip(*self.cells, strict=True)))
        self.scales["row_difference"] = float(len(self.cells))

    def permute_columns(self, seed: int) -> tuple[Texts, Cells]:
        rng, rows = np.random.Generator(np.random.PCG64(seed)), len(self.cells)
        columns = [
            [column[row] for row in rng.permutation(rows)]
            for column in (*zip(*self.texts, strict=True), *zip(*self.cells, strict=True))
        ]
        width = len(self.texts[0])
        texts, cells = zip(*columns[:width], strict=True), zip(*columns[width:], strict=True)
        return list(texts), [list(row) for row in cells]

    def compute_measures(self, texts: Texts, cells: Cells, source: Sequence[int]) -> dict[str, float]:
        """Return the measures that may weigh. ``source`` has the original row of each released one."""
        tables = self.texts, self.cells, texts, cells
        return {
            "mean_mae": measures.mean_mae(self.cells, cells),
            "cross_mean": measures.cross_mean(tables, self.cross_columns, [self.value_column]),
            "cross_count": measures.cross_count(self.texts, texts, self.cross_columns),
            "cor_mae": measures.cor_mae(self.cells, cells),
            "information_loss": measures.information_loss(self.cells, cells, source),
            "row_difference": float(len(self.cells) - len(cells)),
        }

    def compute_utility(self, values: dict[str, float], weights: dict[str, float]) -> float:
        losses = {name: min(1.0, values[name] / self.scales[name]) for name in weights}
        return fsum(weight * losses[name] for name, weight in weights.items()) / fsum(weights.values())

    def compute_attackers(self, texts: Texts, cells: Cells, source: Sequence[int]) -> dict[str, float]:
        """Return the share of the released rows that each attacker links, except the optimal assignments."""
        tables: Tables = self.texts, self.cells, texts, cells
        quasi, numbers = range(len(self.texts[0])), range(len(self.cells[0]))
        guesses: dict[str, Guess] = {
            "id_sa": measures.id_sa(tables, quasi, self.value_column),
            "sort": measures.sort(self.cells, cells, numbers),
            "sa_rank": measures.sa_rank(self.cells, cells, self.rank_column),
            "sa_nearest": measures.id_sa(tables, [], self.rank_column),
            "euc1": measures.euclidean_guess(tables, quasi, numbers, search_all=False),
            "euc2": measures.euclidean_guess(tables, quasi, numbers, search_all=True),
            "aya": attackers.aya(tables, quasi, numbers),
            "own_row": list(range(len(cells))),
            "gower": attackers.gower(tables),
        }
        rates = {
            name: sum(row == own for row, own in zip(guess, source, strict=True)) / len(source)
            for name, guess in guesses.items()
        }
        return {"id_rand": measures.id_rand_rate(self.texts, texts, source, quasi), **rates}

    def compute_distances(self, texts: Texts, cells: Cells, source: Sequence[int]) -> list[float]:
        """Return the Gower distance of each individual from its own row; a deleted one counts 1."""
        widths = measures.column_widths(self.cells)
        distances = [
            measures.gower(self.texts[row], self.cells[row], texts[number], cells[number], widths)
            for number, row in enumerate(source)
        ]
        return distances + [1.0] * (len(self.cells) - len(cells))
