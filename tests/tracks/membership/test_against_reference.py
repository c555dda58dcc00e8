"""Measures and attackers of the membership track equal plain loops and keep their laws on hostile tables."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anoncup.tracks.membership import attackers, decimals, measures, tables
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.example import generate_survey
from anoncup.tracks.membership.propensity import propensity
from anoncup.tracks.membership.settings import CategoricalColumn, TableSchema
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable
from tests.support import membership_reference as plain
from tests.support.hypothesis_profiles import limit_examples
from tests.support.membership_cases import MembershipCase, build_schema, build_table, cases, list_rows

Measure = Callable[[TypedTable, TypedTable], float]
Attacker = Callable[[MembershipTarget], np.ndarray]

MEASURES: dict[str, tuple[Measure, float]] = {
    "marginals": (measures.marginals, 1e-12),
    "pairs": (measures.pairs, 1e-12),
    "correlations": (measures.correlations, 1e-7),
    "tails": (measures.tails, 1e-12),
    "copies": (measures.copies, 0.0),
    "propensity": (propensity, 1e-6),
}
"""Measures with their tolerance against exact arithmetic."""
ATTACKERS: dict[str, tuple[Attacker, float]] = {
    "closest": (attackers.closest, 0.0),
    "closest_ratio": (attackers.closest_ratio, 1e-12),
    "density": (attackers.density, 1e-9),
    "exact_copy": (attackers.exact_copy, 0.0),
}
each_measure = pytest.mark.parametrize("name", MEASURES)
each_attacker = pytest.mark.parametrize("name", ATTACKERS)


@pytest.mark.parametrize("name", ["marginals", "pairs"])
def test_memory_depends_only_on_occurring_categories(name: str) -> None:
    schema = TableSchema(tuple(CategoricalColumn(column, tuple(map(str, range(100_000)))) for column in "ab"))
    member_table, release_table = (
        TypedTable(schema, np.empty((2, 0)), np.array([[0, code], [99_999, code]])) for code in (0, 99_999)
    )
    assert MEASURES[name][0](member_table, release_table) == {"marginals": 0.5, "pairs": 1.0}[name]


def build_number_table(*values: float) -> TypedTable:
    return build_table([[value] for value in values], build_schema(1, 0))


def test_quantiles_are_computed_from_written_decimals() -> None:
    # The median of 0.1 and 0.5 is 0.3, but the median of their float64 values is above the float64 of 0.3.
    assert sum(map(Fraction, (0.1, 0.5))) / 2 > Fraction(0.3)
    ((_, bin_numbers),) = measures.bin_columns(build_number_table(0.1, 0.5), build_number_table(0.3), 2)
    assert bin_numbers.tolist() == [1]
    member_table, own_share = build_number_table(*range(101)), 2 / 101
    assert measures.tails(member_table, build_number_table(1.0, 99.0)) == own_share
    release_table = build_number_table(np.nextafter(1, 0), 99.0)
    assert measures.tails(member_table, release_table) == float(Fraction(1, 2) - Fraction(2, 101))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9), st.integers(0, 100)
)
@limit_examples(200)
def test_float_limits_are_the_nearest_floats_to_a_quantile(values: list[float], percent: int) -> None:
    limit = measures.quantile(np.sort(values), Fraction(percent, 100))
    assert limit == plain.quantile([Fraction(repr(value)) for value in values], percent)
    for nearest, sign in (
        (decimals.smallest_float_from(limit), 1),
        (decimals.largest_float_up_to(limit), -1),
    ):
        assert sign * decimals.exact_decimal(nearest) >= sign * limit
        neighbour = math.nextafter(nearest, -sign * math.inf)
        assert math.isinf(neighbour) or sign * decimals.exact_decimal(neighbour) < sign * limit


@each_measure
@given(case=cases())
@limit_examples(100)
def test_measures_equal_plain_loops(name: str, case: MembershipCase) -> None:
    measure, tolerance = MEASURES[name]
    expected = getattr(plain, name)(list_rows(case.member_table), list_rows(case.release))
    value = measure(case.member_table, case.release)
    assert type(value) is float
    assert 0 <= value <= 1
    assert value == pytest.approx(expected, abs=tolerance, rel=0)
    if name != "copies":
        assert measure(case.member_table, case.member_table) == pytest.approx(0, abs=1e-12)


@each_attacker
@given(case=cases())
@limit_examples(100)
def test_attackers_equal_plain_loops(name: str, case: MembershipCase) -> None:
    attacker, tolerance = ATTACKERS[name]
    candidates, released = list_rows(case.candidates), list_rows(case.release)
    assume(not plain.has_distance_at_a_rounding_tie(candidates, [*candidates, *released], candidates))
    expected = getattr(plain, name)(candidates, released)
    scores = attacker(MembershipTarget(MembershipOriginal(case.candidates), case.release))
    assert scores.shape == (case.candidates.rows,)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.abs(scores - expected).max() <= tolerance


def test_scores_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    table = generate_survey(60)
    target = MembershipTarget(MembershipOriginal(table), table.select_rows(np.arange(20)))
    expected_scores = [attacker(target) for attacker, _ in ATTACKERS.values()]
    monkeypatch.setattr(tables, "MAX_DISTANCES_PER_BLOCK", 7 * 20)
    assert all(
        (attacker(target) == scores).all()
        for scores, (attacker, _) in zip(expected_scores, ATTACKERS.values(), strict=True)
    )
