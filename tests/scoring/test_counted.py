"""What counts, by name and version: written once, and from then on neither more nor less."""

from dataclasses import replace

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import attacker_counts, what_counts
from anoncup.competition.templates import template
from anoncup.competition.writer import with_scored_by
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import AttackerSettings, Excessive
from anoncup.tracks.parts import Attacker
from tests.scoring.competition_texts import EXAMPLE, LEAST, refusal
from tests.support.small_release import COMPETITION, ORIGINAL, TABLE

TRACK = TRACKS["microdata"]
FIXED = what_counts(parse_competition(EXAMPLE))
SOURCE = [3, 2, 5, 0, 1, 4]
COUNTED = replace(COMPETITION, scored_by=what_counts(COMPETITION))


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> str:
    """An attacker that an upgrade brings, and that finds everybody."""
    found = Attacker("late", 1, lambda _: np.array(SOURCE))
    monkeypatch.setitem(TRACK.attackers, "late", found)
    return found.name


def bumped(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    """As if an upgrade had brought this part in version 2."""
    known = getattr(TRACK, kind)
    monkeypatch.setitem(known, name, replace(known[name], version=2))


def verdict(competition: Rules) -> Verdict:
    released = TABLE.assign(pay=30.0, rent=1.0, sex="f", job="a")
    return evaluate(competition, ORIGINAL, released, np.array(SOURCE))


def test_what_counts_is_what_weighs_what_may_be_e_and_the_distance_of_a_threshold() -> None:
    kinds = {name.partition(".")[0] for name in FIXED}
    assert kinds == {"measures", "attackers", "distances"}
    assert {name for name in FIXED if name.startswith("measures.")} == {
        "measures.mean_mae",
        "measures.cross_mean",
    }
    assert FIXED["attackers.euc1"] == str(TRACK.attackers["euc1"].version)
    assert "random_in_cluster" in TRACKS["transactions"].attackers
    assert "attackers.random_in_cluster" not in what_counts(parse_competition(template(2016)))
    assert FIXED["distances.gower"] == "1"


def test_neither_a_weight_of_nothing_nor_an_uncounted_attacker_nor_a_distance_without_threshold_counts() -> (
    None
):
    rules = parse_competition(LEAST + "[measures.mean_mae]\nweight = 0.0\n[attackers.euc1]\ncounts = false\n")
    assert set(what_counts(rules)) == {
        f"attackers.{name}" for name, one in TRACK.attackers.items() if one.may_count and name != "euc1"
    }


def test_the_table_is_read_back_as_it_was_written_and_can_be_taken_out() -> None:
    text = with_scored_by(EXAMPLE, FIXED)
    assert '"measures.cross_mean" = "1"' in text
    assert parse_competition(text).scored_by == FIXED
    assert replace(parse_competition(text), scored_by={}) == parse_competition(EXAMPLE)
    assert with_scored_by(text, FIXED) == text
    assert parse_competition(with_scored_by(text, {})).scored_by == {}


def test_a_file_without_the_table_lets_count_what_is_installed(late: str) -> None:
    assert attacker_counts(COMPETITION, late)
    assert verdict(COMPETITION).security == 1.0


def test_an_attacker_that_came_later_is_reported_and_not_counted(late: str) -> None:
    fixed = {name: version for name, version in COUNTED.scored_by.items() if name != f"attackers.{late}"}
    found = verdict(replace(COMPETITION, scored_by=fixed))
    assert found.attackers[late].rate.rate == 1.0
    assert found.security < 1.0
    assert not attacker_counts(replace(COMPETITION, scored_by=fixed), late)


def test_the_table_changes_no_number() -> None:
    assert verdict(COUNTED) == verdict(COMPETITION)


def test_what_came_later_does_not_make_a_file_unreadable(late: str) -> None:
    assert parse_competition(with_scored_by(EXAMPLE, FIXED)).scored_by == FIXED


@pytest.mark.parametrize(
    ("kind", "name"), [("measures", "mean_mae"), ("attackers", "euc1"), ("distances", "gower")]
)
def test_another_version_of_what_counts_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    text = with_scored_by(EXAMPLE, FIXED)
    bumped(monkeypatch, kind, name)
    refused = refusal(text)
    assert refused.code == "part_version"
    assert f"{kind}.{name} counts in version 1; version 2 is installed" in str(refused)


def test_another_version_of_what_is_only_reported_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bumped(monkeypatch, "measures", "cross_count")
    assert parse_competition(with_scored_by(EXAMPLE, FIXED)).scored_by == FIXED


@pytest.mark.parametrize("name", ["measures.gone", "attackers.gone", "distances.gone", "parts.mean_mae", "x"])
def test_a_part_that_is_missing_is_named(name: str) -> None:
    refused = refusal(with_scored_by(EXAMPLE, {**FIXED, name: "1"}))
    assert (refused.code, str(refused)) == ("part_missing", f"scored_by: {name} is not installed")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[measures.cross_mean]\nweight = 1.0", "[measures.cross_mean]\nweight = 0.0"),
        ("[measures.mean_mae]\n", "[measures.cross_count]\nweight = 1.0\n[measures.mean_mae]\n"),
        ("counts = true", "counts = false"),
        ("threshold = 0.2\n", ""),
        ('distance = "gower"', 'distance = "euclidean"'),
    ],
)
def test_settings_that_let_something_else_count_contradict_the_table(before: str, after: str) -> None:
    assert before in EXAMPLE
    changed = EXAMPLE.replace(before, after, 1)
    assert parse_competition(changed)
    assert refusal(with_scored_by(changed, FIXED)).code == "scored_by_differs"


@pytest.mark.parametrize("table", ["measures.mean_mae = 1", '"measures.mean_mae" = 1', "x = []"])
def test_a_version_is_a_text(table: str) -> None:
    assert refusal(f"{EXAMPLE}\n[scored_by]\n{table}\n").code == "wrong_value"


def test_settings_of_an_attacker_alone_let_it_count_without_a_table() -> None:
    uncounted = replace(COMPETITION, attackers={"euc1": AttackerSettings(counts=False)})
    assert attacker_counts(COMPETITION, "euc1")
    assert not attacker_counts(uncounted, "euc1")
    assert not attacker_counts(COMPETITION, "gone")
    assert "distances.gower" in what_counts(replace(COMPETITION, excessive=Excessive(threshold=0.5)))
