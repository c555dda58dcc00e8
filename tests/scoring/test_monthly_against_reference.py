"""Every number of the monthly track equals what plain loops with exact fractions find."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from app.scoring.arrays import BoolArray
from app.scoring.tracks.monthly.answer import Names, answer_csv, answer_of, judge, parse_guess
from app.scoring.tracks.monthly.attackers import ATTACKERS, attack, target_of
from app.scoring.tracks.monthly.cosines import distance
from app.scoring.tracks.monthly.files import QUESTIONS
from app.scoring.tracks.monthly.knowledge import drawn
from app.scoring.tracks.monthly.measures import MEASURES
from app.scoring.tracks.monthly.original import Original
from app.scoring.tracks.monthly.scores import attacked, measured, overall, security, utility
from tests.scoring import monthly_reference as reference
from tests.scoring.monthly_reference import Row
from tests.scoring.monthly_to_break import GONE, Case, altered, case_of, cases, row
from tests.trying import tries

hostile = tries(150)


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
    assert list(found) == list(MEASURES) == list(reference.MEASURES)
    for name, compute in reference.MEASURES.items():
        assert type(found[name]) is float
        assert 0 <= found[name] <= 1
        assert found[name] == pytest.approx(compute(case.before, case.after), rel=1e-12, abs=1e-13), name
    assert utility(found) == max(found.values())
    assert overall(utility(found), 0.5) == (utility(found) + 0.5) / 2


@hostile
@given(case=cases(), seed=st.binary(max_size=3))
def test_every_attacker_guesses_what_a_dictionary_says(case: Case, seed: bytes) -> None:
    original = case.release.original
    assert list(ATTACKERS) == list(reference.KEYS)
    for kept in drawn(original, seed).values():
        target = target_of(case.release, kept)
        for name, columns in ATTACKERS.items():
            expected = reference.attack(case.after, known(case.before, kept), reference.KEYS[name])
            assert plain(attack(target, columns), original) == expected, name


@hostile
@given(case=cases(), seed=st.binary(max_size=3), values=st.data())
def test_outcomes_and_security_are_those_of_the_text(case: Case, seed: bytes, values: st.DataObject) -> None:
    original, tables = case.release.original, drawn(case.release.original, seed)
    answer, found = answer_of(case.release), attacked(case.release, answer_of(case.release), tables)
    truth, months = reference.answer(case.before, case.after), reference.months(case.before)
    outcomes = {
        question: {
            name: reference.outcome(
                case.customers,
                months,
                reference.attack(case.after, known(case.before, tables[table]), key),
                truth,
            )
            for name, key in reference.KEYS.items()
        }
        for question, table in QUESTIONS.items()
    }
    for question, attackers in found.items():
        for name, outcome in attackers.items():
            assert Fraction(int(outcome.correct or 0), outcome.trials or 0) == outcomes[question][name]
            assert outcome.value == float(outcomes[question][name])
    shares = st.lists(st.fractions(0, 1, max_denominator=8), max_size=3)
    guesses = values.draw(st.dictionaries(st.sampled_from(list(QUESTIONS)), shares))
    said = security(
        {question: {name: each.value for name, each in some.items()} for question, some in found.items()},
        {question: [float(value) for value in some] for question, some in guesses.items()},
    )
    assert said == pytest.approx(float(reference.security(outcomes, guesses)), rel=1e-15)
    assert judge(parse_guess(answer_csv(answer, original), original), answer).value == 1


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
