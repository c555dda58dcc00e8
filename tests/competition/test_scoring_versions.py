"""The ``[scored_by]`` table: the parts that count are fixed by name and version."""

from dataclasses import replace

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import collect_counted_versions, is_counted_attacker
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_scored_by
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import AttackerSettings, Excessive
from anoncup.tracks.parts import Attacker
from tests.support.competition_texts import EXAMPLE, MINIMAL, expect_refusal
from tests.support.small_release import ORIGINAL, RULES, TABLE

TRACK = TRACKS["microdata"]
SCORED_BY = collect_counted_versions(parse_competition(EXAMPLE))
SOURCE = [3, 2, 5, 0, 1, 4]
VERSIONED = replace(RULES, scored_by=collect_counted_versions(RULES))


@pytest.fixture
def later_attacker(monkeypatch: pytest.MonkeyPatch) -> str:
    """Register an attacker that comes with an upgrade and re-identifies everyone."""
    attacker = Attacker("late", 1, lambda _: np.array(SOURCE))
    monkeypatch.setitem(TRACK.attackers, "late", attacker)
    return attacker.name


def upgrade_part(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    """Register version 2 of a part, as an upgrade would."""
    parts = getattr(TRACK, kind)
    monkeypatch.setitem(parts, name, replace(parts[name], version=2))


def evaluate_small_release(competition: Rules) -> Verdict:
    table = TABLE.assign(pay=30.0, rent=1.0, sex="f", job="a")
    return evaluate(competition, ORIGINAL, table, np.array(SOURCE))


def test_weighted_measures_counting_attackers_and_the_threshold_distance_count() -> None:
    kinds_found = {name.partition(".")[0] for name in SCORED_BY}
    assert kinds_found == {"measures", "attackers", "distances"}
    assert {name for name in SCORED_BY if name.startswith("measures.")} == {
        "measures.mean_mae",
        "measures.cross_mean",
    }
    assert SCORED_BY["attackers.euc1"] == str(TRACK.attackers["euc1"].version)
    assert "random_in_cluster" in TRACKS["transactions"].attackers
    assert "attackers.random_in_cluster" not in collect_counted_versions(parse_competition(template(2016)))
    assert SCORED_BY["distances.gower"] == "1"


def test_zero_weights_uncounted_attackers_and_distances_without_threshold_do_not_count() -> None:
    rules = parse_competition(
        MINIMAL + "[measures.mean_mae]\nweight = 0.0\n[attackers.euc1]\ncounts = false\n"
    )
    assert set(collect_counted_versions(rules)) == {
        f"attackers.{name}"
        for name, attacker in TRACK.attackers.items()
        if attacker.may_count and name != "euc1"
    }


def test_the_scored_by_table_round_trips_and_can_be_removed() -> None:
    text = replace_scored_by(EXAMPLE, SCORED_BY)
    assert '"measures.cross_mean" = "1"' in text
    assert parse_competition(text).scored_by == SCORED_BY
    assert replace(parse_competition(text), scored_by={}) == parse_competition(EXAMPLE)
    assert replace_scored_by(text, SCORED_BY) == text
    assert parse_competition(replace_scored_by(text, {})).scored_by == {}


def test_without_the_table_all_installed_parts_count(later_attacker: str) -> None:
    assert is_counted_attacker(RULES, later_attacker)
    assert evaluate_small_release(RULES).security == 1.0


def test_an_attacker_added_later_is_reported_but_does_not_count(later_attacker: str) -> None:
    scored_by = {
        name: version
        for name, version in VERSIONED.scored_by.items()
        if name != f"attackers.{later_attacker}"
    }
    result = evaluate_small_release(replace(RULES, scored_by=scored_by))
    assert result.attackers[later_attacker].rate.rate == 1.0
    assert result.security < 1.0
    assert not is_counted_attacker(replace(RULES, scored_by=scored_by), later_attacker)


def test_the_table_changes_no_number() -> None:
    assert evaluate_small_release(VERSIONED) == evaluate_small_release(RULES)


def test_parts_added_later_do_not_make_a_file_unreadable(later_attacker: str) -> None:
    assert parse_competition(replace_scored_by(EXAMPLE, SCORED_BY)).scored_by == SCORED_BY


@pytest.mark.parametrize(
    ("kind", "name"), [("measures", "mean_mae"), ("attackers", "euc1"), ("distances", "gower")]
)
def test_another_version_of_a_counting_part_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    text = replace_scored_by(EXAMPLE, SCORED_BY)
    upgrade_part(monkeypatch, kind, name)
    error = expect_refusal(text)
    assert error.code == "part_version"
    assert f"{kind}.{name} counts in version 1; version 2 is installed" in str(error)


def test_another_version_of_a_reported_part_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade_part(monkeypatch, "measures", "cross_count")
    assert parse_competition(replace_scored_by(EXAMPLE, SCORED_BY)).scored_by == SCORED_BY


@pytest.mark.parametrize("name", ["measures.gone", "attackers.gone", "distances.gone", "parts.mean_mae", "x"])
def test_a_part_that_is_missing_is_named(name: str) -> None:
    error = expect_refusal(replace_scored_by(EXAMPLE, {**SCORED_BY, name: "1"}))
    assert (error.code, str(error)) == ("part_missing", f"scored_by: {name} is not installed")


@pytest.mark.parametrize(
    ("old_text", "new_text"),
    [
        ("[measures.cross_mean]\nweight = 1.0", "[measures.cross_mean]\nweight = 0.0"),
        ("[measures.mean_mae]\n", "[measures.cross_count]\nweight = 1.0\n[measures.mean_mae]\n"),
        ("counts = true", "counts = false"),
        ("threshold = 0.2\n", ""),
        ('distance = "gower"', 'distance = "euclidean"'),
    ],
)
def test_settings_that_change_what_counts_contradict_the_table(old_text: str, new_text: str) -> None:
    assert old_text in EXAMPLE
    changed = EXAMPLE.replace(old_text, new_text, 1)
    assert parse_competition(changed)
    assert expect_refusal(replace_scored_by(changed, SCORED_BY)).code == "scored_by_differs"


@pytest.mark.parametrize("table", ["measures.mean_mae = 1", '"measures.mean_mae" = 1', "x = []"])
def test_a_version_must_be_a_string(table: str) -> None:
    assert expect_refusal(f"{EXAMPLE}\n[scored_by]\n{table}\n").code == "wrong_value"


def test_without_a_table_the_settings_decide_whether_an_attacker_counts() -> None:
    uncounted = replace(RULES, attackers={"euc1": AttackerSettings(counts=False)})
    assert is_counted_attacker(RULES, "euc1")
    assert not is_counted_attacker(uncounted, "euc1")
    assert not is_counted_attacker(RULES, "gone")
    assert "distances.gower" in collect_counted_versions(replace(RULES, excessive=Excessive(threshold=0.5)))
