"""Generate a seeded table like PWS Cup 2015's household data. All values are invented.

The columns are those of Table A-1 of P1 (``anoncup.tracks`` lists the papers). Categories and expenditures
are correlated because each household has a latent wealth and age. Amounts are whole numbers, so that the same
seed gives the same table on every machine.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv

_ObjectColumn = npt.NDArray[np.object_]
_TextColumns = dict[str, _ObjectColumn]
_NumberColumns = dict[str, IntArray]

DEFAULT_ROWS = 8333
QUASI_IDENTIFIERS = (
    "SetaiKubun",
    "SetaiJinin",
    "ShuugyouJinin",
    "Kouzou",
    "Tatekata",
    "Shoyuu",
    "S1_Sex",
    "S1_Age",
    "S1_Shuugyou",
    "S1_KigyouKubun",
    "S1_KigyouKibo",
    "S1_Sangyou",
    "S1_Shokugyou",
)
_TOTAL_COLUMN = "Youto037"
_EXPENDITURES: dict[str, tuple[float, float, float, float]] = {
    "Youto038": (74639, 0.40, 0.0, 0.55),
    "Youto079": (14686, 0.90, 0.02, 0.25),
    "Youto084": (19733, 0.45, 0.0, 0.40),
    "Youto089": (8665, 0.95, 0.05, 0.45),
    "Youto099": (14166, 0.75, 0.03, 0.60),
    "Youto117": (11104, 1.10, 0.76, 0.40),
    "Youto122": (47977, 0.90, 0.04, 0.50),
    "Youto129": (33928, 0.80, 0.02, 0.60),
    "Youto133": (32401, 0.95, 0.08, 0.55),
    "Youto142": (67227, 0.85, 0.0, 0.65),
}
"""Mean amount, standard deviation of its logarithm, share of zeros, and correlation with wealth."""
_SENSITIVE = ("Weight", _TOTAL_COLUMN, *_EXPENDITURES)
MEAN_WEIGHT = 15.7


def get_household_columns() -> Columns:
    """Return the roles of the 25 columns: 13 quasi-identifiers, 12 sensitive."""
    return Columns(QUASI_IDENTIFIERS, _SENSITIVE)


def generate_households(rows: int = DEFAULT_ROWS, *, seed: int = 2015) -> pd.DataFrame:
    """Generate ``rows`` households, with columns in the order of ``get_household_columns``."""
    rng = Generator(PCG64(seed))
    wealth = rng.standard_normal(rows)
    household = _sample_households(rng, wealth)
    dwelling = _sample_dwellings(rng, wealth, household)
    head = _sample_heads(rng, wealth, household)
    amounts = _sample_amounts(rng, wealth, household["SetaiJinin"])
    categories: dict[str, IntArray | _ObjectColumn] = {**household, **dwelling, **head}
    columns = {name: list(map(str, categories[name].tolist())) for name in QUASI_IDENTIFIERS}
    return pd.DataFrame({**columns, "Weight": _sample_weights(rng, wealth), **amounts})


def _sample_households(rng: Generator, wealth: FloatArray) -> _NumberColumns:
    """Sample the kind (always 1), 1-8 persons, 0-4 earners and the head's age group 1-11."""
    age = _sample_ordered_category(rng, wealth, (1, 4, 8, 11, 13, 13, 13, 13, 11, 8, 5), correlation=0.15) + 1
    persons = (
        _sample_ordered_category(rng, -np.abs(age - 5.0), (12, 28, 23, 22, 10, 4, 0.8, 0.2), correlation=0.75)
        + 1
    )
    earners = _sample_ordered_category(
        rng, persons - 0.9 * np.maximum(age - 8, 0), (13, 42, 32, 10, 3), correlation=0.93
    )
    kind = np.ones(len(wealth), dtype=np.int64)
    return {
        "SetaiKubun": kind,
        "SetaiJinin": persons,
        "ShuugyouJinin": np.minimum(earners, persons),
        "S1_Age": age,
    }


def _sample_dwellings(rng: Generator, wealth: FloatArray, household: _NumberColumns) -> _TextColumns:
    """Sample the structure, kind of building and tenure; 'V' and 'VV' mean unknown."""
    tenure = _sample_ordered_category(
        rng, 0.7 * wealth + 0.3 * household["S1_Age"], (1, 1, 3, 5, 14, 2, 72, 2), correlation=0.85
    )
    building = _sample_ordered_category(
        rng, np.minimum(tenure, 5.0), (3, 4, 5, 6, 8, 72, 2), correlation=0.97
    )
    structure = _sample_ordered_category(
        rng, -np.minimum(building, 5.0), (66, 10, 21, 1, 2), correlation=0.97
    )
    return {
        "Kouzou": _label_codes(structure, ("1", "2", "3", "4", "V")),
        "Tatekata": _label_codes(building, ("1", "2", "3", "4", "5", "6", "V")),
        "Shoyuu": _label_codes(tenure, ("1", "2", "3", "4", "5", "6", "7", "VV")),
    }


def _sample_heads(rng: Generator, wealth: FloatArray, household: _NumberColumns) -> _TextColumns:
    """Sample sex and work of the head; without work, employer, trade and occupation are unknown ('V')."""
    career = 0.6 * wealth + 0.8 * rng.standard_normal(len(wealth))
    sex = _sample_ordered_category(rng, -household["SetaiJinin"], (86, 14), correlation=0.85)
    employment = np.where(
        household["ShuugyouJinin"] == 0,
        2,
        _sample_ordered_category(rng, -career, (92, 6, 2), correlation=0.6),
    )
    employer = _sample_ordered_category(rng, career, (88, 12), correlation=0.97)
    company_size = _sample_ordered_category(rng, career, (18, 14, 14, 10, 12, 32), correlation=0.992)
    trade = _sample_ordered_category(
        rng, career + 0.5 * sex, (1, 1, 6, 32, 2, 2, 4, 17, 3, 2, 4, 6, 4, 16), correlation=0.992
    )
    occupation = _sample_ordered_category(rng, career + 0.5 * sex, (5, 46, 30, 15, 4), correlation=0.992)
    return {
        "S1_Sex": _label_codes(sex, ("1", "2")),
        "S1_Shuugyou": _label_codes(employment, ("1", "2", "3")),
        "S1_KigyouKubun": _label_for_workers(employment, employer, "V", ("1", "2")),
        "S1_KigyouKibo": _label_for_workers(employment, company_size, "V", tuple("123456")),
        "S1_Sangyou": _label_for_workers(
            employment, trade, "VV", tuple(f"{number:02}" for number in range(1, 15))
        ),
        "S1_Shokugyou": _label_for_workers(employment, occupation, "V", tuple("12345")),
    }


def _sample_amounts(rng: Generator, wealth: FloatArray, persons: IntArray) -> dict[str, FloatArray]:
    """Sample ten expenditures, log-normal with zeros, in whole yen; their total comes first."""
    expenditures = {
        name: _sample_amount(rng, wealth + 0.25 * (persons - 3), distribution)
        for name, distribution in _EXPENDITURES.items()
    }
    return {_TOTAL_COLUMN: np.sum(list(expenditures.values()), axis=0), **expenditures}


def _sample_amount(
    rng: Generator, wealth: FloatArray, distribution: tuple[float, float, float, float]
) -> FloatArray:
    """Sample one kind of expenditure, scaled to the mean amount of ``distribution``."""
    mean_amount, spread, zero_share, wealth_share = distribution
    logarithm = spread * (
        wealth_share * wealth + np.sqrt(1 - wealth_share**2) * rng.standard_normal(len(wealth))
    )
    raw_amounts = np.exp(logarithm) * (rng.random(len(wealth)) >= zero_share)
    amounts: FloatArray = np.rint(
        raw_amounts * (mean_amount * len(wealth) / max(float(raw_amounts.sum()), 1.0))
    )
    return amounts


def _sample_weights(rng: Generator, wealth: FloatArray) -> FloatArray:
    """Generate survey weights with two decimals and the mean ``MEAN_WEIGHT``."""
    raw = np.exp(0.35 * rng.standard_normal(len(wealth)) - 0.1 * wealth)
    weights: FloatArray = np.rint(raw * (100 * MEAN_WEIGHT * len(wealth) / float(raw.sum()))) / 100
    return weights


def _sample_ordered_category(
    rng: Generator, cause: FloatArray | IntArray, weights: Sequence[float], *, correlation: float
) -> IntArray:
    """Sample an ordered category 0, 1, ... correlated with ``cause``, with frequencies ``weights``."""
    spread = float(np.std(cause)) or 1.0
    score = correlation * (cause - np.mean(cause)) / spread + np.sqrt(
        1 - correlation**2
    ) * rng.standard_normal(len(cause))
    rank = np.empty(len(cause), dtype=np.int64)
    rank[np.argsort(score, kind="stable")] = np.arange(len(cause))
    return np.searchsorted(np.cumsum(weights) / np.sum(weights), (rank + 0.5) / len(cause))


def _label_codes(numbers: IntArray, labels: tuple[str, ...]) -> _ObjectColumn:
    return np.array(labels, dtype=object)[numbers]


def _label_for_workers(
    employment: IntArray, numbers: IntArray, unknown: str, labels: tuple[str, ...]
) -> _ObjectColumn:
    return np.where(employment == 2, unknown, _label_codes(numbers, labels))


def make_example_data(rows: int | None, seed: int) -> dict[str, bytes]:
    """Return a table like that of the 2015 contest, by default with its 8,333 rows."""
    return {"original": write_csv(generate_households(DEFAULT_ROWS if rows is None else rows, seed=seed))}
