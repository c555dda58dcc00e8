"""Every number and every guess equals a second implementation's on transactions made to break it."""

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.tracks.linkage import attackers
from anoncup.tracks.linkage.attack_rates import Noted, rate_of
from anoncup.tracks.transactions import anonymity as customer_anonymity
from anoncup.tracks.transactions import baskets, utility
from anoncup.tracks.transactions.attackers import baskets as by_goods
from anoncup.tracks.transactions.attackers import records as by_records
from anoncup.tracks.transactions.attackers import spending as by_spend
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS
from tests.scoring import transactions_reference as reference
from tests.scoring.reference import Guess, as_float
from tests.scoring.transactions_reference import ABSTAIN, Customer, Record, Side
from tests.scoring.transactions_to_break import ORDERLY, Case, case_of, cases, wide_cases
from tests.support.hypothesis_profiles import examples

hostile = examples(50)
thorough = examples(100)

ATTACKS: dict[str, Callable[[Any], Any]] = {
    "jaccard": by_goods.jaccard,
    "jaccard_quantity": by_goods.jaccard_quantity,
    "tfidf": by_goods.tfidf,
    "master_match": by_goods.master_match,
    "receipt_match": by_records.receipt_match,
    "record_keys": by_records.record_keys,
    "own_row": attackers.own_row,
}
SIMILARITIES = {"jaccard": reference.set_similarity, "jaccard_quantity": reference.quantity_similarity}
ONE_TO_ONE = [f"{kind}_assignment" for kind in SIMILARITIES if f"{kind}_assignment" in TRANSACTION_ATTACKERS]
MEASURES = ["cmae_price", "cmae_spend", "rfm", "row_difference", "goods_cosine", "top_goods"]


def largest_price(case: Case) -> float:
    return max(record.price for record in case.before.records + case.after.records)


def largest_spend(case: Case) -> float:
    """The largest total of a customer, as far as a float goes."""
    rows = reference.rows_of(case.before) + reference.rows_of(case.after)
    return as_float(max(reference.spend(records) for records in rows))


def unit_of(name: str, case: Case) -> float:
    """The largest amount, or the least of which a float64 has all digits."""
    amounts = {"cmae_price": largest_price, "cmae_spend": largest_spend}
    return max(amounts[name](case), sys.float_info.min) if name in amounts else 1.0


def agree(value: float, expected: float, *, unit: float = 1.0) -> None:
    assert type(value) is float
    assert math.isfinite(value)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12 * unit)


def measured(name: str, case: Case) -> float:
    value: float = getattr(utility, name)(case.release)
    return value


def agrees(name: str, case: Case) -> None:
    expected = getattr(reference, name)(case.before, case.after)
    agree(measured(name, case), expected, unit=unit_of(name, case))


def listed(answer: object) -> Guess:
    guess = answer.guess if isinstance(answer, Noted) else answer
    assert isinstance(guess, np.ndarray)
    assert guess.dtype == np.int64
    return [int(row) for row in guess]


@thorough
@given(case=cases())
def test_the_measures(case: Case) -> None:
    for name in MEASURES:
        if name != "rfm":
            agrees(name, case)
    (signed,) = utility.signed_row_difference(case.release).values()
    agree(signed, reference.signed_row_difference(case.before, case.after))


@thorough
@given(case=cases(prices=ORDERLY))
def test_recency_frequency_and_money(case: Case) -> None:
    agrees("rfm", case)


@hostile
@given(case=cases())
def test_the_smallest_amounts_lose_digits_and_nothing_else(case: Case) -> None:
    value = measured("rfm", case)
    assert type(value) is float
    assert 0 <= value <= (len(case.before.customers) + len(case.after.customers)) / 1000
    found = listed(by_spend.sort_spend(case.release.target))
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(len(case.before.customers)))


@hostile
@given(case=wide_cases())
def test_the_measures_over_more_goods_than_are_listed(case: Case) -> None:
    agrees("top_goods", case)
    agrees("goods_cosine", case)


@thorough
@given(case=cases())
def test_the_attackers(case: Case) -> None:
    found = {name: listed(attack(case.release.target)) for name, attack in ATTACKS.items()}
    assert found == {name: getattr(reference, name)(case.before, case.after) for name in ATTACKS}


@hostile
@given(case=cases(prices=ORDERLY))
def test_sort_spend(case: Case) -> None:
    found = listed(by_spend.sort_spend(case.release.target))
    assert found == reference.sort_spend(case.before, case.after)


@pytest.mark.parametrize("name", ONE_TO_ONE)
@hostile
@given(case=cases(most=6))
def test_a_one_to_one_attacker(name: str, case: Case) -> None:
    similarity = SIMILARITIES[name.removesuffix("_assignment")]
    guess = listed(TRANSACTION_ATTACKERS[name].attack(case.release.target))
    given_away = [i for i in guess if i != ABSTAIN]
    assert len(set(given_away)) == len(given_away)
    assert [i == ABSTAIN for i in guess] == [not basket for basket in reference.baskets(case.after)]
    total = reference.total_similarity(case.before, case.after, guess, similarity)
    agree(float(total), float(reference.best_total(case.before, case.after, similarity)))


@hostile
@given(case=cases())
def test_distances_of_individuals(case: Case) -> None:
    for kind in get_args(baskets.Kind):
        expected = reference.distances(case.before, case.after, case.source, SIMILARITIES[kind])
        moved = np.ones(len(case.before.customers))
        moved[case.source] = baskets.distances_to_source(case.release, kind)
        assert moved.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@hostile
@given(case=cases())
def test_the_matrices_of_distances(case: Case) -> None:
    original = case.release.original
    for found, similarity in [
        (baskets.distance_matrix(original, "jaccard"), reference.set_similarity),
        (baskets.distance_matrix(original, "jaccard_quantity"), reference.quantity_similarity),
    ]:
        expected = np.array(reference.distance_matrix(case.before, similarity))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert (found == found.T).all()


@hostile
@given(case=cases())
def test_anonymity(case: Case) -> None:
    masters, goods = reference.master_keys(case.after), reference.goods_sets(case.after)
    agree(customer_anonymity.k_min(case.release), reference.k_min(masters))
    agree(customer_anonymity.k_mean(case.release), reference.k_mean(masters))
    agree(customer_anonymity.basket_k_min(case.release), reference.k_min(goods))
    agree(customer_anonymity.basket_k_mean(case.release), reference.k_mean(goods))
    answer, n = by_goods.random_in_cluster(case.release.target), len(case.before.customers)
    rate = rate_of(answer, case.release.source, rows=n).rate
    agree(rate, reference.random_in_cluster_rate(case.after))


# Where one rule alone decides.


def told(*records: str) -> Side:
    """Customers by records such as ``c0 r1 01-05 A 2.5 1``."""
    cells = [text.split() for text in records]
    listed = [
        Record(who, receipt, f"2011-{day}", "00:00", goods, float(price), int(quantity))
        for who, receipt, day, goods, price, quantity in cells
    ]
    return Side([Customer(name, "f", "", "") for name in sorted({cell[0] for cell in cells})], listed)


def small_case(before: Side, *records: str) -> Case:
    """The release has one customer, the original's first."""
    return case_of(before, told(*records), [0])


def test_a_spend_within_rounding_of_a_decile_is_not_above_it() -> None:
    case = small_case(told("c0 r 01-05 A 0.3 1"), "p0 r 01-05 A 0.1 3")
    assert Fraction(0.1) * 3 > Fraction(0.3)
    assert utility.rfm(case.release) == reference.rfm(case.before, case.after) == 0.0


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
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
        # One pair alone is shared, and only with c1: (date, goods), (goods, price), (date, quantity).
        ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-05 A 9 9"]),
        ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-09 A 1 9"]),
        ("record_keys", ["c0 r 01-01 B 1 1", "c1 r 01-05 A 1 1"], ["p0 r 01-05 C 9 1"]),
        # c0 has every pair of goods, date and quantity, c1 all three at once.
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
    ],
)
def test_the_second_customer_is_guessed(name: str, before: list[str], after: list[str]) -> None:
    case = small_case(told(*before), *after)
    assert listed(TRANSACTION_ATTACKERS[name].attack(case.release.target)) == [1]
    assert getattr(reference, name)(case.before, case.after) == [1]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("sort_spend", ["c0 r 01-05 A 0.1 3", "c1 r 01-05 A 0.3 1"], ["p0 r 01-05 A 9 1"]),
        (
            "jaccard_quantity",
            [
                *["c0 r 01-05 A 1 1000000000000"] * 2,
                "c0 r 01-05 A 1 1",
                *["c1 r 01-05 A 1 1000000000000"] * 2,
            ],
            ["p0 r 01-05 A 1 1000000000000"] * 2,
        ),
    ],
)
def test_of_scores_within_rounding_the_lower_row_is_guessed(
    name: str, before: list[str], after: list[str]
) -> None:
    case = small_case(told(*before), *after)
    assert listed(TRANSACTION_ATTACKERS[name].attack(case.release.target)) == [0]
    assert getattr(reference, name)(case.before, case.after) == [0]


# The order of rows.


def with_records_in_another_order(data: st.DataObject, case: Case) -> Case:
    before, after = (
        Side(side.customers, data.draw(st.permutations(side.records))) for side in (case.before, case.after)
    )
    return case_of(before, after, case.source)


def taken(rows: Sequence[Any], order: Sequence[int]) -> list[Any]:
    return [rows[place] for place in order]


def with_customers_in_another_order(data: st.DataObject, case: Case) -> Case:
    order = data.draw(st.permutations(range(len(case.before.customers))))
    after_order = data.draw(st.permutations(range(len(case.after.customers))))
    source = [order.index(case.source[place]) for place in after_order]
    before = Side(taken(case.before.customers, order), case.before.records)
    return case_of(before, Side(taken(case.after.customers, after_order), case.after.records), source)


@hostile
@given(case=cases(), data=st.data())
def test_measures_do_not_depend_on_the_order_of_rows_or_customers(case: Case, data: st.DataObject) -> None:
    other = with_customers_in_another_order(data, with_records_in_another_order(data, case))
    for name in MEASURES:
        agree(measured(name, other), measured(name, case), unit=unit_of(name, case))
    for kind in get_args(baskets.Kind):
        after, before = (baskets.distances_to_source(one.release, kind) for one in (other, case))
        assert sorted(after) == sorted(before)


@hostile
@given(case=cases(), data=st.data())
def test_guesses_do_not_depend_on_the_order_of_rows(case: Case, data: st.DataObject) -> None:
    other = with_records_in_another_order(data, case)
    for attack in [*ATTACKS.values(), by_spend.sort_spend]:
        assert listed(attack(other.release.target)) == listed(attack(case.release.target))
