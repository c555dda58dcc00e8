"""Threshold advice: the numbers of P2, simulations, and tables without a possible threshold."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anoncup.excessive import threshold_advisor
from anoncup.excessive.threshold_advisor import (
    ThresholdAdvice,
    advise,
    find_largest_round_number,
)
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.transactions import TRANSACTIONS
from anoncup.tracks.transactions.attackers.baskets import jaccard_quantity
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.release import TransactionOriginal, build_release
from anoncup.tracks.transactions.tables import TransactionTables
from tests.support.reference_data import get_reference_folder, needs_reference_data

pytestmark = pytest.mark.full

GOWER, QUANTITIES = MICRODATA.distances["gower"], TRANSACTIONS.distances["jaccard_quantity"]


@pytest.fixture(scope="module")
def shop() -> TransactionOriginal:
    return TransactionOriginal(load_tc400())


def advise_households(rows: int, **options: object) -> ThresholdAdvice:
    original = MicrodataOriginal(generate_households(rows), get_household_columns())
    groups = MICRODATA.distances.group_individuals(original, ("S1_Sex", "S1_Age"))
    return advise(original, GOWER, groups, **options)  # type: ignore[arg-type]


@needs_reference_data
def test_advice_for_the_contest_data_equals_the_papers() -> None:
    customers = pd.read_csv(get_reference_folder() / "Master-Customer400.csv", header=None, dtype=str)
    customers.columns = pd.Index(["customer_id", "sex", "birthday", "country"])
    original = TransactionOriginal(TransactionTables(customers, load_tc400().transactions))
    groups = TRANSACTIONS.distances.group_individuals(original, ("sex", "country"))
    advice = advise(original, QUANTITIES, groups)
    assert (advice.groups, advice.alone, advice.fixed) == (47, 16, 99)
    chances = {cheat.name: cheat.log2_chance for cheat in advice.cheats}
    assert chances["group"] == pytest.approx(-51.008, abs=5e-4)
    assert {cheat.name: cheat.expected for cheat in advice.cheats} == {"shift": 0, "random": 1, "group": 47}
    assert advice.low == pytest.approx(0.7133620690 / 2, abs=1e-10)
    assert advice.high == pytest.approx(0.6435287602, abs=1e-10)
    assert advice.threshold == 0.64
    assert advice.histograms["shift"].mean == pytest.approx(0.9843, abs=5e-4)
    assert advice.histograms["random"].mean == pytest.approx(0.9818, abs=5e-4)
    assert advice.histograms["group"].mean == pytest.approx(0.8643, abs=5e-4)
    assert min(histogram.least for histogram in advice.histograms.values()) > 0.64


def test_advice_for_the_shipped_data_is_plausible(shop: TransactionOriginal) -> None:
    groups = TRANSACTIONS.distances.group_individuals(shop, ("sex", "country"))
    advice = advise(shop, QUANTITIES, groups, draws=300)
    assert advice.low == pytest.approx(0.7133620690 / 2, abs=1e-10)
    by_fixed = {row.fixed: row for row in advice.bounds}
    assert advice.s_exact == pytest.approx(356.39559585829 / 400, abs=1e-12)
    assert by_fixed.keys() == {cheat.fixed for cheat in advice.cheats}
    assert by_fixed[0].s_lower == pytest.approx(0.8748393112, abs=1e-10)
    assert advice.threshold is not None
    assert advice.low < advice.threshold < advice.high
    assert all(histogram.least > advice.threshold for histogram in advice.histograms.values())
    assert sum(advice.histograms["shift"].counts) == 300


def test_half_of_the_smallest_distance_leaves_no_secure_release(shop: TransactionOriginal) -> None:
    """P2 §4.4: below Min / 2 everybody is nearest to the own original, and Algorithm 3 finds everybody."""
    records, rows = load_tc400().transactions, np.arange(shop.rows)
    fewer_items = records.assign(quantity=np.ceil(0.65 * records["quantity"]).astype(np.int64))
    release = build_release(shop, TransactionTables(load_tc400().customers, fewer_items), rows)
    distances = QUANTITIES.to_source(release)
    assert 0 < distances.max() < 0.7133620690 / 2
    assert (jaccard_quantity(release.target) == rows).all()


def test_larger_tables_get_the_same_advice_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    usual_advice = advise_households(300, draws=30)
    monkeypatch.setattr(threshold_advisor, "MAX_ASSIGNED_INDIVIDUALS", 100)
    unassigned_advice = advise_households(300, draws=30)
    assert unassigned_advice == replace(usual_advice, s_exact=None)
    monkeypatch.setattr(threshold_advisor, "MAX_MATRIX_INDIVIDUALS", 100)
    sampled_advice = advise_households(300, draws=30)
    assert (sampled_advice.bounds, sampled_advice.s_exact) == (usual_advice.bounds, None)
    for name, histogram in usual_advice.histograms.items():
        assert sampled_advice.histograms[name].mean == pytest.approx(histogram.mean, rel=1e-12)
    monkeypatch.setattr(threshold_advisor, "MAX_SIMULATED_PAIRS", 3_000)
    histograms = advise_households(300, draws=30).histograms.values()
    assert {histogram.draws for histogram in histograms} == {10}


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_table_of_equal_rows_has_no_threshold(rows: int) -> None:
    table = pd.DataFrame({"q": ["a"] * rows, "s": [1.0] * rows})
    original = MicrodataOriginal(table, Columns(("q",), ("s",)))
    advice = advise(original, GOWER, np.zeros(rows, dtype=np.int64), draws=5)
    assert advice.threshold is None
    assert advice.remedy
    json.dumps(advice.to_json(), allow_nan=False)


def test_equal_costs_make_a_histogram() -> None:
    """Both derangements of three individuals cost the same up to rounding."""
    table = pd.DataFrame({"a": ["k", "k", "k"], "b": ["a", "a", "A"], "d": [655.88, 1421.82, 346.99]})
    original = MicrodataOriginal(table, Columns(("a", "b"), ("d",)))
    advice = advise(original, GOWER, np.zeros(3, dtype=np.int64), draws=50)
    assert sum(advice.histograms["shift"].counts) == 50


def test_singleton_groups_get_a_remedy_instead_of_a_threshold() -> None:
    original = MicrodataOriginal(generate_households(200), get_household_columns())
    advice = advise(original, GOWER, np.arange(200), draws=0)
    assert (advice.fixed, advice.alone, advice.threshold) == (200, 200, None)
    assert advice.remedy is not None
    assert "in 200 of 200 groups there is only one individual" in str(advice.remedy)


def test_remedy_mentions_small_groups() -> None:
    original = MicrodataOriginal(generate_households(200), get_household_columns())
    advice = advise(original, GOWER, np.arange(200) // 2, draws=0)
    assert (advice.alone, advice.threshold) == (0, None)
    assert "groups are small" in str(advice.remedy)


@pytest.mark.parametrize(
    ("low", "high", "number"),
    [
        (0.3567, 0.6435, 0.64),
        (0.1, 0.64, 0.63),
        (0.0401, 0.0499, 0.049),
        (0.2, 0.2, None),
        (0.3, 0.1, None),
        (0.0, 0.01, 0.009),
    ],
)
def test_largest_round_number_lies_inside_the_interval(low: float, high: float, number: float | None) -> None:
    assert find_largest_round_number(low, high) == number


def test_progress_is_reported() -> None:
    steps: list[tuple[int, int, str]] = []
    advise_households(50, draws=1, progress=lambda *step: steps.append(step))
    assert [step for step, _, _ in steps] == [1, 2, 3]
