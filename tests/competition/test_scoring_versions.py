"""The ``[scored_by]`` table: the parts that count are fixed by name and version."""

from dataclasses import replace

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import collect_scoring_versions, counts_towards_security
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_scored_by
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.parts import Attacker
from tests.support.competition_texts import EXAMPLE, expect_refusal
from tests.support.small_release import ORIGINAL, RULES, TABLE

TRACK = TRACKS["microdata"]
SCORED_BY = collect_scoring_versions(parse_competition(EXAMPLE))
SOURCE = [3, 2, 5, 0, 1, 4]
VERSIONED_RULES = replace(RULES, scored_by=collect_scoring_versions(RULES))


@pytest.fixture
def later_attacker(monkeypatch: pytest.MonkeyPatch) -> str:
    """Register an attacker that comes with an upgrade and re-identifies everyone."""
    attacker = Attacker("late", 1, lambda _: np.array(SOURCE))
    monkeypatch.setitem(TRACK.attackers, "late", attacker)
    return attacker.name


def upgrade_part(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    """Register version 2 of a part, as an upgrade would."""
    parts = TRACK.distances.by_name if kind == "distances" else getattr(TRACK, kind)
    monkeypatch.setitem(parts, name, replace(parts[name], version=2))


def evaluate_small_release(competition: Rules) -> Verdict:
    table = TABLE.assign(pay=30.0, rent=1.0, sex="f", job="a")
    return evaluate(competition, ORIGINAL, table, np.array(SOURCE))


def test_parts_that_affect_scores_are_counted() -> None:
    kinds = {name.partition(".")[0] for name in SCORED_BY}
    assert kinds == {"measures", "attackers", "distances"}
    assert {name for name in SCORED_BY if name.startswith("measures.")} == {
        "measures.mean_mae",
        "measures.cross_mean",
    }
    assert SCORED_BY["attackers.euc1"] == str(TRACK.attackers["euc1"].version)
    assert "random_in_cluster" in TRACKS["transactions"].attackers
    assert "attackers.random_in_cluster" not in collect_scoring_versions(parse_competition(template(2016)))
    assert SCORED_BY["distances.gower"] == "1"


def test_scored_by_table_round_trips() -> None:
    text = replace_scored_by(EXAMPLE, SCORED_BY)
    assert '"measures.cross_mean" = "1"' in text
    assert parse_competition(text).scored_by == SCORED_BY
    assert replace(parse_competition(text), scored_by={}) == parse_competition(EXAMPLE)
    assert replace_scored_by(text, SCORED_BY) == text
    assert parse_competition(replace_scored_by(text, {})).scored_by == {}


def test_all_installed_parts_count_without_the_table(later_attacker: str) -> None:
    assert counts_towards_security(RULES, later_attacker)
    assert evaluate_small_release(RULES).security == 1.0


def test_attackers_added_later_are_reported_but_do_not_count(later_attacker: str) -> None:
    scored_by = {
        name: version
        for name, version in VERSIONED_RULES.scored_by.items()
        if name != f"attackers.{later_attacker}"
    }
    result = evaluate_small_release(replace(RULES, scored_by=scored_by))
    assert result.attackers[later_attacker].rate.value == 1.0
    assert result.security < 1.0
    assert not counts_towards_security(replace(RULES, scored_by=scored_by), later_attacker)


@pytest.mark.parametrize(
    ("kind", "name"), [("measures", "mean_mae"), ("attackers", "euc1"), ("distances", "gower")]
)
def test_other_versions_of_counted_parts_are_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    text = replace_scored_by(EXAMPLE, SCORED_BY)
    upgrade_part(monkeypatch, kind, name)
    error = expect_refusal(text)
    assert error.code == "part_version"
    assert f"{kind}.{name} counts in version 1; version 2 is installed" in str(error)


@pytest.mark.parametrize("name", ["measures.gone", "attackers.gone", "distances.gone", "parts.mean_mae", "x"])
def test_missing_parts_are_named(name: str) -> None:
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
def test_settings_that_contradict_the_table_are_refused(old_text: str, new_text: str) -> None:
    assert old_text in EXAMPLE
    changed_file = EXAMPLE.replace(old_text, new_text, 1)
    assert parse_competition(changed_file)
    assert expect_refusal(replace_scored_by(changed_file, SCORED_BY)).code == "scored_by_differs"


@pytest.mark.parametrize("table", ["measures.mean_mae = 1", '"measures.mean_mae" = 1', "x = []"])
def test_versions_must_be_strings(table: str) -> None:
    assert expect_refusal(f"{EXAMPLE}\n[scored_by]\n{table}\n").code == "wrong_value"
