"""The planning formulas give the numbers of P3 and equal exact arithmetic where floats could lose digits."""

from fractions import Fraction
from itertools import pairwise

import pytest

from anoncup.tracks.transactions.cluster_planning import (
    best_clusters,
    expected_dummies,
    expected_shared_goods,
)

PAPER_COMPETITION = {"customers": 400, "records": 38_000, "goods": 2_700}


def exact_dummies(clusters: int, customers: int, records: int, goods: int) -> Fraction:
    """Return E(Δm) as a fraction, for m/n and m/c that are whole numbers."""
    miss_probability = Fraction(goods - 1, goods)
    return (
        customers
        * goods
        * (miss_probability ** (records // customers) - miss_probability ** (records // clusters))
    )


def test_one_cluster_needs_as_many_dummies_as_the_papers_normalizer() -> None:
    assert round(expected_dummies(1, **PAPER_COMPETITION)) == 1_042_653


def test_the_papers_competition_is_best_with_69_clusters() -> None:
    assert (
        best_clusters(**PAPER_COMPETITION, weight=1 / 1_042_653) == best_clusters(**PAPER_COMPETITION) == 69
    )


@pytest.mark.parametrize("clusters", [1, 2, 50, 100, 200, 400])
def test_expected_dummies_equal_exact_arithmetic(clusters: int) -> None:
    assert expected_dummies(clusters, **PAPER_COMPETITION) == pytest.approx(
        float(exact_dummies(clusters, **PAPER_COMPETITION)), rel=1e-12
    )


def test_dummies_are_exact_where_the_two_powers_are_nearly_equal() -> None:
    competition = {"customers": 1001, "records": 1001 * 1000, "goods": 10**15}
    assert expected_dummies(1000, **competition) == pytest.approx(
        float(exact_dummies(1000, **competition)), rel=1e-12
    )


def test_dummies_become_fewer_with_more_clusters_and_none_with_one_for_each_customer() -> None:
    dummies = [expected_dummies(clusters, **PAPER_COMPETITION) for clusters in range(1, 401)]
    assert all(more > fewer for more, fewer in pairwise(dummies))
    assert dummies[-1] == 0.0


def test_customers_without_missing_goods_get_no_dummies() -> None:
    assert expected_dummies(1, customers=5, records=9, goods=1) == 0.0
    assert expected_dummies(2, customers=5, records=0, goods=7) == 0.0


def test_the_best_number_of_clusters_is_the_lowest_of_the_smallest_sums() -> None:
    sums = [expected_dummies(c, **PAPER_COMPETITION) / 500_000 + c / 400 for c in range(1, 401)]
    assert best_clusters(**PAPER_COMPETITION, weight=1 / 500_000) == sums.index(min(sums)) + 1


def test_free_dummies_give_one_cluster_and_costly_ones_a_cluster_for_each_customer() -> None:
    assert best_clusters(**PAPER_COMPETITION, weight=0.0) == 1
    assert best_clusters(**PAPER_COMPETITION, weight=1.0) == 400
    assert (
        best_clusters(customers=5, records=9, goods=1) == best_clusters(customers=1, records=3, goods=4) == 1
    )


def test_large_competitions_are_planned_without_overflow() -> None:
    best = best_clusters(customers=10**6, records=10**9, goods=10**6)
    assert 1 < best < 10**6


@pytest.mark.parametrize(("mean_goods", "mean_jaccard"), [(65.725, 0.0300133), (10.0, 1.0), (3.0, 0.0)])
def test_shared_goods_yield_the_mean_jaccard_similarity(mean_goods: float, mean_jaccard: float) -> None:
    shared = expected_shared_goods(mean_goods, mean_jaccard)
    assert shared / (2 * mean_goods - shared) == pytest.approx(mean_jaccard)
