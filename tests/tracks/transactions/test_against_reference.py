"""Measures and guesses of the transactions track equal a reference implementation on hostile tables."""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given

from anoncup.tracks.linkage.attack_rates import AnnotatedGuess, own_row, rate_guess
from anoncup.tracks.transactions import anonymity as customer_anonymity
from anoncup.tracks.transactions import baskets, utility
from anoncup.tracks.transactions.attackers import baskets as by_goods
from anoncup.tracks.transactions.attackers import records as by_records
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS
from anoncup.tracks.transactions.release import null_release
from tests.support import transactions_reference as reference
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_reference import Guess, clamp_to_float
from tests.support.transactions_cases import SUMMABLE_PRICES, TransactionCase, build_case, cases, wide_cases
from tests.support.transactions_reference import ABSTAIN, Customer, PlainTables, Record

hostile_examples = limit_examples(50)
thorough_examples = limit_examples(100)

ATTACKS: dict[str, Callable[[Any], Any]] = {
    "jaccard": by_goods.jaccard,
    "jaccard_quantity": by_goods.jaccard_quantity,
    "tfidf": by_goods.tfidf,
    "master_match": by_goods.master_match,
    "receipt_match": by_records.receipt_match,
    "record_keys": by_records.record_keys,
    "own_row": own_row,
}
SIMILARITIES = {"jaccard": reference.set_similarity, "jaccard_quantity": reference.quantity_similarity}
MEASURES = ["cmae_price", "cmae_spend", "rfm", "row_difference", "goods_cosine", "top_goods"]


def find_largest_spend(case: TransactionCase) -> float:
    """Return the largest spend of a customer, cut at the largest float."""
    rows = reference.records_by_customer(case.original) + reference.records_by_customer(case.released)
    return clamp_to_float(max(reference.spend(records) for records in rows))


def get_tolerance_unit(name: str, case: TransactionCase) -> float:
    """Return the unit of a measure's tolerance: its largest amount, at least the smallest normal float64."""
    if name == "cmae_price":
        largest = max(record.price for record in case.original.records + case.released.records)
    elif name == "cmae_spend":
        largest = find_largest_spend(case)
    else:
        return 1.0
    return max(largest, sys.float_info.min)


def check_close(value: float, expected: float, *, unit: float = 1.0) -> None:
    assert type(value) is float
    assert math.isfinite(value)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12 * unit)


def check_measure(name: str, case: TransactionCase) -> None:
    expected = getattr(reference, name)(case.original, case.released)
    check_close(getattr(utility, name)(case.release), expected, unit=get_tolerance_unit(name, case))


def convert_guess(answer: object) -> Guess:
    guess = answer.guess if isinstance(answer, AnnotatedGuess) else answer
    assert isinstance(guess, np.ndarray)
    assert guess.dtype == np.int64
    return [int(row) for row in guess]


@thorough_examples
@given(case=cases())
def test_measures_equal_the_reference(case: TransactionCase) -> None:
    for name in MEASURES:
        if name != "rfm":
            check_measure(name, case)
    (signed_difference,) = utility.signed_row_difference(case.release).values()
    check_close(signed_difference, reference.signed_row_difference(case.original, case.released))


@thorough_examples
@given(case=cases(prices=SUMMABLE_PRICES))
def test_rfm_equals_the_reference(case: TransactionCase) -> None:
    check_measure("rfm", case)


@hostile_examples
@given(case=wide_cases())
def test_measures_of_many_goods_equal_the_reference(case: TransactionCase) -> None:
    check_measure("top_goods", case)
    check_measure("goods_cosine", case)


@thorough_examples
@given(case=cases())
def test_guesses_equal_the_reference(case: TransactionCase) -> None:
    guesses = {name: convert_guess(attack(case.release.target)) for name, attack in ATTACKS.items()}
    assert guesses == {name: getattr(reference, name)(case.original, case.released) for name in ATTACKS}


@hostile_examples
@given(case=cases(prices=SUMMABLE_PRICES))
def test_sort_spend_equals_the_reference(case: TransactionCase) -> None:
    guess = convert_guess(by_goods.sort_spend(case.release.target))
    assert guess == reference.sort_spend(case.original, case.released)


@pytest.mark.parametrize("kind", SIMILARITIES)
@hostile_examples
@given(case=cases(max_customers=6))
def test_one_to_one_guesses_have_the_best_total(kind: str, case: TransactionCase) -> None:
    similarity = SIMILARITIES[kind]
    guess = convert_guess(TRANSACTION_ATTACKERS[f"{kind}_assignment"].attack(case.release.target))
    assigned = [i for i in guess if i != ABSTAIN]
    assert len(set(assigned)) == len(assigned)
    assert [i == ABSTAIN for i in guess] == [not basket for basket in reference.build_baskets(case.released)]
    total = reference.total_similarity(case.original, case.released, guess, similarity)
    check_close(float(total), float(reference.best_total(case.original, case.released, similarity)))


@hostile_examples
@given(case=cases())
def test_distances_of_individuals_equal_the_reference(case: TransactionCase) -> None:
    for kind in get_args(baskets.JaccardKind):
        expected = reference.distances(case.original, case.released, case.source, SIMILARITIES[kind])
        distances = np.ones(len(case.original.customers))
        distances[case.source] = baskets.distances_to_source(case.release, kind)
        assert distances.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@hostile_examples
@given(case=cases())
def test_distance_matrices_equal_the_reference(case: TransactionCase) -> None:
    original = case.release.original
    for matrix, similarity in [
        (baskets.distance_matrix(original, "jaccard"), reference.set_similarity),
        (baskets.distance_matrix(original, "jaccard_quantity"), reference.quantity_similarity),
    ]:
        expected = np.array(reference.distance_matrix(case.original, similarity))
        assert matrix == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert (matrix == matrix.T).all()


@hostile_examples
@given(case=cases())
def test_anonymity_measures_equal_the_reference(case: TransactionCase) -> None:
    masters, goods = reference.master_keys(case.released), reference.goods_sets(case.released)
    check_close(customer_anonymity.k_min(case.release), reference.k_min(masters))
    check_close(customer_anonymity.k_mean(case.release), reference.k_mean(masters))
    check_close(customer_anonymity.basket_k_min(case.release), reference.k_min(goods))
    check_close(customer_anonymity.basket_k_mean(case.release), reference.k_mean(goods))
    answer, n = by_goods.random_in_cluster(case.release.target), len(case.original.customers)
    rate = rate_guess(answer, case.release.answer, rows=n).value
    check_close(rate, reference.random_in_cluster_rate(case.released))


@limit_examples(20)
@given(case=cases())
def test_null_releases_permute_all_columns_but_customers(case: TransactionCase) -> None:
    transactions = case.release.original.tables.transactions
    released = null_release(case.release.original, 3).target.tables
    rng = np.random.Generator(np.random.PCG64(3))
    assert released.transactions["customer_id"].tolist() == transactions["customer_id"].tolist()
    for name in list(transactions.columns)[1:]:
        expected = transactions[name].iloc[rng.permutation(len(transactions))].tolist()
        assert released.transactions[name].tolist() == expected


# Cases that a single rule decides.


def build_plain_tables(*records: str) -> PlainTables:
    """Return tables of the customers in records such as ``c0 r1 01-05 A 2.5 1``."""
    cells = [text.split() for text in records]
    parsed_records = [
        Record(customer, receipt, f"2011-{day}", "00:00", goods, float(price), int(quantity))
        for customer, receipt, day, goods, price, quantity in cells
    ]
    return PlainTables(
        [Customer(name, "f", "", "") for name in sorted({cell[0] for cell in cells})], parsed_records
    )


def build_small_case(original: PlainTables, *records: str) -> TransactionCase:
    """Return a case whose release has one customer, the first one of the original."""
    return build_case(original, build_plain_tables(*records), [0])


def test_spend_within_rounding_of_a_decile_is_not_above_it() -> None:
    case = build_small_case(build_plain_tables("c0 r 01-05 A 0.3 1"), "p0 r 01-05 A 0.1 3")
    assert Fraction(0.1) * 3 > Fraction(0.3)
    assert utility.rfm(case.release) == 0.0


SECOND_IS_RIGHT = [
    # A receipt counts once, however many rows it has.
    (
        "receipt_match",
        ["c0 r1 01-05 A 1 1", "c1 r2 01-05 A 1 1", "c1 r3 01-05 A 1 1"],
        [f"p0 {receipt} 01-05 A 1 1" for receipt in ("r1", "r1", "r1", "r2", "r3")],
    ),
    # A key counts once, however many rows have it.
    (
        "record_keys",
        ["c0 r 01-01 A 1 1", "c1 r 01-02 B 2 2", "c1 r 01-03 C 3 3"],
        ["p0 r 01-01 A 1 1"] * 3 + ["p0 r 01-02 B 2 2", "p0 r 01-03 C 3 3"],
    ),
    # A single pair is shared, and only with c1: (date, goods), (goods, price), (date, quantity).
    ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-05 A 9 9"]),
    ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-09 A 1 9"]),
    ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-05 C 9 1"]),
    # c0 has each pair of goods, date and quantity, but only c1 has all three in one record.
    (
        "record_keys",
        ["c0 r 01-05 B 1 1", "c0 r 01-06 A 1 1", "c0 r 01-05 A 1 2", "c1 r 01-05 A 1 1"],
        ["p0 r 01-05 A 9 1"],
    ),
    # The rarer good weighs more.
    (
        "tfidf",
        ["c0 r 01-05 A 1 1", "c1 r 01-05 B 1 1", "c2 r 01-05 A 1 1"],
        ["p0 r 01-05 A 1 1", "p0 r 01-05 B 1 1"],
    ),
    # Ranks ascend.
    ("sort_spend", ["c0 r 01-05 A 0.3 1", "c1 r 01-05 A 0.2 1"], ["p0 r 01-05 A 9 1"]),
]
"""Cases where one rule prefers the second customer."""

TIES = [
    ("sort_spend", ["c0 r 01-05 A 0.1 3", "c1 r 01-05 A 0.3 1"], ["p0 r 01-05 A 9 1"]),
    (
        "jaccard_quantity",
        [*["c0 r 01-05 A 1 1000000000000"] * 2, "c0 r 01-05 A 1 1", *["c1 r 01-05 A 1 1000000000000"] * 2],
        ["p0 r 01-05 A 1 1000000000000"] * 2,
    ),
]
"""Cases where two customers are equally likely up to rounding."""


@pytest.mark.parametrize(
    ("name", "original_records", "released_records", "guess"),
    [*((*case, 1) for case in SECOND_IS_RIGHT), *((*case, 0) for case in TIES)],
)
def test_single_rules_decide(
    name: str, original_records: list[str], released_records: list[str], guess: int
) -> None:
    case = build_small_case(build_plain_tables(*original_records), *released_records)
    assert convert_guess(TRANSACTION_ATTACKERS[name].attack(case.release.target)) == [guess]
