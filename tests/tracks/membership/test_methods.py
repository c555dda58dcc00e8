"""Methods of the membership track on the generated survey: their utility and privacy."""

import numpy as np
import pytest
from hypothesis import given

from anoncup.geometry.statistics import compute_correlations
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.membership import attackers, measures, methods
from anoncup.tracks.membership.answer import choose_half
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.example import RARE_DISEASE_SHARE, SCHEMA, generate_survey
from anoncup.tracks.membership.questions import compute_membership_outcome
from anoncup.tracks.membership.settings import NumericColumn, TableSchema
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable, parse_rows, write_table
from tests.support.hypothesis_profiles import limit_examples
from tests.support.membership_cases import MembershipCase, cases, list_rows

pytestmark = pytest.mark.full

METHODS = {
    "copy": methods.copy,
    "independent": methods.independent,
    "noise": methods.noise,
    "copula": methods.copula,
}
CANDIDATES = generate_survey(800)
IS_MEMBER = choose_half(derive_generator(b"seed", "members", "team"), 800)


def make_release(name: str) -> TypedTable:
    return METHODS[name](CANDIDATES.select_rows(IS_MEMBER), rng=np.random.default_rng(1))


@pytest.mark.parametrize("attacker", [attackers.closest, attackers.closest_ratio, attackers.exact_copy])
def test_copies_lose_all_privacy(attacker: object) -> None:
    scores = attacker(MembershipTarget(MembershipOriginal(CANDIDATES), make_release("copy")))  # type: ignore[operator]
    assert (
        compute_membership_outcome(scores, IS_MEMBER).value
        == compute_membership_outcome(scores, IS_MEMBER, value="advantage").value
        == 1.0
    )


def test_density_beats_chance_on_a_copy() -> None:
    scores = attackers.density(MembershipTarget(MembershipOriginal(CANDIDATES), make_release("copy")))
    assert compute_membership_outcome(scores, IS_MEMBER).value > 0.5


@pytest.mark.parametrize("attacker", [attackers.closest, attackers.closest_ratio, attackers.exact_copy])
def test_independent_columns_keep_most_privacy(attacker: object) -> None:
    scores = attacker(MembershipTarget(MembershipOriginal(CANDIDATES), make_release("independent")))  # type: ignore[operator]
    assert compute_membership_outcome(scores, IS_MEMBER, value="advantage").value < 0.2


def test_independent_columns_lose_the_most_utility() -> None:
    member_table = CANDIDATES.select_rows(IS_MEMBER)
    for measure in (measures.pairs, measures.correlations):
        losses = {name: measure(member_table, make_release(name)) for name in METHODS}
        assert losses["copy"] == pytest.approx(0, abs=1e-12)
        assert max(losses, key=losses.__getitem__) == "independent"
    assert measures.marginals(member_table, make_release("independent")) == 0.0
    true_correlations = compute_correlations(list(member_table.numbers.T))
    assert (
        measures.correlations(member_table, make_release("independent"))
        > 0.8 * np.abs(true_correlations).mean() / 2
    )


@pytest.mark.parametrize("name", ["independent", "copula"])
@given(case=cases())
@limit_examples(40)
def test_released_values_occur_among_the_members(name: str, case: MembershipCase) -> None:
    release = METHODS[name](case.member_table, rng=np.random.default_rng(0))
    for kind in ("numbers", "codes"):
        for released_column, member_column in zip(
            getattr(release, kind).T, getattr(case.member_table, kind).T, strict=True
        ):
            assert set(released_column.tolist()) <= set(member_column.tolist())


def test_copula_preserves_correlations_better_than_strong_noise() -> None:
    member_table = CANDIDATES.select_rows(IS_MEMBER)
    noisy_table = methods.noise(member_table, strength=1.0, rng=np.random.default_rng(1))
    assert measures.correlations(member_table, make_release("copula")) < measures.correlations(
        member_table, noisy_table
    )


def test_noise_stays_within_the_columns_range() -> None:
    schema = TableSchema((NumericColumn("x", 0, 1),))
    limit_table = TypedTable(schema, np.array([[0.0], [1.0]] * 50), np.empty((100, 0), dtype=np.int64))
    noisy_values = methods.noise(limit_table, strength=1.0, rng=np.random.default_rng(1)).numbers
    assert (noisy_values.min(), noisy_values.max()) == (0.0, 1.0)
    assert len(np.unique(noisy_values)) > 20


def test_survey_is_reproducible_and_fits_its_schema() -> None:
    table = generate_survey(300, seed=7)
    assert (
        list_rows(table) == list_rows(generate_survey(300, seed=7)) != list_rows(generate_survey(300, seed=8))
    )
    parsed, remarks = parse_rows(write_table(table), SCHEMA, file="candidates")
    assert (list_rows(parsed), remarks) == (list_rows(table), [])


def test_survey_has_ten_years_and_rare_diseases() -> None:
    table = generate_survey(20_000)
    assert len(np.unique(table.numbers[:, 0])) == 10
    shares = np.bincount(table.codes[:, 3], minlength=5) / table.rows
    assert (shares[3:] > RARE_DISEASE_SHARE / 2).all()
    assert (shares[3:] < 2 * RARE_DISEASE_SHARE).all()
    assert shares[1:3].min() > 0.05
    assert len(set(map(repr, list_rows(table)))) == table.rows
