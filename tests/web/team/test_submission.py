"""The page of a submission: utility and risk, the limit, and visibility."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.messages import Message, serialize_as_notice
from anoncup.plugins import TRACKS
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests.competitions import build_published_file
from app.web.site.notation import format_number
from app.web.team.submission import summarize_costs
from app.web.team.verdicts import build_attacker_lines, build_measure_lines, compare_with_threshold
from tests.recorded import build_attackers, build_verdict
from tests.support.arena import ROWS, Arena, build_competition_toml
from tests.support.contest import Contest, load_round
from tests.support.organizer_pages import fail_evaluation
from tests.support.page_requests import build_headers, get_page
from tests.support.team_pages import submit_and_score
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import parse_body

pytestmark = pytest.mark.full

VALUES = {"mean_mae": 1.0, "information_loss": 0.5}
TRACK = TRACKS["microdata"]


def test_failures_and_remarks_without_translation_are_replaced_in_other_languages(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    fail_evaluation(identifier)
    remarks = [
        serialize_as_notice("too_few_rows", Message("hardly any rows are left")),
        serialize_as_notice("of_a_package", Message("not even wrong")),
    ]
    with transaction() as session:
        session.query(Submission).filter_by(id=identifier).one().remarks = remarks
    english, japanese = (
        get_page(arena, f"/submissions/{identifier}", team="red", language=language).text
        for language in LANGUAGES
    )
    for text in ("The disk was full.", "Hardly any rows are left.", "Not even wrong."):
        assert text in english
        assert text[1:] not in japanese
    for text in ("システム側の問題です", "残された個人が少なすぎます。", "内容を確認してください。"):
        assert text in japanese


def test_contributions_add_up_to_the_utility_loss_and_deciding_attackers_have_the_risk(arena: Arena) -> None:
    result = arena.get_submission(submit_and_score(arena), "red")["result"]
    rules, verdict = parse_competition(build_published_file(load_round())), schemas.parse_verdict(result)
    lines = build_measure_lines(rules, TRACKS[rules.track], verdict, None)
    weights = {line.name: line.weight for line in lines if line.weight}
    assert weights == {"mean_mae": 0.25, "cross_count": 0.25, "information_loss": 0.5}
    assert sum(line.contribution or 0 for line in lines) == pytest.approx(result["utility"], abs=1e-12)
    deciding = [line for line in build_attacker_lines(rules, verdict) if line.is_decisive]
    assert deciding
    assert all(line.is_counted and line.entry.rate == result["security"] for line in deciding)


def test_largest_contributions_are_named_with_ties() -> None:
    measured = {name: {"value": value, "version": 1, "rounding": 1e-9} for name, value in VALUES.items()}
    attackers = build_attackers(euc1=1.0, euc2=1.0, id_sa=0.2)
    verdict = build_verdict(attackers=attackers, measures=measured, security=1.0, utility=0.3)
    result = schemas.parse_verdict(verdict)
    scale_values = {"mean_mae": 10.0, "information_loss": 1.0}
    rules = replace(parse_competition(build_competition_toml()), scales=scale_values)
    measures = build_measure_lines(rules, TRACKS[rules.track], result, None)
    costs = summarize_costs(measures, build_attacker_lines(rules, result), result)
    assert (costs.dominant, costs.finds_everybody) == ("risk", True)
    assert {line.name for line in costs.attackers} == {"euc1", "euc2"}
    assert costs.measure is not None
    assert costs.measure.name == "information_loss"
    no_costs = summarize_costs([], [], schemas.parse_verdict(build_verdict(security=0.0, utility=0.0)))
    assert (no_costs.dominant, no_costs.attackers, no_costs.measure) == ("nothing", (), None)


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


def test_page_explains_its_numbers(arena: Arena) -> None:
    identifier = submit_and_score(arena)
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    for text in (
        "measure_mean_mae",
        "A deleted individual counts as 1.",
        "sets E",
        "Commitment of the secret",
    ):
        assert translate(text) in html
    assert 'href="/competitions/small/rules#mean_mae"' in html
    (costs,) = re.findall(r'id="costs">(.*?)</p>', html, re.DOTALL)
    attackers = arena.get_submission(identifier, "red")["result"]["attackers"]
    strongest = max(attackers, key=lambda name: float(attackers[name]["rate"]))
    assert f"“{translate(f'attacker_{strongest}')}”" in unescape(costs)
    assert '<figure class="chart" id="distances">' in html
    assert f'href="/api/v1/submissions/{identifier}/data/anonymized.csv"' in html


def test_attackers_are_listed_counted_and_strongest_first(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[attackers.euc1]\ncounts = false")
    identifier = submit_and_score(arena)
    attackers = arena.get_submission(identifier, "red")["result"]["attackers"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    names = re.findall(r'/rules#(\w+)">[^<]*</a> <span class="unit code">\1<', html)
    assert [name for name in names if name in attackers] == sorted(
        attackers, key=lambda name: (name == "euc1", -attackers[name]["rate"])
    )
    assert html.count('<svg class="strip rated"') == len(attackers)


@pytest.mark.parametrize("board", ["public", "organizers"])
def test_team_sees_no_comparison_before_the_reveal(client: TestClient, board: str) -> None:
    arena = Arena.create(client, extra_toml=f'[publication]\nboard = "{board}"')
    path = f"/submissions/{submit_and_score(arena)}"
    own, full = get_page(arena, path, team="red").text, get_page(arena, path, organizer=True).text
    assert translate("Among all teams") not in own
    assert translate("Among all teams") in full


def test_only_the_team_can_choose_finals(arena: Arena) -> None:
    path = f"/submissions/{submit_and_score(arena)}"
    assert f'action="{path}/final"' in get_page(arena, path, team="red").text
    assert f'action="{path}/final"' not in get_page(arena, path, organizer=True).text


def test_rejected_submission_shows_the_excess(arena: Arena) -> None:
    identifier = arena.submit_excessive("red").json()["id"]
    score_everything()
    result = arena.get_submission(identifier, "red")["result"]
    assert [violation["code"] for violation in result["violations"]] == ["excessive_anonymization"]
    excessive = result["excessive"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    (share,) = re.findall(r"(\d+)% of what is allowed", html)
    assert int(share) == round(100 * excessive["mean"] / excessive["threshold"])
    assert html.index("A rule of the contest rejects this submission") < html.rindex('<dl class="aside">')
    assert '<dl class="results">' not in html
    assert translate("state_REJECTED") in html
    assert re.search('<p class="note bad">[^<]*(distance of individuals|Excessive)', html)
    assert format_number(excessive["mean"]) in html


def test_waiting_page_polls_until_its_submission_is_scored(arena: Arena) -> None:
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))
    html = get_page(arena, f"/submissions/{second}", team="red").text
    assert f'hx-get="/submissions/{second}" hx-select="#live" hx-trigger="every 2s"' in html
    assert re.search(r'<noscript><meta http-equiv="refresh"', html)

    def poll() -> Response:
        headers = build_headers(arena, arena.get_team_token("red"), "en") | {"HX-Request": "true"}
        return arena.client.get(f"/submissions/{second}", headers=headers)

    assert "HX-Refresh" not in poll().headers
    score_everything()
    assert poll().headers["HX-Refresh"] == "true"
    response = get_page(arena, f"/submissions/{first}", team="red")
    assert 'http-equiv="refresh"' not in response.text
    assert "hx-get" not in response.text
    assert "HX-Refresh" not in response.headers


def read_attack_rows(contest: Contest, submission: str, **viewer: Any) -> list[list[str]]:
    """Return team, identified individuals and number of guesses from the table of a submission's page."""
    html = get_page(contest.arena, f"/submissions/{submission}", **viewer).text
    return [[team, hits, trials] for team, hits, _, trials in parse_body(html, 'class="wide rivals"')]


def test_hidden_attacks_are_shown_to_the_team_after_the_close(contest: Contest) -> None:
    first, second, *_ = contest.publish_targets("red", "red", "blue", "green")
    for team, rows in (("blue", 3), ("blue", 2), ("green", 9)):
        contest.submit_correct_guess(team, first, rows)
    expected = [["green", f"9 / {ROWS}", "1"], ["blue", f"3 / {ROWS}", "2"]]
    assert read_attack_rows(contest, first, team="red") == []
    assert read_attack_rows(contest, first, organizer=True) == expected
    contest.close_attacks()
    assert read_attack_rows(contest, first, team="red") == expected
    assert read_attack_rows(contest, second, team="red") == []
    assert get_page(contest.arena, f"/submissions/{first}", team="blue").status_code == 404
    assert contest.post_as_organizer(f"/submissions/{first}/disqualify").status_code == 200
    assert read_attack_rows(contest, first, team="red") == []
