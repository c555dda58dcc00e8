"""Other weights for a submission's measures: what comes of them is what scoring by such a file would say."""

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
from anoncup.evaluation.ranking import overall
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.settings import MeasureSettings
from app.locale.language import LANGUAGES
from app.web.team.weights import WhatIf, what_if
from tests.recorded import verdict
from tests.support.arena import Arena, competition_file, original_table
from tests.support.monthly_contest import ORIGINAL, opened
from tests.support.monthly_contest import scored as monthly
from tests.support.uploads import score_everything
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full

TRACK = TRACKS["microdata"]


def asked(weights: dict[str, str]) -> dict[str, str]:
    return {"what": "if"} | {f"weight.{name}": text for name, text in weights.items()}


def test_the_result_is_that_of_scoring_by_a_file_with_these_weights() -> None:
    table = original_table()
    rules = parse_competition(competition_file())
    prepared, source = TRACK.prepare(table, rules), np.arange(len(table))
    known = scales(TRACK, prepared, rules.measures)
    rules = replace(rules, scales=known)
    released = table.assign(income=table["income"] + 150, age=table["age"].iloc[::-1].to_numpy())
    first = schemas.read(evaluate(rules, prepared, released, source).to_json())
    rng, seen = Random(2), set()
    for _ in range(4):
        weights = {name: rng.choice([0.0, 1.0, 2.5, 1e-9, 1e300]) for name in known if known[name]}
        settings = {name: MeasureSettings(weight) for name, weight in weights.items()}
        scored = evaluate(replace(rules, measures=settings), prepared, released, source)
        found = what_if(rules, TRACK, first, asked({name: repr(one) for name, one in weights.items()}))
        assert found is not None
        assert (found.utility, found.overall) == (scored.utility, scored.overall)
        seen.add(found.utility)
    assert len(seen) > 2


def test_the_sum_is_the_mean_of_scores_by_weight_or_the_largest() -> None:
    rng = Random(3)
    rules = parse_competition(competition_file())
    for _ in range(200):
        values = {
            name: rng.choice([0.0, 1e-12, rng.random()]) for name in ("mean_mae", "cross_count", "cor_mae")
        }
        rules = replace(rules, scales={name: rng.random() + 0.01 for name in values})
        measured = {name: {"value": value, "version": 1, "rounding": 1e-9} for name, value in values.items()}
        result = schemas.read(verdict(measures=measured, security=0.5))
        weights = {name: rng.choice([0, 1, 2, 7]) for name in values}
        scores = {
            name: min(Fraction(1), Fraction(value) / Fraction(rules.scales[name]))
            if value >= 1e-9
            else Fraction(0)
            for name, value in values.items()
        }
        whole = sum(weights.values())
        mean = sum((weights[name] * scores[name] for name in values), Fraction(0)) / (whole or 1)
        largest = max((scores[name] for name in values if weights[name]), default=Fraction(0))
        typed = asked({name: str(weight) for name, weight in weights.items()})
        for how, expected in (("mean", mean), ("largest", largest)):
            found = what_if(rules, replace(TRACK, utility=how), result, typed)  # type: ignore[arg-type]
            assert found is not None
            assert found.utility == pytest.approx(float(expected), abs=1e-12)
            assert found.overall == overall(found.utility or 0.0, 0.5)


def of(**typed: str) -> WhatIf:
    rules = replace(
        parse_competition(competition_file()), scales={"mean_mae": 1.0, "cor_mae": 2.0, "k_min": 1.0}
    )
    measured = {
        name: {"value": 0.5, "version": 1, "rounding": 1e-9} for name in ("mean_mae", "cor_mae", "k_min")
    }
    found = what_if(rules, TRACK, schemas.read(verdict(measures=measured)), asked(typed) if typed else {})
    assert found is not None
    return found


def test_what_is_no_weight_is_named_and_computes_nothing() -> None:
    for text in ("-1", "one", "nan", "inf", "1e999", "1" * 41):
        found = of(mean_mae=text, cor_mae="1")
        assert (found.wrong, found.utility) == (("mean_mae",), None)
    for text in ("", " ", "0"):
        assert of(mean_mae=text, cor_mae="1").utility == 0.25
    assert of(mean_mae="0", cor_mae="0").utility == 0.0


def test_the_form_begins_with_the_weights_in_force_of_all_that_may_weigh() -> None:
    found = of()
    assert [(one.name, one.typed) for one in found.measures] == [("mean_mae", "1"), ("cor_mae", "0")]
    assert (found.asked, found.utility) == (False, None)
    rules = replace(parse_competition(competition_file()), scales={})
    assert what_if(rules, TRACK, schemas.read(verdict(measures={})), {}) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_computes_with_what_is_typed_and_says_what_is_wrong(arena: Arena, language: str) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    result = arena.submission(identifier, "red")["result"]
    path = f"/submissions/{identifier}"
    plain = page(arena, path, team="red", language=language).text
    fields = re.findall(r'name="(weight\.\w+)" value="([^"]*)"', plain)
    assert ("weight.information_loss", "2") in fields
    query = "&".join(f"{name}={value}" for name, value in fields)
    same = page(arena, f"{path}?what=if&{query}", team="red", language=language).text
    overall_now = f"{result['overall']:.4f}"
    told = said(
        "With these weights: overall {overall} instead of {before}, utility loss {utility} instead of {lost}. The risk stays {risk}.",
        language,
        overall=overall_now,
        before=overall_now,
        utility=f"{result['utility']:.4f}",
        lost=f"{result['utility']:.4f}",
        risk=f"{result['security']:.4f}",
    )
    assert told in unescape(same)
    assert told not in unescape(plain)
    wrong = page(arena, f"{path}?what=if&weight.mean_mae=%3Cb%3E", team="red", language=language).text
    assert 'value="&lt;b&gt;"' in wrong
    assert (
        said(
            "Weights must be numbers, 0 or more. Please correct: {names}.",
            language,
            names=said("measure_mean_mae", language),
        )
        in wrong
    )


def test_where_the_largest_loss_is_taken_measures_are_switched_on_and_off() -> None:
    rules = parse_competition(template("2017"))
    track = TRACKS[rules.track]
    assert track.utility == "largest"
    names = [name for name, one in track.measures.items() if one.weighs]
    rules = replace(rules, scales=dict.fromkeys(names, 1.0))
    measured = {name: {"value": (n + 1) / 10, "version": 1, "rounding": 1e-9} for n, name in enumerate(names)}
    result = schemas.read(verdict(measures=measured))
    for n, name in enumerate(names):
        found = what_if(rules, track, result, asked({name: "1"}))
        assert found is not None
        assert found.utility == (n + 1) / 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_such_a_contest_has_a_box_for_each_measure_and_says_no_individuals(
    client: TestClient, arena: Arena, language: str
) -> None:
    contest = opened(client, arena, *ORIGINAL)
    red, blue = monthly(contest, "red"), monthly(contest, "blue")
    for team, one in (("red", red), ("blue", blue)):
        shown = page(contest.arena, f"/submissions/{one}", team=team, language=language).text
        boxes = re.findall(
            r'<input type="checkbox" id="weight\.\w+" name="(weight\.\w+)"[^>]*( checked)', shown
        )
        assert boxes
        query = "&".join(f"{name}=1" for name, _ in boxes)
        same = page(contest.arena, f"/submissions/{one}?what=if&{query}", team=team, language=language).text
        result = contest.arena.submission(one, team)["result"]
        assert same.count(f"{result['utility']:.4f}") > shown.count(f"{result['utility']:.4f}")
        assert "--fallen" not in shown
        assert said("Rank and distance", language) in shown
