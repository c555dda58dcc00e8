"""The worked example of the transactions track, with four customers and eight records."""

import numpy as np
import pytest

from anoncup.excessive.rejection_rule import compute_individual_distances
from anoncup.tracks.linkage.attack_rates import rate_guess
from anoncup.tracks.transactions import TRANSACTIONS, utility
from anoncup.tracks.transactions import anonymity as customer_anonymity
from anoncup.tracks.transactions.attackers import baskets as by_goods
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS
from tests.support.transactions_cases import build_case
from tests.support.transactions_reference import Customer, PlainTables, Record

ORIGINAL_SIDE = PlainTables(
    [
        Customer("c1", "f", "", "France"),
        Customer("c2", "f", "", "Japan"),
        Customer("c3", "m", "", "France"),
        Customer("c4", "m", "", "Japan"),
    ],
    [
        Record("c1", "r1", "2011-01-05", "10:00", "A", 2.0, 3),
        Record("c1", "r1", "2011-01-05", "10:00", "B", 1.0, 1),
        Record("c1", "r2", "2011-03-01", "10:00", "C", 4.0, 2),
        Record("c2", "r3", "2011-02-01", "10:00", "A", 2.0, 1),
        Record("c2", "r3", "2011-02-01", "10:00", "B", 1.5, 4),
        Record("c3", "r4", "2011-06-30", "10:00", "D", 10.0, 1),
        Record("c4", "r5", "2011-05-20", "10:00", "A", 2.0, 2),
        Record("c4", "r6", "2011-06-01", "10:00", "D", 9.0, 1),
    ],
)
RELEASE_SIDE = PlainTables(
    [
        Customer("p1", "m", "", "France"),
        Customer("p2", "f", "", "France"),
        Customer("p3", "f", "", "Japan"),
    ],
    [
        *[record._replace(customer="p2") for record in ORIGINAL_SIDE.records[:3]],
        *[record._replace(customer="p3") for record in ORIGINAL_SIDE.records[3:5]],
        Record("p3", "r3", "2011-02-01", "10:00", "C", 4.0, 1),
        Record("p1", "r4", "2011-06-30", "10:00", "D", 9.0, 1),
    ],
)
CASE = build_case(ORIGINAL_SIDE, RELEASE_SIDE, [2, 0, 1])
MEASURE_VALUES = {
    "cmae_price": 1.8125,
    "cmae_spend": 4.5,
    "rfm": 0.005,
    "row_difference": 1.0,
    "goods_cosine": 0.5210001825,
    "top_goods": 0.0,
}
GUESSES = {
    "jaccard": "311",
    "jaccard_quantity": "312",
    "tfidf": "311",
    "sort_spend": "243",
    "record_keys": "312",
    "master_match": "312",
    "receipt_match": "312",
    "own_row": "123",
}
"""The last three follow from the secret: masters and receipts are unchanged, and every customer has moved."""
MEAN_DISTANCES = {"jaccard": 0.3333333333, "jaccard_quantity": 0.2916666667}
ANONYMITY_VALUES = {"k_min": 1.0, "k_mean": 1.0, "basket_k_min": 1.0, "basket_k_mean": 1.5}


@pytest.mark.parametrize("name", MEASURE_VALUES)
def test_measures_have_the_expected_values(name: str) -> None:
    assert getattr(utility, name)(CASE.release) == pytest.approx(MEASURE_VALUES[name], abs=1e-10)


@pytest.mark.parametrize("name", GUESSES)
def test_attackers_guess_the_expected_rows(name: str) -> None:
    guess = TRANSACTION_ATTACKERS[name].attack(CASE.release.target)
    assert isinstance(guess, np.ndarray)
    assert "".join(str(row + 1) for row in guess) == GUESSES[name]


def test_random_in_cluster_is_an_exact_expectation() -> None:
    rate = rate_guess(by_goods.random_in_cluster(CASE.release.target), CASE.release.answer, rows=4)
    assert rate.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", MEAN_DISTANCES)
def test_deleted_customers_have_distance_one(name: str) -> None:
    distances = compute_individual_distances(CASE.release, TRANSACTIONS.distances[name])
    assert distances.mean == pytest.approx(MEAN_DISTANCES[name], abs=1e-10)
    assert distances.values[3] == 1.0


@pytest.mark.parametrize("name", ANONYMITY_VALUES)
def test_anonymity_measures_have_the_expected_values(name: str) -> None:
    assert getattr(customer_anonymity, name)(CASE.release) == ANONYMITY_VALUES[name]
