"""The numbers in docs/scoring.md are the program's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.evaluation.ranking import NOTHING, overall
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.settings import MeasureSettings
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.model import Track
from anoncup.tracks.monthly.example import example_data
from anoncup.tracks.transactions.example import tc400
from tests.scoring.membership_cases import survey

PAGE = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text()
METHODS: dict[int, tuple[str, dict[str, Any]]] = {
    2015: ("swap_within_classes", {}),
    2016: ("balance_clusters", {"clusters": 80, "smallest": 3}),
}
both = pytest.mark.parametrize("year", METHODS)


@dataclass(frozen=True)
class Example:
    track: Track
    settings: Mapping[str, MeasureSettings]
    verdict: Verdict
    scales: dict[str, float]
    largest_cell: float
    part: str


@cache
def example(year: int) -> Example:
    rules = parse_competition(template(year))
    track, (method, parameters) = TRACKS[rules.track], METHODS[year]
    tables = household_table() if year == 2015 else tc400()
    original, rng = track.prepare(tables, rules), np.random.default_rng(1)
    release = track.anonymize(track.methods[method], tables, rules, rng, parameters)
    verdict = evaluate(rules, original, *track.shuffle(*release, rng=rng))
    part = PAGE.split("\n## ")[1 if year == 2015 else 2]
    found = scales(track, original, rules.measures)
    return Example(track, rules.measures, verdict, found, track.largest_cell(original), part)


@pytest.mark.full
@both
def test_the_page_shows_the_utility_scores(year: int) -> None:
    shown = example(year)
    weighed = []
    for name, scale in shown.scales.items():
        value = shown.verdict.measures[name].value
        tiny = NOTHING * (shown.largest_cell if shown.track.measures[name].in_data_units else 1.0)
        value = 0.0 if value < tiny else value
        score = min(1.0, value / scale)
        assert f"| {name} | {value:.6g} | {scale:.6g} | {score:.6g} |" in shown.part
        weighed += [score] * (shown.settings.get(name, MeasureSettings()).weight > 0)
    assert shown.verdict.utility == pytest.approx(sum(weighed) / len(weighed))
    sum_of = " + ".join(f"{score:.6g}" for score in weighed)
    assert f"**U** = ({sum_of}) / {len(weighed)} = {shown.verdict.utility:.6g}." in shown.part


@pytest.mark.full
@both
def test_the_page_shows_the_attackers(year: int) -> None:
    shown = example(year)
    for name, result in shown.verdict.attackers.items():
        assert f"| {name} | {result.rate.correct:.0f} | {result.rate.rate:.6g} |" in shown.part


@pytest.mark.full
@both
def test_the_page_shows_the_scores(year: int) -> None:
    shown = example(year)
    u, e = shown.verdict.utility, shown.verdict.security
    assert f"**E** = {e:.6g}, and **overall** = ({u:.6g} + {e:.6g}) / 2 = {overall(u, e):.6g}." in shown.part


@pytest.mark.full
def test_the_page_shows_the_distance_of_the_transactions() -> None:
    shown = example(2016)
    assert shown.verdict.excessive is not None
    assert f"The mean distance is {shown.verdict.excessive.mean:.6g}" in shown.part


@pytest.mark.full
def test_the_page_shows_a_release_under_monthly_pseudonyms() -> None:
    rules, track = parse_competition(template(2017)), TRACKS["monthly"]
    original, _ = track.parse_original(example_data(), rules)
    rng = np.random.default_rng(1)
    made = track.anonymize(track.methods["noisy_purchases"], original, rules, rng, {})
    verdict, page = evaluate(rules, track.prepare(original, rules), *made), PAGE.split("\n## ")[3]
    rows = f"{original.rows} customers, {original.records.rows:,} rows"
    assert rows in page
    for name, measure in verdict.measures.items():
        assert f"| {name} | {measure.value:.6g} |" in page
    for name, attacker in verdict.attackers.items():
        numbers = [*(attacker.rate.details[question] for question in track.questions), attacker.rate.rate]
        assert f"| {name} | {' | '.join(f'{each:.6g}' for each in numbers)} |" in page
    u, e = verdict.utility, verdict.security
    assert f"**U** is the largest, {u:.6g}." in page
    assert f"**E** = {e:.6g}," in page
    assert f"**overall** = ({u:.6g} + {e:.6g}) / 2 = {verdict.overall:.6g}." in page


@pytest.mark.full
def test_the_page_shows_a_contest_of_membership() -> None:
    track, rules = TRACKS["membership"], parse_competition(template("membership"))
    part = PAGE.partition("## Membership: ")[2].partition("\n## ")[0]
    original, rng = survey(2000, 0), np.random.default_rng(1)
    made = track.anonymize(track.methods["noise"], original, rules, rng, {"strength": 0.5})
    verdict = evaluate(rules, original, *track.shuffle(*made, rng=rng))
    for name, found in verdict.measures.items():
        assert f"| {name} | {found.value:.6g} |" in part
    sum_of = " + ".join(f"{verdict.measures[name].value:.6g}" for name in rules.weights)
    assert f"**U** = ({sum_of}) / 5 = {verdict.utility:.6g}." in part
    for name, result in verdict.attackers.items():
        told = result.rate.details
        numbers = (result.rate.rate, told["auc"], told["advantage"], result.rate.risk)
        assert f"| {name} | {' | '.join(f'{one:.6g}' for one in numbers)} |" in part
    u, e = verdict.utility, verdict.security
    assert f"**E** = {e:.6g}, and **overall** = ({u:.6g} + {e:.6g}) / 2 = {overall(u, e):.6g}." in part
