"""The page of a submission: utility and risk, the limit, and visibility."""

import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from app.competitions.competitions import build_published_file
from app.core.pages.notation import format_number
from app.submissions.verdict_parts import build_attacker_lines, build_measure_lines, compare_with_threshold
from tests.recorded import build_verdict
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import load_round
from tests.support.page_requests import extract_text, extract_words, get_page
from tests.support.team_pages import submit_and_score
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def test_contributions_add_up_to_the_utility_loss_and_deciding_attackers_have_the_risk(arena: Arena) -> None:
    result = arena.get_submission(submit_and_score(arena), "red")["result"]
    rules, verdict = parse_competition(build_published_file(load_round())), schemas.parse_verdict(result)
    lines = build_measure_lines(rules, TRACKS[rules.track], verdict)
    weights = {line.name: line.weight for line in lines if line.weight}
    assert weights == {"mean_mae": 0.25, "cross_count": 0.25, "information_loss": 0.5}
    assert sum(line.contribution or 0 for line in lines) == pytest.approx(result["utility"], abs=1e-12)
    deciding = [line for line in build_attacker_lines(rules, verdict) if line.is_decisive]
    assert deciding
    assert all(line.is_counted and line.entry.rate == result["security"] for line in deciding)


@pytest.mark.parametrize(
    ("more", "statistic", "share"),
    [("", "mean", 50.0), ('rule = "strict"', "largest", 150.0), ('approach = "I"', None, None)],
)
def test_limit_follows_the_rule(more: str, statistic: str | None, share: float | None) -> None:
    rules = parse_competition(
        build_competition_toml(threshold=0.2).replace("[excessive]", f"[excessive]\n{more}")
    )
    histogram = {"counts": [1], "end": 0.3}
    excessive = {"mean": 0.1, "max": 0.3, "threshold": 0.2, "distance": "gower", "histogram": histogram}
    limit = compare_with_threshold(
        rules, schemas.parse_verdict(build_verdict(excessive=excessive, violations=[]))
    )
    assert limit is not None
    assert limit.compared_distance == statistic
    assert limit.percent == (None if share is None else pytest.approx(share))
    assert limit.is_near == (statistic == "largest")


def test_rejected_submission_has_no_overall_score_on_its_page_and_in_the_list(arena: Arena) -> None:
    identifier = arena.submit_excessive("red").json()["id"]
    score_everything()
    score = f"{arena.get_submission(identifier, 'red')['result']['overall']:.4f}"
    for path in (f"/submissions/{identifier}", f"/competitions/{arena.slug}/submissions"):
        text = extract_text(get_page(arena, path, team="red"))
        assert "Rejected" in text
        assert score not in text


@pytest.mark.parametrize("formula", ["max(utility, strongest() / 3) + k_min / 7", "rank('security')"])
def test_pages_show_the_score_of_a_formula_that_needs_no_other_release(
    client: TestClient, formula: str
) -> None:
    arena = Arena.create(client, extra_toml=f'[ranking]\ndefence = "{formula}"\n')
    identifier = submit_and_score(arena)
    (row,) = arena.get("/competitions/small/boards/anonymization", team="red").json()["rows"]
    label, value = ("Overall", row["overall"]) if "rank" in formula else ("Score", row["score"])
    number = format_number(value)
    assert arena.get_submission(identifier, "red")["score"] == (None if "rank" in formula else row["score"])
    for path in (f"/submissions/{identifier}", "/competitions/small/submissions"):
        words = extract_words(get_page(arena, path, team="red").text)
        assert f" {label} {number} Utility loss " in " ".join(words)
    words = extract_words(get_page(arena, "/competitions/small/organize/submissions", organizer=True).text)
    assert {label, number} <= set(words)
