"""A small release of the monthly track whose values were computed by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.competition.writer import set_weights
from anoncup.errors import InvalidCompetition, InvalidInput
from anoncup.rules.model import Rules
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import extract_answer, judge_guess
from anoncup.tracks.monthly.attackers import build_target
from anoncup.tracks.monthly.files import KNOWLEDGE_PERCENTAGES
from anoncup.tracks.monthly.release import MonthlyRelease
from tests.support.monthly_cases import DELETED_ROW, TRANSACTIONS, build_case, compute_measures
from tests.support.monthly_reference import Row

RELEASED_ROWS: list[Row] = [
    ("p1", "i1", "2011/1/6", "8:45", "A13", "2.50", "4"),
    DELETED_ROW,
    ("p2", "i2", "2011-02-28", "9:00", "A12", "0", "3"),
    ("p3", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]


@pytest.fixture(scope="module")
def release() -> MonthlyRelease:
    return build_case(["c1", "c2"], TRANSACTIONS, RELEASED_ROWS).release


def test_measures_equal_hand_computed_values(release: MonthlyRelease) -> None:
    losses = compute_measures(release)
    assert losses == {
        "itemcf_levels": 0.0,  # only A13 reaches 12, so no pair of goods has a cosine
        "itemcf_small": 1.0,  # c1 bought 6 of A12 and 1 of B, a cosine of 1; in the release nobody has both
        "top_goods": 0.0,  # nobody has B any more, but it is still among the three goods
        "top_cf": 1.0,
        "date_shift": 28 / 124,  # 1 and 27 days, over 31 days for each of four rows
        "price_ratio": 0.25,  # 2.5 became 0, and 0 stayed 0
        "deleted": 0.25,
    }


def test_fractional_weights_are_refused_for_largest_loss_utility() -> None:
    with pytest.raises(InvalidCompetition, match=r"measures\.deleted") as excinfo:
        parse_competition(set_weights(template(2017), {"deleted": 0.5}))
    assert excinfo.value.code == "weight_of_largest"


@pytest.mark.parametrize(
    ("name", "guess", "correct"),
    [
        ("date_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
        ("good_price", [["DEL", "DEL"], ["p3", "DEL"]], 1),  # 2.50 and 2.5 differ as texts
        ("good_quantity", [["p2", "p2"], ["p3", "DEL"]], 1),  # only p2 has A1 with quantity 3
        ("date_good", [["p3", "DEL"], ["p3", "DEL"]], 1),  # A12 and A13 both begin with A1
        ("good_price_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
        ("good_date_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
    ],
)
def test_attackers_guess_as_computed_by_hand(
    release: MonthlyRelease, name: str, guess: list[list[str]], correct: int
) -> None:
    answer = extract_answer(release)
    assert answer.pseudonyms.tolist() == [["p1", "p2"], ["p3", "DEL"]]
    original = replace(
        release.original, knowledge=dict.fromkeys(KNOWLEDGE_PERCENTAGES, np.ones(4, dtype=bool))
    )
    guesses: Any = MONTHLY.attackers[name].attack(build_target(original, release.kept_rows))
    assert {
        question: question_guess.pseudonyms.tolist() for question, question_guess in guesses.items()
    } == dict.fromkeys(MONTHLY.questions, guess)
    outcome = judge_guess(
        guesses["link_100"],
        answer,
        MONTHLY.build_context(Rules("small", {}, "monthly", "UTC"), release.original, release),
    )
    assert (outcome.value, outcome.correct, outcome.trials, outcome.risk) == (0.5, correct, 2, 0.5)


def test_attackers_need_all_knowledge_tables(release: MonthlyRelease) -> None:
    with pytest.raises(
        InvalidInput, match=r"knowledge_25\.csv, knowledge_50\.csv, .*knowledge_100\.csv"
    ) as excinfo:
        build_target(release.original, release.kept_rows)
    assert excinfo.value.code == "knowledge_missing"
