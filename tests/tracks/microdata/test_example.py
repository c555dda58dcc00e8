"""The generated table has the shape of the 2015 data."""

import hashlib

import pandas as pd
import pytest

from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal

TABLE = generate_households()
MEANS = {
    "Weight": 15.7,
    "Youto037": 324525,
    "Youto038": 74639,
    "Youto079": 14686,
    "Youto084": 19733,
    "Youto089": 8665,
    "Youto099": 14166,
    "Youto117": 11104,
    "Youto122": 47977,
    "Youto129": 33928,
    "Youto133": 32401,
    "Youto142": 67227,
}
CATEGORY_COUNTS = [1, 8, 5, 5, 7, 8, 2, 11, 3, 3, 7, 15, 6]


def test_quasi_identifiers_have_the_expected_category_counts() -> None:
    cells = TABLE[list(get_household_columns().quasi_identifiers)]
    assert cells.nunique().tolist() == CATEGORY_COUNTS
    assert all(type(cell) is str for cell in cells.to_numpy().ravel())


def test_means_equal_the_published_ones() -> None:
    assert TABLE[list(MEANS)].mean().to_dict() == pytest.approx(MEANS, rel=0.02)
    assert TABLE["SetaiJinin"].astype(int).mean() == pytest.approx(3, abs=0.2)
    assert TABLE["ShuugyouJinin"].astype(int).mean() == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize("seed", [2015, 1, 2])
def test_mean_class_size_is_close_to_the_contests(seed: int) -> None:
    columns = get_household_columns()
    original = MicrodataOriginal(generate_households(seed=seed), columns)
    assert 1.6 <= 8333 / original.group_by(columns.quasi_identifiers).count <= 2.2


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_tables_of_other_sizes_can_be_generated(rows: int) -> None:
    assert generate_households(rows).shape == (rows, 25)


def test_tables_are_reproducible() -> None:
    regenerated = generate_households()
    pd.testing.assert_frame_equal(regenerated, TABLE)
    digest = hashlib.sha256(TABLE.to_csv(index=False).encode()).hexdigest()[:16]
    assert digest == "1af42c09a43a8dc4"
    assert not generate_households(seed=1).equals(TABLE)
