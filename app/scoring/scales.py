"""What a measure's value is held against: its mean over releases that kept nothing but the marginals (§4)."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from app.scoring.competition import MeasureSettings
from app.scoring.magnitude import finite_mean, standard_deviation
from app.scoring.registry import Measure
from app.scoring.release import PreparedOriginal, Release, release_of
from app.scoring.utility import UTILITIES

DRAWS = 5


def null_release(original: PreparedOriginal, draw: int) -> Release:
    """Every column, in file order, permuted by itself with the generator PCG64(draw); secret = identity."""
    rng = Generator(PCG64(draw))
    table = original.table
    columns = {name: table[name].to_numpy()[rng.permutation(original.rows)] for name in table.columns}
    return release_of(original, pd.DataFrame(columns), np.arange(original.rows))


def scales(original: PreparedOriginal, measures: Mapping[str, MeasureSettings]) -> dict[str, float]:
    """The scale of every measure that may weigh in U, under the competition's parameters; full precision."""
    releases = [null_release(original, draw) for draw in range(DRAWS)]
    return {
        name: OWN_SCALES[name](original) if name in OWN_SCALES else _null_mean(measure, releases, measures)
        for name, measure in UTILITIES.items()
    }


def mean_deviation(original: PreparedOriginal) -> float:
    """The scale of ``mean_mae``, which no permutation moves: mean deviation of the sensitive columns."""
    return finite_mean(standard_deviation(column) for column in np.ascontiguousarray(original.values.T))


def original_rows(original: PreparedOriginal) -> float:
    """The scale of ``row_difference``: the number of original rows."""
    return float(original.rows)


OWN_SCALES: Mapping[str, Callable[[PreparedOriginal], float]] = {
    "mean_mae": mean_deviation,
    "row_difference": original_rows,
}


def _null_mean(measure: Measure, releases: list[Release], settings: Mapping[str, MeasureSettings]) -> float:
    parameters = settings.get(measure.name, MeasureSettings()).parameters
    return finite_mean(measure.compute(release, **parameters) for release in releases)
