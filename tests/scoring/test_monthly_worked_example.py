"""A release of the monthly track that fits on a slip of paper: every number by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.adapter import Scored
from anoncup.tracks.monthly.answer import answer_of, judge
from anoncup.tracks.monthly.files import SHARES
from anoncup.tracks.monthly.goods_similarity import distance
from anoncup.tracks.monthly.release import Release
from tests.scoring.monthly_reference import Row
from tests.scoring.monthly_to_break import GONE, case_of, measured
from tests.support.monthly_example import T

AT: list[Row] = [
    ("p1", "i1", "2011/1/6", "8:45", "A13", "2.50", "4"),
    GONE,
    ("p2", "i2", "2011-02-28", "9:00", "A12", "0", "3"),
    ("p3", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]


@pytest.fixture(scope="module")
def release() -> Release:
    return case_of(["c1", "c2"], T, AT).release


def test_every_measure_by_hand(release: Release) -> None:
    found = measured(release)
    assert found == {
        "itemcf_levels": 0.0,  # only A13 reaches 12: no pair of goods has a cosine
        "itemcf_small": 1.0,  # c1 has 6 of A12 and 1 of B, a cosine of 1; nobody has both any more
        "top_goods": 0.0,  # B, which nobody has any more, is still among three goods
        "top_cf": 1.0,
        "date_shift": 28 / 124,  # a day and 27, over 31 days for each of four rows
        "price_ratio": 0.25,  # 2.5 became 0; 0 stayed 0
        "deleted": 0.25,
    }


def test_a_cosine_that_rises_counts_as_one_that_falls() -> None:
    before = csr_array(np.array([[1, 1], [1, 0]]))  # cosine 1/√2
    together, apart = csr_array(np.array([[1], [1]])), csr_array(np.array([[1, 0], [0, 1]]))
    assert distance(before, together) == pytest.approx(2**0.5 - 1, rel=1e-14)
    assert distance(before, apart) == 1.0
    assert distance(before, before) == 0.0
    assert distance(apart, together) == 0.0


@pytest.mark.parametrize(
    ("name", "guess", "correct"),
    [
        ("date_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
        ("good_price", [["DEL", "DEL"], ["p3", "DEL"]], 1),  # 2.50 is not written like 2.5
        ("good_quantity", [["p2", "p2"], ["p3", "DEL"]], 1),  # A1, 3 is p2's alone
        ("date_good", [["p3", "DEL"], ["p3", "DEL"]], 1),  # the beginning of A12 and of A13 is A1
        ("good_price_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
        ("good_date_quantity", [["DEL", "DEL"], ["p3", "DEL"]], 1),
    ],
)
def test_every_attacker_by_hand(release: Release, name: str, guess: list[list[str]], correct: int) -> None:
    answer = answer_of(release)
    assert answer.tolist() == [["p1", "p2"], ["p3", "DEL"]]
    found: Any = MONTHLY.attackers[name].attack(who_knows(release, np.ones(4, dtype=bool)).target)
    assert {question: said.names.tolist() for question, said in found.items()} == dict.fromkeys(
        MONTHLY.questions, guess
    )
    outcome = judge(found["link_100"].names, answer)
    assert (outcome.value, outcome.correct, outcome.trials, outcome.risk) == (0.5, correct, 2, 0.5)


def who_knows(release: Release, rows: BoolArray) -> Scored:
    """The release where every table of partial knowledge keeps these rows."""
    return Scored(replace(release.original, knowledge=dict.fromkeys(SHARES, rows)), release.records)


def test_who_knows_nothing_names_nobody(release: Release) -> None:
    target = who_knows(release, np.zeros(4, dtype=bool)).target
    for attacker in MONTHLY.attackers.values():
        found: Any = attacker.attack(target)
        for said in found.values():
            assert said.names.tolist() == [["DEL"] * 2] * 2


def test_no_attacker_is_asked_while_a_table_of_knowledge_is_missing(release: Release) -> None:
    with pytest.raises(
        InvalidInput, match=r"knowledge_25\.csv, knowledge_50\.csv, .*knowledge_100\.csv"
    ) as told:
        _ = Scored(release.original, release.records).target
    assert told.value.code == "knowledge_missing"


def test_of_teams_e_takes_the_mean_over_all_questions_of_the_largest_guess() -> None:
    nobody: dict[str, list[float]] = {question: [] for question in MONTHLY.questions}
    assert MONTHLY.rivals(nobody) == 0
    assert MONTHLY.rivals(nobody | {"link_25": [1.0, 0.2], "link_50": [0.5]}) == 0.375
