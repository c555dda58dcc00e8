"""Every number of the monthly track equals what plain loops with exact fractions find."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.attacks import rate_of_attack
from anoncup.evaluation.evaluate import evaluate
from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import Names, answer_of, named
from anoncup.tracks.monthly.files import QUESTIONS
from anoncup.tracks.monthly.goods_similarity import distance
from anoncup.tracks.monthly.original import Original
from tests.scoring import monthly_reference as reference
from tests.scoring.monthly_reference import Row
from tests.scoring.monthly_to_break import (
    GONE,
    Case,
    altered,
    case_of,
    cases,
    guesses_of,
    measured,
    row,
    scored,
)
from tests.support.hypothesis_profiles import examples

hostile = examples(150)
RULES = parse_competition(template(2017))


def known(before: list[Row], kept: BoolArray) -> list[Row]:
    return [
        (*row[:4], row[4][:2], *row[5:]) if stays else GONE
        for row, stays in zip(before, kept.tolist(), strict=True)
    ]


def plain(names: Names, original: Original) -> reference.Names:
    """Without the DELs."""
    people = original.customers["customer"].tolist()
    return {
        (person, month): name
        for person, named in zip(people, names.tolist(), strict=True)
        for month, name in zip(original.months, named, strict=True)
        if name != "DEL"
    }


@hostile
@given(case=cases())
def test_the_answer_is_what_the_release_says(case: Case) -> None:
    original = case.release.original
    assert list(original.months) == reference.months(case.before)
    assert plain(answer_of(case.release), original) == reference.answer(case.before, case.after)


@hostile
@given(case=cases())
def test_every_measure_is_that_of_the_formula(case: Case) -> None:
    found = measured(case.release)
    assert list(found) == list(reference.MEASURES)
    for name, compute in reference.MEASURES.items():
        assert type(found[name]) is float
        assert 0 <= found[name] <= 1
        assert found[name] == pytest.approx(compute(case.before, case.after), rel=1e-12, abs=1e-13), name


@hostile
@given(case=cases(), seed=st.binary(max_size=3))
def test_every_attacker_guesses_what_a_dictionary_says(case: Case, seed: bytes) -> None:
    release = scored(case.release, seed)
    found, tables = guesses_of(release), release.original.knowledge
    assert list(found) == list(reference.KEYS)
    for question, table in QUESTIONS.items():
        for name, key in reference.KEYS.items():
            expected = reference.attack(case.after, known(case.before, tables[table]), key)
            assert plain(found[name][question].names, release.original) == expected, (name, question)


@hostile
@given(case=cases(), seed=st.binary(max_size=3), values=st.data())
def test_outcomes_and_risks_are_those_of_the_text(case: Case, seed: bytes, values: st.DataObject) -> None:
    release, truth = scored(case.release, seed), reference.answer(case.before, case.after)
    original, answer = release.original, named(release.original, answer_of(release))
    months, sizes = reference.months(case.before), MONTHLY.sizes(original, release)
    outcomes: dict[str, dict[str, Fraction]] = {}
    for name, by_question in guesses_of(release).items():
        outcomes[name] = {}
        for question, said in by_question.items():
            rows = known(case.before, original.knowledge[QUESTIONS[question]])
            guess = reference.attack(case.after, rows, reference.KEYS[name])
            expected = reference.outcome(case.customers, months, guess, truth)
            found = MONTHLY.questions[question].rated(said, answer, sizes)
            assert Fraction(int(found.correct or 0), found.trials) == expected
            assert (found.rate, found.trials) == (float(expected), len(case.customers))
            outcomes[name][question] = expected
    rates = [
        rate_of_attack(MONTHLY.attackers[name], said, answer, sizes, track=MONTHLY, rules=RULES)
        for name, said in guesses_of(release).items()
    ]
    for rate, by_table in zip(rates, outcomes.values(), strict=True):
        assert (
            rate.rate == rate.risk == pytest.approx(float(sum(by_table.values(), Fraction(0)) / 4), rel=1e-15)
        )
        assert rate.details == rate.risks == {name: float(value) for name, value in by_table.items()}
    shares = st.lists(st.fractions(0, 1, max_denominator=8), max_size=3)
    guesses = {question: values.draw(shares) for question in QUESTIONS}
    teams = MONTHLY.rivals({name: sorted(map(float, some), reverse=True) for name, some in guesses.items()})
    together = float(reference.security(outcomes, guesses))
    assert max(teams, *(rate.risk for rate in rates)) == pytest.approx(together, rel=1e-15)


@examples(60)
@given(case=cases(), seed=st.binary(max_size=3))
def test_a_verdict_is_the_mean_of_the_worst_loss_and_the_strongest_attackers_mean(
    case: Case, seed: bytes
) -> None:
    release, truth = scored(case.release, seed), reference.answer(case.before, case.after)
    original, months = release.original, reference.months(case.before)
    tables = {name: known(case.before, original.knowledge[table]) for name, table in QUESTIONS.items()}
    outcomes = {
        name: {
            question: reference.outcome(
                case.customers, months, reference.attack(case.after, rows, key), truth
            )
            for question, rows in tables.items()
        }
        for name, key in reference.KEYS.items()
    }
    losses = [compute(case.before, case.after) for compute in reference.MEASURES.values()]
    verdict = evaluate(RULES, original, release, named(original, answer_of(release)))
    assert (verdict.verdict, verdict.excessive) == ("accepted", None)
    assert verdict.security == pytest.approx(float(reference.security(outcomes, {})), rel=1e-15)
    assert verdict.utility == pytest.approx(max(losses), rel=1e-12, abs=1e-12)
    assert verdict.overall == (verdict.utility + verdict.security) / 2


@hostile
@given(case=cases())
def test_no_measure_knows_the_order_of_rows_or_the_names(case: Case) -> None:
    turned = case_of(case.customers[::-1], case.before[::-1], case.after[::-1])
    names = {row[0]: f"other{place}" for place, row in enumerate(case.after)} | {"DEL": "DEL"}
    renamed = case_of(case.customers, case.before, [(names[row[0]], *row[1:]) for row in case.after])
    assert measured(turned.release) == measured(case.release) == measured(renamed.release)


@pytest.mark.parametrize("goods", [99, 100, 101, 230])
def test_of_many_goods_a_hundred_are_on_top(goods: int) -> None:
    random = Random(goods)
    kinds = (["2011-01-05", "2011-02-01"], ["1"], ["1", "6", "12", "30"])
    names = [str(number) for number in range(goods)]
    some = [*names, *(random.choice(names) for _ in range(400))]
    before = [row(random, random.choice("PQRSTU"), good, kinds) for good in some]
    case = case_of(list("PQRSTU"), before, altered(random, before, (kinds[0], ["1"], ["1", "12"])))
    found = measured(case.release)
    for name, compute in reference.MEASURES.items():
        assert found[name] == pytest.approx(compute(case.before, case.after), rel=1e-12, abs=1e-13), name
    assert (found["top_goods"] > 0) == (goods > 100)


@pytest.mark.parametrize("at_once", [1, 2, 7, 40])
def test_cosines_in_pieces_are_those_at_once(at_once: int) -> None:
    random = np.random.Generator(np.random.PCG64(1))
    before, after = (csr_array(random.poisson(0.3, (40, 15))) for _ in range(2))
    assert distance(before, after, at_once=at_once) == pytest.approx(distance(before, after), rel=1e-14)
