"""The planning formulas give the numbers of P3 and equal exact arithmetic where floats could lose digits."""

from fractions import Fraction

import pytest

from anoncup.tracks.transactions.cluster_planning import (
    best_clusters,
    expected_dummies,
    expected_shared_goods,
)

PAPER_COMPETITION = {"customers": 400, "records": 38_000, "goods": 2_700}


def compute_exact_dummies(clusters: int, customers: int, records: int, goods: int) -> Fraction:
    """Return E(Δm) as a fraction, for m/n and m/c that are whole numbers."""
    miss_probability = Fraction(goods - 1, goods)
    return (
        customers
        * goods
        * (miss_probability ** (records // customers) - miss_probability ** (records // clusters))
    )


def test_dummies_of_one_cluster_equal_the_papers_normalizer() -> None:
    assert round(expected_dummies(1, **PAPER_COMPETITION)) == 1_042_653


def test_papers_competition_is_best_with_69_clusters() -> None:
    assert (
        best_clusters(**PAPER_COMPETITION, weight=1 / 1_042_653) == best_clusters(**PAPER_COMPETITION) == 69
    )


@pytest.mark.parametrize("clusters", [1, 2, 50, 100, 200, 400])
def test_expected_dummies_equal_exact_arithmetic(clusters: int) -> None:
    assert expected_dummies(clusters, **PAPER_COMPETITION) == pytest.approx(
        float(compute_exact_dummies(clusters, **PAPER_COMPETITION)), rel=1e-12
    )


def test_expected_dummies_do_not_suffer_from_cancellation() -> None:
    competition = {"customers": 1001, "records": 1001 * 1000, "goods": 10**15}
    assert expected_dummies(1000, **competition) == pytest.approx(
        float(compute_exact_dummies(1000, **competition)), rel=1e-12
    )


def test_customers_without_missing_goods_get_no_dummies() -> None:
    assert expected_dummies(1, customers=5, records=9, goods=1) == 0.0
    assert expected_dummies(2, customers=5, records=0, goods=7) == 0.0


@pytest.mark.parametrize(("mean_goods", "mean_jaccard"), [(65.725, 0.0300133), (10.0, 1.0), (3.0, 0.0)])
def test_expected_shared_goods_match_the_mean_jaccard_similarity(
    mean_goods: float, mean_jaccard: float
) -> None:
    shared_goods = expected_shared_goods(mean_goods, mean_jaccard)
    assert shared_goods / (2 * mean_goods - shared_goods) == pytest.approx(mean_jaccard)
