"""A seeded health survey over ten years with a few rare cases: example data whose values are invented.

Everybody has a latent burden of health that the columns depend on, so that they go together. Numbers have no
more digits than people write.
"""

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.membership.schema import Categorical, Numeric, Schema
from anoncup.tracks.membership.tables import Table

ROWS = 2000
FIRST_YEAR, YEARS = 2016, 10
RARE = 0.004
"""The share of each of the two rare diseases."""

SCHEMA = Schema(
    (
        Numeric("year", FIRST_YEAR, FIRST_YEAR + YEARS - 1),
        Numeric("age", 18, 100),
        Categorical("sex", ("f", "m")),
        Categorical("region", ("north", "east", "south", "west", "islands")),
        Categorical("smoking", ("never", "former", "current")),
        Numeric("height", 120, 220),
        Numeric("weight", 30, 250),
        Numeric("systolic", 70, 260),
        Numeric("cholesterol", 80, 500),
        Numeric("hba1c", 3, 20),
        Numeric("steps", 0, 60000),
        Categorical("disease", ("none", "hypertension", "diabetes", "cystic fibrosis", "acromegaly")),
    )
)


def survey_table(rows: int = ROWS, *, seed: int = 2026) -> Table:
    """``rows`` answers to the survey, columns as in ``SCHEMA``."""
    rng = Generator(PCG64(seed))
    year, age = rng.integers(FIRST_YEAR, FIRST_YEAR + YEARS, rows), _ages(rng, rows)
    burden = 0.03 * (age - 50) + 0.04 * (year - FIRST_YEAR) + rng.standard_normal(rows)
    sex = rng.integers(0, 2, rows)
    region = rng.choice(5, rows, p=(0.3, 0.25, 0.25, 0.18, 0.02))
    smoking = np.digitize(0.3 * burden + rng.standard_normal(rows), (0.2, 0.9))
    disease = _diseases(rng, burden)
    numbers = _body(rng, sex, burden, disease) | {"year": year.astype(np.float64), "age": age}
    columns = [np.clip(numbers[column.name], column.least, column.most) for column in SCHEMA.numeric]
    return Table(SCHEMA, np.column_stack(columns), np.column_stack((sex, region, smoking, disease)))


def _ages(rng: Generator, rows: int) -> FloatArray:
    """More of the young and the middle-aged, none below 18."""
    return np.floor(18 + 77 * rng.beta(1.4, 1.8, rows))


def _diseases(rng: Generator, burden: FloatArray) -> IntArray:
    """The common ones come with the burden, the rare ones to anybody."""
    strain = burden + 0.7 * rng.standard_normal(len(burden))
    common = np.digitize(strain, (1.0, 2.0))
    lot = rng.random(len(burden))
    rare = np.where(lot < RARE, 3, 4)
    return np.where(lot < 2 * RARE, rare, common).astype(np.int64)


def _body(rng: Generator, sex: IntArray, burden: FloatArray, disease: IntArray) -> dict[str, FloatArray]:
    """What is measured; the rare diseases show in it."""
    rows = len(sex)
    height = 163 + 13.0 * sex + 6.5 * rng.standard_normal(rows) + np.where(disease == 4, 18.0, 0.0)
    mass = 24 + 1.5 * burden + 3.2 * rng.standard_normal(rows) - np.where(disease == 3, 5.5, 0.0)
    sugar = 5.3 + 0.15 * burden + 0.3 * rng.standard_normal(rows) + np.where(disease == 2, 1.8, 0.0)
    pressure = 121 + 6 * burden + 9 * rng.standard_normal(rows) + np.where(disease == 1, 14.0, 0.0)
    walked = 7200 - 900 * burden + 2300 * rng.standard_normal(rows)
    return {
        "height": np.round(height, 1),
        "weight": np.round(mass * (height / 100) ** 2, 1),
        "systolic": np.round(pressure),
        "cholesterol": np.round(190 + 11 * burden + 30 * rng.standard_normal(rows)),
        "hba1c": np.round(sugar, 1),
        "steps": np.round(walked),
    }
