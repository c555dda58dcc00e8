"""The what-if form for weights gives the result of scoring by a file with these weights."""

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from random import Random

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.settings import MeasureSettings
from app.locale.language import LANGUAGES
from app.web.team.weights import WhatIf, compute_what_if
from tests.recorded import build_verdict
from tests.support.arena import Arena, build_competition_toml, build_original_table
from tests.support.monthly_contest import ORIGINAL, create_contest
from tests.support.monthly_contest import submit_and_score as monthly
from tests.support.page_requests import get_page
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

TRACK = TRACKS["microdata"]


def build_query(weights: dict[str, str]) -> dict[str, str]:
    return {"what": "if"} | {f"weight.{name}": text for name, text in weights.items()}


def test_result_equals_scoring_with_these_weights() -> None:
    table = build_original_table()
    rules = parse_competition(build_competition_toml())
    prepared, source = TRACK.prepare(table, rules), np.arange(len(table))
    scale_values = scales(TRACK, prepared, rules.measures)
    rules = replace(rules, scales=scale_values)
    released = table.assign(income=table["income"] + 150, age=table["age"].iloc[::-1].to_numpy())
    first = schemas.parse_verdict(evaluate(rules, prepared, released, source).to_json())
    rng, utilities = Random(2), set()
    for _ in range(4):
        weights = {
            name: rng.choice([0.0, 1.0, 2.5, 1e-9, 1e300]) for name in scale_values if scale_values[name]
        }
        settings = {name: MeasureSettings(weight) for name, weight in weights.items()}
        evaluation = evaluate(replace(rules, measures=settings), prepared, released, source)
        outcome = compute_what_if(
            rules, TRACK, first, build_query({name: repr(value) for name, value in weights.items()})
        )
        assert outcome is not None
        assert (outcome.utility, outcome.overall) == (evaluation.utility, evaluation.overall)
        utilities.add(outcome.utility)
    assert len(utilities) > 2


def test_utility_is_the_weighted_mean_or_the_maximum() -> None:
    rng = Random(3)
    rules = parse_competition(build_competition_toml())
    for _ in range(200):
        values = {
            name: rng.choice([0.0, 1e-12, rng.random()]) for name in ("mean_mae", "cross_count", "cor_mae")
        }
        rules = replace(rules, scales={name: rng.random() + 0.01 for name in values})
        measured = {name: {"value": value, "version": 1, "rounding": 1e-9} for name, value in values.items()}
        result = schemas.parse_verdict(build_verdict(measures=measured, security=0.5))
        weights = {name: rng.choice([0, 1, 2, 7]) for name in values}
        scores = {
            name: min(Fraction(1), Fraction(value) / Fraction(rules.scales[name]))
            if value >= 1e-9
            else Fraction(0)
            for name, value in values.items()
        }
        total = sum(weights.values())
        mean = sum((weights[name] * scores[name] for name in values), Fraction(0)) / (total or 1)
        largest = max((scores[name] for name in values if weights[name]), default=Fraction(0))
        typed = build_query({name: str(weight) for name, weight in weights.items()})
        for utility_rule, expected in (("mean", mean), ("largest", largest)):
            outcome = compute_what_if(rules, replace(TRACK, utility=utility_rule), result, typed)  # type: ignore[arg-type]
            assert outcome is not None
            assert outcome.utility == pytest.approx(float(expected), abs=1e-12)
            assert outcome.overall == compute_overall_loss(outcome.utility or 0.0, 0.5)


def compute_example(**typed: str) -> WhatIf:
    rules = replace(
        parse_competition(build_competition_toml()), scales={"mean_mae": 1.0, "cor_mae": 2.0, "k_min": 1.0}
    )
    measured = {
        name: {"value": 0.5, "version": 1, "rounding": 1e-9} for name in ("mean_mae", "cor_mae", "k_min")
    }
    outcome = compute_what_if(
        rules,
        TRACK,
        schemas.parse_verdict(build_verdict(measures=measured)),
        build_query(typed) if typed else {},
    )
    assert outcome is not None
    return outcome


def test_invalid_weight_is_reported_without_a_result() -> None:
    for text in ("-1", "one", "nan", "inf", "1e999", "1" * 41):
        outcome = compute_example(mean_mae=text, cor_mae="1")
        assert (outcome.invalid_names, outcome.utility) == (("mean_mae",), None)
    for text in ("", " ", "0"):
        assert compute_example(mean_mae=text, cor_mae="1").utility == 0.25
    assert compute_example(mean_mae="0", cor_mae="0").utility == 0.0


def test_form_starts_with_the_current_weights() -> None:
    outcome = compute_example()
    assert [(measure.name, measure.raw_weight) for measure in outcome.measures] == [
        ("mean_mae", "1"),
        ("cor_mae", "0"),
    ]
    assert (outcome.is_requested, outcome.utility) == (False, None)
    rules = replace(parse_competition(build_competition_toml()), scales={})
    assert compute_what_if(rules, TRACK, schemas.parse_verdict(build_verdict(measures={})), {}) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_computes_from_input_and_reports_errors(arena: Arena, language: str) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    result = arena.get_submission(identifier, "red")["result"]
    path = f"/submissions/{identifier}"
    plain_html = get_page(arena, path, team="red", language=language).text
    fields = re.findall(r'name="(weight\.\w+)" value="([^"]*)"', plain_html)
    assert ("weight.information_loss", "2") in fields
    query = "&".join(f"{name}={value}" for name, value in fields)
    same_html = get_page(arena, f"{path}?what=if&{query}", team="red", language=language).text
    overall_now = f"{result['overall']:.4f}"
    summary = translate(
        "With these weights: overall {overall} instead of {before}, utility loss {utility} instead of {lost}. The risk stays {risk}.",
        language,
        overall=overall_now,
        before=overall_now,
        utility=f"{result['utility']:.4f}",
        lost=f"{result['utility']:.4f}",
        risk=f"{result['security']:.4f}",
    )
    assert summary in unescape(same_html)
    assert summary not in unescape(plain_html)
    invalid_html = get_page(
        arena, f"{path}?what=if&weight.mean_mae=%3Cb%3E", team="red", language=language
    ).text
    assert 'value="&lt;b&gt;"' in invalid_html
    assert (
        translate(
            "Weights must be numbers, 0 or more. Please correct: {names}.",
            language,
            names=translate("measure_mean_mae", language),
        )
        in invalid_html
    )


def test_measures_can_be_switched_off_with_the_maximum_rule() -> None:
    rules = parse_competition(template("2017"))
    track = TRACKS[rules.track]
    assert track.utility == "largest"
    names = [name for name, measure in track.measures.items() if measure.weighs]
    rules = replace(rules, scales=dict.fromkeys(names, 1.0))
    measured = {name: {"value": (n + 1) / 10, "version": 1, "rounding": 1e-9} for n, name in enumerate(names)}
    result = schemas.parse_verdict(build_verdict(measures=measured))
    for n, name in enumerate(names):
        outcome = compute_what_if(rules, track, result, build_query({name: "1"}))
        assert outcome is not None
        assert outcome.utility == (n + 1) / 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_maximum_rule_has_a_checkbox_for_each_measure(
    client: TestClient, arena: Arena, language: str
) -> None:
    contest = create_contest(client, arena, *ORIGINAL)
    red, blue = monthly(contest, "red"), monthly(contest, "blue")
    for team, submission_id in (("red", red), ("blue", blue)):
        html = get_page(contest.arena, f"/submissions/{submission_id}", team=team, language=language).text
        boxes = re.findall(
            r'<input type="checkbox" id="weight\.\w+" name="(weight\.\w+)"[^>]*( checked)', html
        )
        assert boxes
        query = "&".join(f"{name}=1" for name, _ in boxes)
        same_html = get_page(
            contest.arena, f"/submissions/{submission_id}?what=if&{query}", team=team, language=language
        ).text
        result = contest.arena.get_submission(submission_id, team)["result"]
        assert same_html.count(f"{result['utility']:.4f}") > html.count(f"{result['utility']:.4f}")
        assert "--reidentified" not in html
        assert translate("Rank and distance", language) in html
