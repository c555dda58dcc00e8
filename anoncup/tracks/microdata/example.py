"""A seeded table of the shape of PWS Cup 2015's household data (P1 Table A-1). Its values are invented.

Every household has a latent wealth and age that its columns depend on, so that categories go together and
expenditures are correlated. Amounts are whole numbers: the same seed gives the same table on every machine.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.rules.settings import Columns

Column = npt.NDArray[np.object_]
Texts = dict[str, Column]
Numbers = dict[str, IntArray]

ROWS = 8333
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
TOTAL = "Youto037"
PARTS: dict[str, tuple[float, float, float, float]] = {
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
"""Mean amount, spread of its logarithm, share of zeros, and how much of the spread is wealth's."""
SENSITIVE = ("Weight", TOTAL, *PARTS)
MEAN_WEIGHT = 15.7


def household_columns() -> Columns:
    """The roles of the 25 columns: 13 quasi-identifiers, 12 sensitive."""
    return Columns(QUASI_IDENTIFIERS, SENSITIVE)


def household_table(rows: int = ROWS, *, seed: int = 2015) -> pd.DataFrame:
    """``rows`` invented households, columns in the order of :func:`household_columns`."""
    rng = Generator(PCG64(seed))
    wealth = rng.standard_normal(rows)
    household = _household(rng, wealth)
    dwelling = _dwelling(rng, wealth, household)
    head = _head(rng, wealth, household)
    amounts = _amounts(rng, wealth, household["SetaiJinin"])
    categories: dict[str, IntArray | Column] = {**household, **dwelling, **head}
    columns = {name: list(map(str, categories[name].tolist())) for name in QUASI_IDENTIFIERS}
    return pd.DataFrame({**columns, "Weight": _weights(rng, wealth), **amounts})


def _household(rng: Generator, wealth: FloatArray) -> Numbers:
    """Kind (one value), persons 1-8, earners 0-4 and the head's age group 1-11."""
    age = _level(rng, wealth, (1, 4, 8, 11, 13, 13, 13, 13, 11, 8, 5), pull=0.15) + 1
    persons = _level(rng, -np.abs(age - 5.0), (12, 28, 23, 22, 10, 4, 0.8, 0.2), pull=0.75) + 1
    working = _level(rng, persons - 0.9 * np.maximum(age - 8, 0), (13, 42, 32, 10, 3), pull=0.93)
    kind = np.ones(len(wealth), dtype=np.int64)
    return {
        "SetaiKubun": kind,
        "SetaiJinin": persons,
        "ShuugyouJinin": np.minimum(working, persons),
        "S1_Age": age,
    }


def _dwelling(rng: Generator, wealth: FloatArray, household: Numbers) -> Texts:
    """Structure, kind of building and tenure; 'V' and 'VV' mean not known."""
    tenure = _level(rng, 0.7 * wealth + 0.3 * household["S1_Age"], (1, 1, 3, 5, 14, 2, 72, 2), pull=0.85)
    building = _level(rng, np.minimum(tenure, 5.0), (3, 4, 5, 6, 8, 72, 2), pull=0.97)
    structure = _level(rng, -np.minimum(building, 5.0), (66, 10, 21, 1, 2), pull=0.97)
    return {
        "Kouzou": _spelled(structure, ("1", "2", "3", "4", "V")),
        "Tatekata": _spelled(building, ("1", "2", "3", "4", "5", "6", "V")),
        "Shoyuu": _spelled(tenure, ("1", "2", "3", "4", "5", "6", "7", "VV")),
    }


def _head(rng: Generator, wealth: FloatArray, household: Numbers) -> Texts:
    """Sex and work of the head. Who does not work has no employer, trade or occupation ('V')."""
    career = 0.6 * wealth + 0.8 * rng.standard_normal(len(wealth))
    sex = _level(rng, -household["SetaiJinin"], (86, 14), pull=0.85)
    work = np.where(household["ShuugyouJinin"] == 0, 2, _level(rng, -career, (92, 6, 2), pull=0.6))
    employer = _level(rng, career, (88, 12), pull=0.97)
    size = _level(rng, career, (18, 14, 14, 10, 12, 32), pull=0.992)
    trade = _level(rng, career + 0.5 * sex, (1, 1, 6, 32, 2, 2, 4, 17, 3, 2, 4, 6, 4, 16), pull=0.992)
    occupation = _level(rng, career + 0.5 * sex, (5, 46, 30, 15, 4), pull=0.992)
    return {
        "S1_Sex": _spelled(sex, ("1", "2")),
        "S1_Shuugyou": _spelled(work, ("1", "2", "3")),
        "S1_KigyouKubun": _of_workers(work, employer, "V", ("1", "2")),
        "S1_KigyouKibo": _of_workers(work, size, "V", tuple("123456")),
        "S1_Sangyou": _of_workers(work, trade, "VV", tuple(f"{number:02}" for number in range(1, 15))),
        "S1_Shokugyou": _of_workers(work, occupation, "V", tuple("12345")),
    }


def _amounts(rng: Generator, wealth: FloatArray, persons: IntArray) -> dict[str, FloatArray]:
    """The ten parts, log-normal with zeros, and their total in front, in whole yen."""
    parts = {name: _amount(rng, wealth + 0.25 * (persons - 3), shape) for name, shape in PARTS.items()}
    return {TOTAL: np.sum(list(parts.values()), axis=0), **parts}


def _amount(rng: Generator, wealth: FloatArray, shape: tuple[float, float, float, float]) -> FloatArray:
    """One kind of expenditure, its mean brought to the first of ``shape``."""
    average, spread, zeros, pull = shape
    logarithm = spread * (pull * wealth + np.sqrt(1 - pull**2) * rng.standard_normal(len(wealth)))
    spent = np.exp(logarithm) * (rng.random(len(wealth)) >= zeros)
    amounts: FloatArray = np.rint(spent * (average * len(wealth) / max(float(spent.sum()), 1.0)))
    return amounts


def _weights(rng: Generator, wealth: FloatArray) -> FloatArray:
    """Sampling weights with two decimals, their mean MEAN_WEIGHT."""
    raw = np.exp(0.35 * rng.standard_normal(len(wealth)) - 0.1 * wealth)
    weights: FloatArray = np.rint(raw * (100 * MEAN_WEIGHT * len(wealth) / float(raw.sum()))) / 100
    return weights


def _level(
    rng: Generator, cause: FloatArray | IntArray, weights: Sequence[float], *, pull: float
) -> IntArray:
    """An ordered category 0, 1, ... following ``cause`` with correlation ``pull``, in shares ``weights``."""
    spread = float(np.std(cause)) or 1.0
    score = pull * (cause - np.mean(cause)) / spread + np.sqrt(1 - pull**2) * rng.standard_normal(len(cause))
    rank = np.empty(len(cause), dtype=np.int64)
    rank[np.argsort(score, kind="stable")] = np.arange(len(cause))
    return np.searchsorted(np.cumsum(weights) / np.sum(weights), (rank + 0.5) / len(cause))


def _spelled(numbers: IntArray, names: tuple[str, ...]) -> Column:
    return np.array(names, dtype=object)[numbers]


def _of_workers(work: IntArray, numbers: IntArray, unknown: str, names: tuple[str, ...]) -> Column:
    return np.where(work == 2, unknown, _spelled(numbers, names))
