"""Measures and attackers of `membership` by plain loops, and the laws of both on hostile tables."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.tracks.membership import attackers, measures
from anoncup.tracks.membership.attackers import Target
from anoncup.tracks.membership.propensity import design, fitted, propensity
from anoncup.tracks.membership.schema import Categorical, Schema
from anoncup.tracks.membership.tables import Table
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import Case, cases, rows_of, schema_of, table_of
from tests.scoring.membership_reference import Rows
from tests.support.hypothesis_profiles import examples

Measure = Callable[[Table, Table], float]
Attacker = Callable[[Target], np.ndarray]

MEASURES: dict[str, tuple[Measure, float]] = {
    "marginals": (measures.marginals, 1e-12),
    "pairs": (measures.pairs, 1e-12),
    "correlations": (measures.correlations, 1e-7),
    "tails": (measures.tails, 1e-12),
    "copies": (measures.copies, 0.0),
    "propensity": (propensity, 1e-6),
}
"""Each with how far it may be from exact arithmetic."""
ATTACKERS: dict[str, tuple[Attacker, float]] = {
    "closest": (attackers.closest, 0.0),
    "closest_ratio": (attackers.closest_ratio, 1e-12),
    "density": (attackers.density, 1e-9),
    "exact_copy": (attackers.exact_copy, 0.0),
}
every_measure = pytest.mark.parametrize("name", MEASURES)
every_attacker = pytest.mark.parametrize("name", ATTACKERS)


def test_a_target_has_no_field_for_the_members() -> None:
    assert set(Target.__dataclass_fields__) == {"candidates", "released", "background"}


@pytest.mark.parametrize("name", ["marginals", "pairs"])
def test_only_categories_that_occur_take_room(name: str) -> None:
    schema = Schema(tuple(Categorical(column, tuple(map(str, range(100_000)))) for column in "ab"))
    some, others = (
        Table(schema, np.empty((2, 0)), np.array([[0, code], [99_999, code]])) for code in (0, 99_999)
    )
    assert MEASURES[name][0](some, others) == {"marginals": 0.5, "pairs": 1.0}[name]


def of_numbers(*values: float) -> Table:
    return table_of([[value] for value in values], schema_of(1, 0))


def test_a_value_that_is_a_quantile_is_in_the_bin_above_it() -> None:
    members = [7.0 * place + 3 for place in range(101)]
    assert np.quantile(members, 11 / 20) > 388 == members[55]
    below, at, above = (of_numbers(value) for value in (387.0, 388.0, 389.0))
    assert measures.marginals(of_numbers(*members), of_numbers(*members)) == 0
    bins = [measures.binned(of_numbers(*members), each, 20)[0][1] for each in (below, at, above)]
    assert [int(each[0]) for each in bins] == [10, 11, 11]


def test_decimals_are_compared_with_quantiles_as_they_are_written() -> None:
    # The median of 0.1 and 0.5 is 0.3; that of the float64s nearest to them is above the one nearest to 0.3.
    assert sum(map(Fraction, (0.1, 0.5))) / 2 > Fraction(0.3)
    ((_, place),) = measures.binned(of_numbers(0.1, 0.5), of_numbers(0.3), 2)
    assert place.tolist() == [1]
    assert measures.tails(of_numbers(*range(101)), of_numbers(1.0, 99.0)) == 0.02
    assert measures.tails(of_numbers(*range(101)), of_numbers(np.nextafter(1, 0), 99.0)) == 0.48


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9), st.integers(0, 100)
)
@examples(200)
def test_the_least_float_from_a_quantile_is_the_least(values: list[float], percent: int) -> None:
    limit = measures.quantile(np.sort(values), Fraction(percent, 100))
    assert limit == plain.quantile([Fraction(repr(each)) for each in values], percent)
    for found, sign in ((measures.least_from(limit), 1), (measures.most_up_to(limit), -1)):
        assert sign * measures.decimal(found) >= sign * limit
        before = math.nextafter(found, -sign * math.inf)
        assert math.isinf(before) or sign * measures.decimal(before) < sign * limit


def target_of(case: Case) -> Target:
    return Target(case.candidates, case.released)


@every_measure
@given(case=cases())
@examples(100)
def test_a_measure_is_that_of_plain_loops(name: str, case: Case) -> None:
    measure, tolerance = MEASURES[name]
    expected = getattr(plain, name)(rows_of(case.own), rows_of(case.released))
    found = measure(case.own, case.released)
    assert type(found) is float
    assert 0 <= found <= 1
    assert found == pytest.approx(expected, abs=tolerance, rel=0)


@every_attacker
@given(case=cases())
@examples(100)
def test_an_attacker_scores_as_plain_loops_do(name: str, case: Case) -> None:
    attacker, tolerance = ATTACKERS[name]
    expected = getattr(plain, name)(rows_of(case.candidates), rows_of(case.released))
    found = attacker(target_of(case))
    assert found.shape == (case.candidates.rows,)
    assert ((found >= 0) & (found <= 1)).all()
    assert np.abs(found - expected).max() <= tolerance


@every_measure
@given(case=cases(), seed=st.integers(0, 99))
@examples(40)
def test_the_order_of_rows_changes_no_measure(name: str, case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    own, released = (table.at(rng.permutation(table.rows)) for table in (case.own, case.released))
    assert MEASURES[name][0](own, released) == MEASURES[name][0](case.own, case.released)


@every_attacker
@given(case=cases(), seed=st.integers(0, 99))
@examples(40)
def test_the_order_of_rows_changes_no_score(name: str, case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(case.candidates.rows)
    moved = Target(case.candidates.at(order), case.released.at(rng.permutation(case.released.rows)))
    before, after = ATTACKERS[name][0](target_of(case))[order], ATTACKERS[name][0](moved)
    assert np.abs(before - after).max() <= (1e-12 if name == "density" else 0)


@every_measure
@given(case=cases())
@examples(40)
def test_the_members_themselves_lose_nothing(name: str, case: Case) -> None:
    found = MEASURES[name][0](case.own, case.own)
    if name == "copies":
        assert found == 1.0
    elif name == "tails":
        # Of few or equal values no share is .02; none may be more than .98 away.
        assert found == pytest.approx(plain.tails(rows_of(case.own), rows_of(case.own)))
    else:
        assert found == pytest.approx(0, abs=1e-15)


@given(case=cases())
@examples(40)
def test_inputs_stay_as_they_are(case: Case) -> None:
    before = [(table.numbers.copy(), table.codes.copy()) for table in (case.candidates, case.released)]
    for measure, _ in MEASURES.values():
        measure(case.own, case.released)
    for attacker, _ in ATTACKERS.values():
        attacker(target_of(case))
    for table, (numbers, codes) in zip((case.candidates, case.released), before, strict=True):
        assert np.array_equal(table.numbers, numbers)
        assert np.array_equal(table.codes, codes)


@given(case=cases())
@examples(60)
def test_the_regression_ends_where_nothing_pulls(case: Case) -> None:
    x = design(case.own, case.released)
    labels = np.repeat([0.0, 1.0], [case.own.rows, case.released.rows])
    weights = fitted(x, labels)
    pull = x.T @ (1 / (1 + np.exp(-(x @ weights))) - labels)
    pull[1:] += weights[1:]
    assert np.abs(pull).max() / len(x) <= 1e-8


def test_distances_that_are_equal_stay_equal_however_their_sums_are_rounded() -> None:
    tenths: Rows = [[place / 10, (7 * place % 11) / 10, (3 * place % 7) / 10] for place in range(40)]
    others: Rows = [[p / 10 + 0.3, (7 * p % 11) / 10, (3 * p % 7) / 10 + 0.1] for p in range(0, 40, 3)]
    candidates, released = (table_of(rows, schema_of(3, 0)) for rows in (tenths, others))
    found = attackers.closest(Target(candidates, released))
    exact = plain.closest(tenths, rows_of(released))
    assert [list(found).count(score) for score in found] == [exact.count(score) for score in exact]


def test_blocks_of_rows_change_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    from anoncup.tracks.membership import rows
    from anoncup.tracks.membership.example import survey_table

    table = survey_table(60)
    target = Target(table, table.at(np.arange(20)))
    before = [attacker(target) for attacker, _ in ATTACKERS.values()]
    monkeypatch.setattr(rows, "BLOCK", 7 * 20)
    assert all(
        (attacker(target) == each).all()
        for each, (attacker, _) in zip(before, ATTACKERS.values(), strict=True)
    )
