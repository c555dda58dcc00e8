"""A release of the monthly track that fits on a slip of paper: every number by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.scoring.tracks.monthly.answer import answer_of, judge
from app.scoring.tracks.monthly.attackers import ATTACKERS, attack, target_of
from app.scoring.tracks.monthly.cosines import distance
from app.scoring.tracks.monthly.release import Release
from app.scoring.tracks.monthly.scores import measured, overall, security, utility
from tests.scoring.monthly_reference import Row
from tests.scoring.monthly_to_break import GONE, case_of

T: list[Row] = [
    ("c1", "i1", "2011-01-05", "8:45", "A12", "2.5", "3"),
    ("c1", "i1", "2011-01-31", "8:45", "B", "1", "1"),
    ("c1", "i2", "2011-02-01", "9:00", "A12", "2.5", "3"),
    ("c2", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]
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
        "top_goods": 0.0,  # all three goods are among the hundred
        "top_cf": 1.0,
        "date_shift": 28 / 124,  # a day and 27, over 31 days for each of four rows
        "price_ratio": 0.25,  # 2.5 became 0; 0 stayed 0
        "deleted": 0.25,
    }
    assert utility(found) == 1.0


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
    found = attack(target_of(release, np.ones(4, dtype=bool)), ATTACKERS[name])
    assert found.tolist() == guess
    outcome = judge(found, answer)
    assert (outcome.value, outcome.correct, outcome.trials, outcome.risk) == (0.5, correct, 2, 0.5)


def test_who_knows_nothing_names_nobody(release: Release) -> None:
    nothing = target_of(release, np.zeros(4, dtype=bool))
    assert {attack(nothing, columns).tolist() == [["DEL"] * 2] * 2 for columns in ATTACKERS.values()} == {
        True
    }


def test_security_is_the_best_attacker_or_what_teams_reach_over_all_questions() -> None:
    built_in = {"link_25": {"a": 0.1, "b": 0.3}, "link_100": {"a": 0.2}}
    assert security(built_in, {}) == 0.3
    assert security(built_in, {"link_25": [0.2, 1.0], "link_50": [0.5], "link_75": []}) == 0.375
    assert overall(0.5, 0.375) == 0.4375
