"""Values of the monthly track equal those of a reference with plain loops and exact fractions."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.attacks import rate_attack
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.results import judge_guess
from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import PseudonymTable, extract_answer
from anoncup.tracks.monthly.files import QUESTIONS
from anoncup.tracks.monthly.measures import cosine_distance
from tests.support import monthly_reference as reference
from tests.support.hypothesis_profiles import limit_examples
from tests.support.monthly_cases import (
    DELETED_ROW,
    MonthlyCase,
    alter_rows,
    attach_knowledge,
    build_case,
    cases,
    collect_guesses,
    compute_measures,
    generate_row,
)
from tests.support.monthly_reference import Row

hostile_examples = limit_examples(150)
RULES = parse_competition(template(2017))


def mask_rows(rows: list[Row], is_kept: BoolArray) -> list[Row]:
    return [
        (*row[:4], row[4][:2], *row[5:]) if is_known else DELETED_ROW
        for row, is_known in zip(rows, is_kept.tolist(), strict=True)
    ]


def convert_to_dict(table: PseudonymTable) -> reference.Pseudonyms:
    """Return the pseudonym of each customer and month, without ``DEL``."""
    return {
        (customer, month): name
        for customer, monthly_names in zip(table.customers, table.pseudonyms.tolist(), strict=True)
        for month, name in zip(table.months, monthly_names, strict=True)
        if name != "DEL"
    }


@hostile_examples
@given(case=cases())
def test_answers_equal_the_reference(case: MonthlyCase) -> None:
    original = case.release.original
    assert list(original.months) == reference.list_months(case.original_rows)
    assert convert_to_dict(extract_answer(case.release)) == reference.build_answer(
        case.original_rows, case.released_rows
    )


@hostile_examples
@given(case=cases())
def test_measures_equal_the_reference(case: MonthlyCase) -> None:
    values = compute_measures(case.release)
    assert list(values) == list(reference.MEASURES)
    for name, compute in reference.MEASURES.items():
        assert type(values[name]) is float
        assert 0 <= values[name] <= 1
        assert values[name] == pytest.approx(
            compute(case.original_rows, case.released_rows), rel=1e-12, abs=1e-13
        ), name


@hostile_examples
@given(case=cases(), seed=st.binary(max_size=3))
def test_attackers_guess_like_the_reference(case: MonthlyCase, seed: bytes) -> None:
    release = attach_knowledge(case.release, seed)
    guesses, tables = collect_guesses(release), release.original.knowledge
    assert list(guesses) == list(reference.KEYS)
    for question, table in QUESTIONS.items():
        for name, key in reference.KEYS.items():
            expected = reference.attack(case.released_rows, mask_rows(case.original_rows, tables[table]), key)
            assert convert_to_dict(guesses[name][question]) == expected, (
                name,
                question,
            )


@hostile_examples
@given(case=cases(), seed=st.binary(max_size=3), data=st.data())
def test_outcomes_and_risks_equal_the_reference(case: MonthlyCase, seed: bytes, data: st.DataObject) -> None:
    release, truth = (
        attach_knowledge(case.release, seed),
        reference.build_answer(case.original_rows, case.released_rows),
    )
    original, months = release.original, reference.list_months(case.original_rows)
    answer = extract_answer(release)
    context, outcomes = MONTHLY.build_context(RULES, original, release), dict[str, dict[str, Fraction]]()
    for name, guesses in collect_guesses(release).items():
        outcomes[name] = {}
        for question, guess in guesses.items():
            rows = mask_rows(case.original_rows, original.knowledge[QUESTIONS[question]])
            expected_guess = reference.attack(case.released_rows, rows, reference.KEYS[name])
            expected = reference.reidentification_rate(case.customers, months, expected_guess, truth)
            outcome = judge_guess(MONTHLY.questions[question], guess, answer, context)
            assert Fraction(int(outcome.correct or 0), outcome.trials) == expected
            assert (outcome.value, outcome.trials) == (float(expected), len(case.customers))
            outcomes[name][question] = expected
        result = rate_attack(MONTHLY.attackers[name], guesses, answer, context, track=MONTHLY)
        mean_risk = float(sum(outcomes[name].values(), Fraction(0)) / 4)
        assert result.rate.value == result.rate.risk == pytest.approx(mean_risk, rel=1e-15)
        assert (
            result.rate.details
            == result.risks
            == {key: float(value) for key, value in outcomes[name].items()}
        )
    verdict = evaluate(RULES, original, release, answer)
    assert verdict.security == pytest.approx(float(reference.security(outcomes, {})), rel=1e-15)
    losses = [compute(case.original_rows, case.released_rows) for compute in reference.MEASURES.values()]
    assert verdict.utility == pytest.approx(max(losses), rel=1e-12, abs=1e-12)
    shares = st.lists(st.fractions(0, 1, max_denominator=8), max_size=3)
    rival_shares = {question: data.draw(shares) for question in QUESTIONS}
    risks = {name: float(max(shares)) for name, shares in rival_shares.items() if shares}
    expected_risk = float(reference.security(outcomes, rival_shares))
    assert max(MONTHLY.combine_risks(risks, RULES), verdict.security) == pytest.approx(
        expected_risk, rel=1e-15
    )


@pytest.mark.parametrize("goods", [99, 100, 101, 230])
def test_at_most_a_hundred_goods_are_top_goods(goods: int) -> None:
    random = Random(goods)
    cell_values = (["2011-01-05", "2011-02-01"], ["1"], ["1", "6", "12", "30"])
    names = [str(number) for number in range(goods)]
    row_goods = [*names, *(random.choice(names) for _ in range(400))]
    original_rows = [generate_row(random, random.choice("PQRSTU"), good, cell_values) for good in row_goods]
    case = build_case(
        list("PQRSTU"), original_rows, alter_rows(random, original_rows, (cell_values[0], ["1"], ["1", "12"]))
    )
    values = compute_measures(case.release)
    for name, compute in reference.MEASURES.items():
        assert values[name] == pytest.approx(
            compute(case.original_rows, case.released_rows), rel=1e-12, abs=1e-13
        ), name
    assert (values["top_goods"] > 0) == (goods > 100)


@pytest.mark.parametrize("block_size", [1, 2, 7, 40])
def test_cosines_do_not_depend_on_the_block_size(block_size: int) -> None:
    random = np.random.Generator(np.random.PCG64(1))
    original, released = (csr_array(random.poisson(0.3, (40, 15))) for _ in range(2))
    assert cosine_distance(original, released, goods_per_block=block_size) == pytest.approx(
        cosine_distance(original, released), rel=1e-14
    )
