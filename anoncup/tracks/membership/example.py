"""Generate a seeded health survey over ten years with a few cases of rare diseases. All values are invented.

The columns are correlated because each person has a latent health burden. Numbers have no more digits than
people usually write.
"""

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.membership.settings import CategoricalColumn, NumericColumn, TableSchema
from anoncup.tracks.membership.tables import TypedTable

DEFAULT_ROWS = 2000
FIRST_YEAR, YEAR_COUNT = 2016, 10
RARE_DISEASE_SHARE = 0.004
"""Share of people with each of the two rare diseases."""

SCHEMA = TableSchema(
    (
        NumericColumn("year", FIRST_YEAR, FIRST_YEAR + YEAR_COUNT - 1),
        NumericColumn("age", 18, 100),
        CategoricalColumn("sex", ("f", "m")),
        CategoricalColumn("region", ("north", "east", "south", "west", "islands")),
        CategoricalColumn("smoking", ("never", "former", "current")),
        NumericColumn("height", 120, 220),
        NumericColumn("weight", 30, 250),
        NumericColumn("systolic", 70, 260),
        NumericColumn("cholesterol", 80, 500),
        NumericColumn("hba1c", 3, 20),
        NumericColumn("steps", 0, 60000),
        CategoricalColumn("disease", ("none", "hypertension", "diabetes", "cystic fibrosis", "acromegaly")),
    )
)


def generate_survey(rows: int = DEFAULT_ROWS, *, seed: int = 2026) -> TypedTable:
    """Generate ``rows`` answers to the survey, with the columns of ``SCHEMA``."""
    rng = Generator(PCG64(seed))
    year, age = rng.integers(FIRST_YEAR, FIRST_YEAR + YEAR_COUNT, rows), _sample_ages(rng, rows)
    burden = 0.03 * (age - 50) + 0.04 * (year - FIRST_YEAR) + rng.standard_normal(rows)
    sex = rng.integers(0, 2, rows)
    region = rng.choice(5, rows, p=(0.3, 0.25, 0.25, 0.18, 0.02))
    smoking = np.digitize(0.3 * burden + rng.standard_normal(rows), (0.2, 0.9))
    disease = _sample_diseases(rng, burden)
    numbers = _sample_measurements(rng, sex, burden, disease) | {"year": year.astype(np.float64), "age": age}
    columns = [np.clip(numbers[column.name], column.minimum, column.maximum) for column in SCHEMA.numeric]
    return TypedTable(SCHEMA, np.column_stack(columns), np.column_stack((sex, region, smoking, disease)))


def _sample_ages(rng: Generator, rows: int) -> FloatArray:
    """Sample ages from 18, mostly of young and middle-aged people."""
    return np.floor(18 + 77 * rng.beta(1.4, 1.8, rows))


def _sample_diseases(rng: Generator, burden: FloatArray) -> IntArray:
    """Sample diseases; common ones depend on the burden, rare ones do not."""
    disease_score = burden + 0.7 * rng.standard_normal(len(burden))
    common = np.digitize(disease_score, (1.0, 2.0))
    uniform = rng.random(len(burden))
    rare = np.where(uniform < RARE_DISEASE_SHARE, 3, 4)
    return np.where(uniform < 2 * RARE_DISEASE_SHARE, rare, common).astype(np.int64)


def _sample_measurements(
    rng: Generator, sex: IntArray, burden: FloatArray, disease: IntArray
) -> dict[str, FloatArray]:
    """Sample the measured values; the rare diseases affect them."""
    rows = len(sex)
    height = 163 + 13.0 * sex + 6.5 * rng.standard_normal(rows) + np.where(disease == 4, 18.0, 0.0)
    body_mass_index = 24 + 1.5 * burden + 3.2 * rng.standard_normal(rows) - np.where(disease == 3, 5.5, 0.0)
    sugar = 5.3 + 0.15 * burden + 0.3 * rng.standard_normal(rows) + np.where(disease == 2, 1.8, 0.0)
    pressure = 121 + 6 * burden + 9 * rng.standard_normal(rows) + np.where(disease == 1, 14.0, 0.0)
    steps = 7200 - 900 * burden + 2300 * rng.standard_normal(rows)
    return {
        "height": np.round(height, 1),
        "weight": np.round(body_mass_index * (height / 100) ** 2, 1),
        "systolic": np.round(pressure),
        "cholesterol": np.round(190 + 11 * burden + 30 * rng.standard_normal(rows)),
        "hba1c": np.round(sugar, 1),
        "steps": np.round(steps),
    }
