"""The page of a submission: utility and risk, the limit, the rank, visibility, and results under other weights."""

import re
from dataclasses import replace
from html import unescape
from random import Random
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.scales import scales
from anoncup.messages import Message, serialize_as_notice
from anoncup.plugins import TRACKS
from anoncup.rules.settings import MeasureSettings
from anoncup.rules.toml_text import replace_tables
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests.competitions import build_published_file
from app.web.site.notation import format_number
from app.web.team.submission import WhatIf, compute_what_if, summarize_costs
from app.web.team.verdicts import build_attacker_lines, build_measure_lines, compare_with_threshold
from tests.recorded import build_attackers, build_verdict
from tests.support import monthly_contest
from tests.support.arena import ROWS, Arena, build_competition_toml, build_original_table
from tests.support.board_facts import create_contest, freeze_boards
from tests.support.contest import Contest, load_round
from tests.support.organizer_pages import fail_evaluation
from tests.support.originals import make_original
from tests.support.page_requests import get_page
from tests.support.rescores import apply_rescore, get_competition_file
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


def test_page_shows_the_rank_and_the_gap_to_the_next(arena: Arena) -> None:
    submissions = {
        team: str(arena.submit(team, seed=seed).json()["id"]) for seed, team in enumerate(("red", "blue"))
    }
    score_everything()
    losses = {
        team: arena.get_submission(submissions[team], team)["result"]["overall"] for team in submissions
    }
    better, worse = sorted(losses, key=lambda team: float(losses[team]))
    gap = f"{round(losses[worse], 4) - round(losses[better], 4):.4f}"
    assert float(gap) > 0
    html = get_page(arena, f"/submissions/{submissions[worse]}", team=worse).text
    assert "Rank 2 of 2." in html
    assert f"{gap} behind rank 1 (“{better}”)" in html
    assert "To pass rank 1, one of these is enough:" in html
    leader_html = get_page(arena, f"/submissions/{submissions[better]}", team=better).text
    assert "Rank 1 of 2." in leader_html
    assert f"{gap} ahead of rank 2 (“{worse}”)" in leader_html
    list_html = get_page(arena, "/competitions/small/submissions", team=worse).text
    assert '<span class="tag stands">Rank 2 of 2</span>' in list_html


def test_lesser_submission_links_to_the_best_and_shows_its_rank(arena: Arena) -> None:
    submissions = [str(arena.submit("red", seed=seed).json()["id"]) for seed in (1, 2)]
    score_everything()
    overall = {item: float(arena.get_submission(item, "red")["result"]["overall"]) for item in submissions}
    best, second_best = sorted(submissions, key=lambda identifier: overall[identifier])
    html = get_page(arena, f"/submissions/{second_best}", team="red").text
    assert f'<a href="/submissions/{best}">' in html
    assert "With this one instead, the rank would be 1." in html
    organizers = get_page(arena, f"/submissions/{second_best}", organizer=True).text
    assert "The board shows the team’s best submission: rank 1." in organizers
    assert arena.post(f"/submissions/{second_best}/disqualify").status_code == 200
    disqualified_html = get_page(arena, f"/submissions/{second_best}", team="red").text
    assert translate("Rank and distance") not in disqualified_html
    assert '<dl class="results">' not in disqualified_html


@pytest.mark.parametrize("board", ["public", "organizers"])
def test_team_sees_no_hidden_rank_and_no_comparison_before_the_reveal(client: TestClient, board: str) -> None:
    arena = Arena.create(client, extra_toml=f'[publication]\nboard = "{board}"')
    path = f"/submissions/{submit_and_score(arena)}"
    own, full = get_page(arena, path, team="red").text, get_page(arena, path, organizer=True).text
    assert (translate("Rank and distance") in own) == (board == "public")
    assert translate("Among all teams") not in own
    assert translate("Rank and distance") in full
    assert translate("Among all teams") in full
    list_html = get_page(arena, "/competitions/small/submissions", team="red").text
    assert ('class="tag stands"' in list_html) == (board == "public")


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
    assert translate("Rank and distance") not in html
    assert translate("state_REJECTED") in html
    assert re.search('<p class="note bad">[^<]*(distance of individuals|Excessive)', html)
    assert format_number(excessive["mean"]) in html


def test_waiting_page_streams_events_or_reloads(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    assert f'data-events="/api/v1/submissions/{identifier}/events"' in html
    assert re.search(r'<noscript><meta http-equiv="refresh"', html)
    score_everything()
    assert 'http-equiv="refresh"' not in get_page(arena, f"/submissions/{identifier}", team="red").text


def build_query(weights: dict[str, str]) -> dict[str, str]:
    return {"what": "if"} | {f"weight.{name}": text for name, text in weights.items()}


def test_result_equals_scoring_with_these_weights() -> None:
    table = build_original_table()
    rules = parse_competition(build_competition_toml())
    prepared, source = make_original(table, rules), np.arange(len(table))
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
        query = build_query({name: repr(value) for name, value in weights.items()})
        outcome = compute_what_if(rules, TRACK, first, query)
        assert outcome is not None
        assert (outcome.utility, outcome.overall) == (evaluation.utility, evaluation.overall)
        utilities.add(outcome.utility)
    assert len(utilities) > 2


def compute_example(**typed: str) -> WhatIf:
    scale_values = {"mean_mae": 1.0, "cor_mae": 2.0, "k_min": 1.0}
    rules = replace(parse_competition(build_competition_toml()), scales=scale_values)
    measured = {name: {"value": 0.5, "version": 1, "rounding": 1e-9} for name in scale_values}
    verdict = schemas.parse_verdict(build_verdict(measures=measured))
    outcome = compute_what_if(rules, TRACK, verdict, build_query(typed) if typed else {})
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


def test_page_computes_from_input_and_reports_errors(arena: Arena) -> None:
    path = f"/submissions/{submit_and_score(arena)}"
    result = arena.get_submission(path.rpartition("/")[2], "red")["result"]
    plain_html = get_page(arena, path, team="red").text
    fields = re.findall(r'name="(weight\.\w+)" value="([^"]*)"', plain_html)
    assert ("weight.information_loss", "2") in fields
    query = "&".join(f"{name}={value}" for name, value in fields)
    same_html = get_page(arena, f"{path}?what=if&{query}", team="red").text
    overall, utility, risk = (f"{result[name]:.4f}" for name in ("overall", "utility", "security"))
    summary = (
        f"With these weights: overall {overall} instead of {overall}, utility loss {utility} instead of {utility}."
        f" The risk stays {risk}."
    )
    assert summary in same_html
    assert summary not in plain_html
    invalid_html = get_page(arena, f"{path}?what=if&weight.mean_mae=%3Cb%3E", team="red").text
    assert 'value="&lt;b&gt;"' in invalid_html
    names = translate("measure_mean_mae")
    assert f"Weights must be numbers, 0 or more. Please correct: {names}." in invalid_html


def test_utility_is_the_maximum_of_the_chosen_measures_with_the_maximum_rule() -> None:
    rules = parse_competition(template("2017"))
    track = TRACKS[rules.track]
    assert track.utility == "largest"
    names = [name for name, measure in track.measures.items() if measure.weighs]
    rules = replace(rules, scales=dict.fromkeys(names, 1.0))
    measured = {name: {"value": (n + 1) / 10, "version": 1, "rounding": 1e-9} for n, name in enumerate(names)}
    result = schemas.parse_verdict(build_verdict(measures=measured))
    for n in range(len(names)):
        for chosen in (names[n:][:1], names[: n + 1]):
            outcome = compute_what_if(rules, track, result, build_query(dict.fromkeys(chosen, "1")))
            assert outcome is not None
            assert outcome.utility == (n + 1) / 10


def test_maximum_rule_has_a_checkbox_for_each_measure(client: TestClient, arena: Arena) -> None:
    contest = monthly_contest.create_contest(client, arena, *monthly_contest.ORIGINAL)
    path = f"/submissions/{monthly_contest.submit_and_score(contest, 'red')}"
    html = get_page(contest.arena, path, team="red").text
    boxes = re.findall(r'<input type="checkbox" id="weight\.\w+" name="(weight\.\w+)"[^>]*( checked)', html)
    assert boxes
    query = "&".join(f"{name}=1" for name, _ in boxes)
    same_html = get_page(contest.arena, f"{path}?what=if&{query}", team="red").text
    utility = f"{contest.arena.get_submission(path.rpartition('/')[2], 'red')['result']['utility']:.4f}"
    assert same_html.count(utility) > html.count(utility)
    assert translate("Rank and distance") in html


def read_submission_page(contest: Contest, submission: str, *, team: str = "red") -> str:
    return get_page(contest.arena, f"/submissions/{submission}", team=team).text


def test_later_submission_is_ranked_on_the_frozen_board(client: TestClient) -> None:
    contest = create_contest(client)
    frozen_id = contest.submit("red")
    contest.submit("blue")
    freeze_boards(contest)
    later_id = contest.submit("red")
    contest.submit("green")  # not on the frozen board
    for submission in (frozen_id, later_id):
        assert "The board is frozen" in read_submission_page(contest, submission)
    own = next(row for row in contest.get_board(team="red")["rows"] if row["own"])
    rank_text = f"Rank {own['rank']} of 2."
    best_text = f"The board shows the team’s best submission: rank {own['rank']}."
    assert rank_text in read_submission_page(contest, frozen_id)
    assert best_text in read_submission_page(contest, later_id)
    organizers = get_page(contest.arena, f"/submissions/{later_id}", organizer=True).text
    assert "The board is frozen" not in organizers
    equal_weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    text = replace_tables(get_competition_file(contest), "measures", equal_weights)
    apply_rescore(contest, replace_tables(text, "scales", ""))  # the frozen rows were scored by other rules
    assert translate("Rank and distance") not in read_submission_page(contest, later_id)
    assert rank_text in read_submission_page(contest, frozen_id)


@pytest.mark.parametrize("rule", ["score", "rank_sum"])
def test_no_distance_to_the_next_rank_is_shown_with_rank_sums(client: TestClient, rule: str) -> None:
    contest = create_contest(client, rule=rule)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
    rank_sum_note = "Here the sum of the ranks in each measure and in risk decides"
    for team, submission in submissions.items():
        html = read_submission_page(contest, submission, team=team)
        assert (rank_sum_note in html) is (rule == "rank_sum")
        assert ('<ul class="gaps">' in html) is (rule == "score")


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
