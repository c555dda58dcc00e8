"""Methods of `membership` on the generated survey: what a copy and what independent columns lose."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given

from anoncup.geometry.stable_sums import correlations
from anoncup.tracks.membership import attackers, measures, methods
from anoncup.tracks.membership.allocation import draw
from anoncup.tracks.membership.attackers import Target
from anoncup.tracks.membership.example import RARE, SCHEMA, survey_table
from anoncup.tracks.membership.propensity import propensity
from anoncup.tracks.membership.questions import membership
from anoncup.tracks.membership.schema import Numeric, Schema
from anoncup.tracks.membership.tables import Table, parse_rows, written
from tests.scoring.membership_cases import Case, cases, rows_of
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

METHODS = {
    "copy": methods.copy,
    "independent": methods.independent,
    "noise": methods.noise,
    "copula": methods.copula,
}
every_method = pytest.mark.parametrize("name", METHODS)
CANDIDATES = survey_table(800)
MEMBERS = draw(b"seed", "team", 800)


def released(name: str) -> Table:
    return METHODS[name](CANDIDATES.at(MEMBERS), rng=np.random.default_rng(1))


@pytest.mark.parametrize("attacker", [attackers.closest, attackers.closest_ratio, attackers.exact_copy])
def test_a_copy_loses_all_privacy(attacker: object) -> None:
    scores = attacker(Target(CANDIDATES, released("copy")))  # type: ignore[operator]
    assert membership(scores, MEMBERS).value == membership(scores, MEMBERS, value="advantage").value == 1.0


def test_density_finds_more_than_chance_in_a_copy() -> None:
    scores = attackers.density(Target(CANDIDATES, released("copy")))
    assert membership(scores, MEMBERS).value > 0.5


@pytest.mark.parametrize("attacker", [attackers.closest, attackers.closest_ratio, attackers.exact_copy])
def test_independent_columns_keep_most_privacy(attacker: object) -> None:
    scores = attacker(Target(CANDIDATES, released("independent")))  # type: ignore[operator]
    assert membership(scores, MEMBERS, value="advantage").value < 0.2


def test_independent_columns_lose_most_utility() -> None:
    own = CANDIDATES.at(MEMBERS)
    for measure in (measures.pairs, measures.correlations):
        losses = {name: measure(own, released(name)) for name in METHODS}
        assert losses["copy"] == pytest.approx(0, abs=1e-12)
        assert max(losses, key=losses.__getitem__) == "independent"
    assert measures.marginals(own, released("independent")) == 0.0
    together = correlations(list(own.numbers.T))
    assert measures.correlations(own, released("independent")) > 0.8 * np.abs(together).mean() / 2


def test_a_copy_has_the_best_of_every_measure_but_copies() -> None:
    own = CANDIDATES.at(MEMBERS)
    for measure in (measures.marginals, measures.pairs, measures.correlations, propensity):
        assert measure(own, released("copy")) == pytest.approx(0, abs=1e-12)
    assert measures.copies(own, released("copy")) == 1.0
    assert measures.tails(own, released("copy")) < 0.02


@every_method
@given(case=cases())
@examples(40)
def test_a_release_keeps_to_the_schema_and_its_rows(name: str, case: Case) -> None:
    before = case.own.numbers.copy(), case.own.codes.copy()
    own = case.own
    found = METHODS[name](own, rng=np.random.default_rng(0))
    size = own.rows
    parsed, _ = parse_rows(written(found), own.schema, file="released", fewest=size, most=size)
    assert rows_of(parsed) == rows_of(found)
    assert np.array_equal(own.numbers, before[0])
    assert np.array_equal(own.codes, before[1])


@every_method
def test_the_same_generator_gives_the_same_release(name: str) -> None:
    assert rows_of(released(name)) == rows_of(released(name))


@pytest.mark.parametrize("name", ["independent", "copula"])
@given(case=cases())
@examples(40)
def test_every_value_is_some_members(name: str, case: Case) -> None:
    found = METHODS[name](case.own, rng=np.random.default_rng(0))
    for kind in ("numbers", "codes"):
        for new, old in zip(getattr(found, kind).T, getattr(case.own, kind).T, strict=True):
            assert set(new.tolist()) <= set(old.tolist())


def test_a_copula_keeps_what_goes_together_better_than_noise_of_one_deviation() -> None:
    own = CANDIDATES.at(MEMBERS)
    noisy = methods.noise(own, strength=1.0, rng=np.random.default_rng(1))
    assert measures.correlations(own, released("copula")) < measures.correlations(own, noisy)


def test_noise_stays_in_the_range_of_its_column() -> None:
    schema = Schema((Numeric("x", 0, 1),))
    ends = Table(schema, np.array([[0.0], [1.0]] * 50), np.empty((100, 0), dtype=np.int64))
    noisy = methods.noise(ends, strength=1.0, rng=np.random.default_rng(1)).numbers
    assert (noisy.min(), noisy.max()) == (0.0, 1.0)
    assert len(np.unique(noisy)) > 20


def test_scores_are_normal_quantiles_of_the_middles_of_ranks() -> None:
    scores = methods.normal_scores(np.array([7.0, -1.0, 3.0]), np.random.default_rng(0))
    assert scores == pytest.approx([NormalDist().inv_cdf(share) for share in (5 / 6, 1 / 6, 1 / 2)])


def test_without_noise_the_members_stay() -> None:
    own = CANDIDATES.at(MEMBERS)
    assert rows_of(methods.noise(own, strength=0.0, rng=np.random.default_rng(1))) == rows_of(own)


def test_the_survey_is_the_same_for_a_seed_and_keeps_to_its_columns() -> None:
    table = survey_table(300, seed=7)
    assert rows_of(table) == rows_of(survey_table(300, seed=7)) != rows_of(survey_table(300, seed=8))
    parsed, remarks = parse_rows(written(table), SCHEMA, file="candidates")
    assert (rows_of(parsed), remarks) == (rows_of(table), [])


def test_the_survey_spans_ten_years_with_few_rare_cases() -> None:
    table = survey_table(20_000)
    assert len(np.unique(table.numbers[:, 0])) == 10
    shares = np.bincount(table.codes[:, 3], minlength=5) / table.rows
    assert (shares[3:] > RARE / 2).all()
    assert (shares[3:] < 2 * RARE).all()
    assert shares[1:3].min() > 0.05
    assert len(set(map(repr, rows_of(table)))) == table.rows
