"""The advice on a threshold: P2's numbers, its simulations, and tables that leave no room."""

import json

import numpy as np
import pandas as pd
import pytest

from anoncup.excessive import advisor
from anoncup.excessive.advisor import Advice, advise
from anoncup.excessive.insufficient import max_escapes
from anoncup.excessive.simulation import histogram_of
from anoncup.geometry.stable_sums import LARGEST
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.release import prepare
from anoncup.tracks.transactions import TRANSACTIONS
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.release import PreparedTransactions
from anoncup.tracks.transactions.release import prepare as prepare_transactions
from anoncup.tracks.transactions.tables import TransactionTables
from tests.support.tc400 import folder, reference

pytestmark = pytest.mark.full

GOWER, QUANTITIES = MICRODATA.distances["gower"], TRANSACTIONS.distances["jaccard_quantity"]


@pytest.fixture(scope="module")
def shop() -> PreparedTransactions:
    return prepare_transactions(tc400())


def advice_on(rows: int, **options: object) -> Advice:
    original = prepare(household_table(rows), household_columns())
    groups = MICRODATA.groups(original, ("S1_Sex", "S1_Age"))
    return advise(original, GOWER, groups, **options)  # type: ignore[arg-type]


@reference
def test_the_contests_data_get_the_papers_numbers() -> None:
    people = pd.read_csv(folder() / "Master-Customer400.csv", header=None, dtype=str)
    people.columns = pd.Index(["customer_id", "sex", "birthday", "country"])
    original = prepare_transactions(TransactionTables(people, tc400().transactions))
    groups = TRANSACTIONS.groups(original, ("sex", "country"))
    advice = advise(original, QUANTITIES, groups)
    assert (advice.groups, advice.alone, advice.fixed) == (47, 16, 99)
    chances = {cheat.name: cheat.log2_chance for cheat in advice.cheats}
    assert chances["group"] == pytest.approx(-51.008, abs=5e-4)
    assert {cheat.name: cheat.expected for cheat in advice.cheats} == {"shift": 0, "random": 1, "group": 47}
    assert advice.low == pytest.approx(0.7133620690 / 2, abs=1e-10)
    assert advice.high_s_lower == pytest.approx(0.6435287602, abs=1e-10)
    assert advice.high == pytest.approx(0.6547335023, abs=1e-10)
    assert advice.histograms["random"].mean == pytest.approx(0.9818, abs=5e-4)
    assert advice.histograms["group"].mean == pytest.approx(0.8643, abs=5e-4)
    assert min(each.least for each in advice.histograms.values()) > 0.64


def test_the_shipped_data_get_sound_advice(shop: PreparedTransactions) -> None:
    groups = TRANSACTIONS.groups(shop, ("sex", "country"))
    advice = advise(shop, QUANTITIES, groups, draws=300)
    assert advice.low == pytest.approx(0.7133620690 / 2, abs=1e-10)
    by_fixed = {bound.fixed: bound for bound in advice.bounds}
    assert by_fixed[0].lower == pytest.approx(356.39559585829 / 400, abs=1e-12)
    assert by_fixed[0].exact
    assert by_fixed[1].s_lower == pytest.approx(0.8723424982, abs=1e-10)
    assert by_fixed[200].upper == pytest.approx(0.4234119550, abs=1e-10)
    assert advice.threshold is not None
    assert advice.low < advice.threshold < advice.high
    assert all(each.least > advice.threshold for each in advice.histograms.values())
    assert sum(advice.histograms["shift"].counts) == 300


def test_bounds_are_in_order_and_the_largest_number_of_fixed_points_decides() -> None:
    advice = advice_on(600, draws=20)
    for bound in advice.bounds:
        assert bound.lower is not None
        assert bound.upper is not None
        assert bound.s_lower <= bound.lower + 1e-12
        assert bound.lower <= bound.upper
    chosen = next(bound for bound in advice.bounds if bound.fixed == advice.fixed)
    assert advice.fixed == max(cheat.fixed for cheat in advice.cheats)
    assert (advice.high, advice.high_s_lower) == (chosen.lower, chosen.s_lower)
    json.dumps(advice.to_json(), allow_nan=False)


def test_time_spent_makes_more_bounds_exact(shop: PreparedTransactions) -> None:
    groups = TRANSACTIONS.groups(shop, ("sex", "country"))
    quick, slow = (advise(shop, QUANTITIES, groups, draws=0, seconds=seconds) for seconds in (0.0, 30.0))
    assert sum(bound.exact for bound in quick.bounds) < sum(bound.exact for bound in slow.bounds)
    assert slow.high >= quick.high


def test_many_individuals_get_the_same_advice_by_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = advice_on(300, draws=30)
    monkeypatch.setattr(advisor, "EVERY", 100)
    few = advice_on(300, draws=30)
    assert (few.threshold, few.certified) == (usual.threshold, True)
    for one, other in zip(few.bounds, usual.bounds, strict=True):
        assert one.lower == pytest.approx(other.lower, rel=1e-9)
        assert one.upper is not None
        assert other.upper is not None
        assert one.upper <= other.upper * (1 + 1e-9)
    monkeypatch.setattr(advisor, "CERTIFIABLE", 100)
    bare = advice_on(300, draws=30)
    assert (bare.high, bare.certified) == (usual.high_s_lower, False)
    monkeypatch.setattr(advisor, "HELD", 100)
    pairs = advice_on(300, draws=30)
    for name, histogram in usual.histograms.items():
        assert pairs.histograms[name].mean == pytest.approx(histogram.mean, rel=1e-12)


def test_of_very_many_individuals_fewer_permutations_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisor, "HELD", 100)
    monkeypatch.setattr(advisor, "PAIRS", 3_000)
    advice = advice_on(300, draws=30)
    assert {each.draws for each in advice.histograms.values()} == {10}


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_table_of_equal_rows_has_no_threshold(rows: int) -> None:
    table = pd.DataFrame({"q": ["a"] * rows, "s": [1.0] * rows})
    original = prepare(table, Columns(("q",), ("s",)))
    advice = advise(original, GOWER, np.zeros(rows, dtype=np.int64), draws=5)
    assert advice.threshold is None
    assert advice.remedy
    json.dumps(advice.to_json(), allow_nan=False)


def test_permutations_that_cost_the_same_make_a_histogram_too() -> None:
    """Both derangements of three individuals cost the same, but for rounding."""
    table = pd.DataFrame({"a": ["k", "k", "k"], "b": ["a", "a", "A"], "d": [655.88, 1421.82, 346.99]})
    original = prepare(table, Columns(("a", "b"), ("d",)))
    advice = advise(original, GOWER, np.zeros(3, dtype=np.int64), draws=50)
    assert sum(advice.histograms["shift"].counts) == 50


def test_the_largest_distances_make_a_histogram_too() -> None:
    found = histogram_of(np.full(9, LARGEST))
    assert (found.least, found.mean, found.largest) == (LARGEST, LARGEST, LARGEST)
    assert np.isfinite(found.edges).all()
    assert sum(found.counts) == 9


def test_distances_that_have_no_sum_get_finite_advice() -> None:
    table = pd.DataFrame({"q": ["a"] * 5, "s": [1e308, -1e308, 1.7e308, -1.7e308, 0.0]})
    original = prepare(table, Columns(("q",), ("s",)))
    advice = advise(original, MICRODATA.distances["euclidean"], np.zeros(5, dtype=np.int64), draws=9)
    assert (advice.bounds[0].s_lower, advice.bounds[0].upper) == (LARGEST, None)
    json.dumps(advice.to_json(), allow_nan=False)


def test_groups_of_one_leave_no_room_and_the_advice_says_what_to_change() -> None:
    original = prepare(household_table(200), household_columns())
    advice = advise(original, GOWER, np.arange(200), draws=0)
    assert (advice.fixed, advice.alone, advice.threshold) == (200, 200, None)
    assert advice.remedy is not None
    assert "in 200 of 200 groups there is only one individual" in str(advice.remedy)


def test_small_groups_are_said_to_be_small_where_nobody_is_alone() -> None:
    original = prepare(household_table(200), household_columns())
    advice = advise(original, GOWER, np.arange(200) // 2, draws=0)
    assert (advice.alone, advice.threshold) == (0, None)
    assert "groups are small" in str(advice.remedy)


def test_only_so_many_records_can_leave_their_circle() -> None:
    advice = advice_on(600, draws=0)
    assert advice.threshold is not None
    nearest = GOWER.nearest_other(prepare(household_table(600), household_columns()))
    assert advice.escapes == max_escapes(nearest, 600 * advice.threshold)


def test_progress_is_announced() -> None:
    seen: list[tuple[int, int, str]] = []
    advice_on(50, draws=1, progress=lambda *step: seen.append(step))
    assert [step for step, _, _ in seen] == [1, 2, 3]
