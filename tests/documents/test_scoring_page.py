"""The numbers in docs/scoring.md equal those that the program computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.settings import MeasureSettings
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.monthly.example import make_example_data
from anoncup.tracks.transactions.example import load_tc400
from tests.support.membership_cases import build_survey
from tests.support.originals import make_original

PAGE = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text()
METHODS: dict[int, tuple[str, dict[str, Any]]] = {
    2015: ("swap_within_classes", {}),
    2016: ("balance_clusters", {"clusters": 80, "smallest": 3}),
}


@pytest.mark.full
@pytest.mark.parametrize("year", METHODS)
def test_page_states_the_scores(year: int) -> None:
    rules = parse_competition(template(year))
    track, (method, parameters) = TRACKS[rules.track], METHODS[year]
    tables = generate_households() if year == 2015 else load_tc400()
    original, rng = make_original(tables, rules), np.random.default_rng(1)
    release = track.anonymize(track.methods[method], original, rules, rng, parameters)
    verdict = evaluate(rules, original, *track.shuffle(*release, rng=rng))
    section = PAGE.split("\n## ")[1 if year == 2015 else 2]
    weighted_scores = []
    for name, scale in scales(track, original, rules.measures).items():
        result = verdict.measures[name]
        value = 0.0 if result.value <= result.rounding else result.value
        score = min(1.0, value / scale)
        assert f"| {name} | {value:.6g} | {scale:.6g} | {score:.6g} |" in section
        weighted_scores += [score] * (rules.measures.get(name, MeasureSettings()).weight > 0)
    assert verdict.utility == pytest.approx(sum(weighted_scores) / len(weighted_scores))
    terms = " + ".join(f"{score:.6g}" for score in weighted_scores)
    assert f"**U** = ({terms}) / {len(weighted_scores)} = {verdict.utility:.6g}." in section
    for name, attacker in verdict.attackers.items():
        assert f"| {name} | {attacker.rate.correct:.0f} | {attacker.rate.value:.6g} |" in section
    u, e = verdict.utility, verdict.security
    assert (
        f"**E** = {e:.6g}, and **overall** = ({u:.6g} + {e:.6g}) / 2 = {compute_overall_loss(u, e):.6g}."
        in section
    )
    if year == 2016:
        assert verdict.excessive is not None
        assert f"The mean distance is {verdict.excessive.mean:.6g}" in section


@pytest.mark.full
def test_page_states_the_monthly_pseudonym_example() -> None:
    rules, track = parse_competition(template(2017)), TRACKS["monthly"]
    original, _ = track.parse_original(make_example_data(), rules)
    rng = np.random.default_rng(1)
    release = track.anonymize(track.methods["noisy_purchases"], original, rules, rng, {})
    verdict, section = evaluate(rules, original, *release), PAGE.split("\n## ")[3]
    rows = f"{original.rows} customers, {original.records.rows:,} rows"
    assert rows in section
    for name, measure in verdict.measures.items():
        assert f"| {name} | {measure.value:.6g} |" in section
    for name, attacker in verdict.attackers.items():
        numbers = [*(attacker.rate.details[question] for question in track.questions), attacker.rate.value]
        assert f"| {name} | {' | '.join(f'{number:.6g}' for number in numbers)} |" in section
    u, e = verdict.utility, verdict.security
    assert f"**U** is the largest, {u:.6g}." in section
    assert f"**E** = {e:.6g}," in section
    assert f"**overall** = ({u:.6g} + {e:.6g}) / 2 = {verdict.overall:.6g}." in section


@pytest.mark.full
def test_page_states_the_membership_example() -> None:
    track, rules = TRACKS["membership"], parse_competition(template("membership"))
    section = PAGE.partition("## Membership: ")[2].partition("\n## ")[0]
    original, rng = build_survey(2000, 0), np.random.default_rng(1)
    release = track.anonymize(track.methods["noise"], original, rules, rng, {"strength": 0.5})
    verdict = evaluate(rules, original, *track.shuffle(*release, rng=rng))
    for name, measure in verdict.measures.items():
        assert f"| {name} | {measure.value:.6g} |" in section
    terms = " + ".join(f"{verdict.measures[name].value:.6g}" for name in rules.weights)
    assert f"**U** = ({terms}) / 5 = {verdict.utility:.6g}." in section
    for name, result in verdict.attackers.items():
        details = result.rate.details
        numbers = (result.rate.value, details["auc"], details["advantage"], result.rate.risk)
        assert f"| {name} | {' | '.join(f'{number:.6g}' for number in numbers)} |" in section
    u, e = verdict.utility, verdict.security
    assert (
        f"**E** = {e:.6g}, and **overall** = ({u:.6g} + {e:.6g}) / 2 = {compute_overall_loss(u, e):.6g}."
        in section
    )
