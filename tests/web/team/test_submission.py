"""The page of a submission: contributions to utility and risk, the limit, the rank and visibility."""

import re
from dataclasses import replace
from html import unescape

import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.competition.templates import template
from anoncup.messages import Message, serialize
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import write_csv
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests.competitions import build_published_file
from app.web.team.costs import summarize_costs
from app.web.team.submission import build_reidentified_command
from app.web.team.verdicts import build_attacker_lines, build_measure_lines, compare_with_threshold
from tests.recorded import build_attackers, build_verdict
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import load_competition
from tests.support.organizer_pages import fail_evaluation
from tests.support.page_requests import get_page
from tests.support.team_pages import submit_and_score
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

VALUES = {"mean_mae": 1.0, "information_loss": 0.5}


def test_scoring_failure_is_not_shown_in_english_elsewhere(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    fail_evaluation(identifier)
    english, japanese = (
        get_page(arena, f"/submissions/{identifier}", team="red", language=language).text
        for language in LANGUAGES
    )
    assert "The disk was full." in english
    assert "the disk was full" not in japanese
    assert "システム側の問題です" in japanese


def test_remark_without_translation_shows_the_text_of_its_code(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    remarks = [
        serialize("too_few_rows", Message("hardly any rows are left")),
        serialize("of_a_package", Message("not even wrong")),
    ]
    with transaction() as session:
        session.query(Submission).filter_by(id=identifier).one().remarks = remarks
    english, japanese = (
        get_page(arena, f"/submissions/{identifier}", team="red", language=language).text
        for language in LANGUAGES
    )
    assert "Hardly any rows are left." in english
    assert "Not even wrong." in english
    assert "残された個人が少なすぎます。" in japanese
    assert "内容を確認してください。" in japanese
    assert "hardly any rows" not in japanese


def test_measure_contributions_sum_to_the_utility_loss(arena: Arena) -> None:
    result = arena.get_submission(submit_and_score(arena), "red")["result"]
    rules = parse_competition(build_published_file(load_competition()))
    lines = build_measure_lines(rules, TRACKS[rules.track], schemas.parse_verdict(result), None)
    weights = {line.name: line.weight for line in lines if line.weight}
    assert weights == {"mean_mae": 0.25, "cross_count": 0.25, "information_loss": 0.5}
    assert sum(line.contribution or 0 for line in lines) == pytest.approx(result["utility"], abs=1e-12)


def test_deciding_attackers_have_the_rate_of_the_risk(arena: Arena) -> None:
    result = arena.get_submission(submit_and_score(arena), "red")["result"]
    lines = build_attacker_lines(parse_competition(build_competition_toml()), schemas.parse_verdict(result))
    deciding = [line for line in lines if line.is_decisive]
    assert deciding
    assert all(line.is_counted and line.entry.rate == result["security"] for line in deciding)


def test_tied_attackers_all_decide_the_risk() -> None:
    rules = parse_competition(build_competition_toml())
    lines = build_attacker_lines(
        rules, schemas.parse_verdict(build_verdict(attackers=build_attackers(euc1=0.5, euc2=0.5, id_sa=0.2)))
    )
    assert {line.name for line in lines if line.is_decisive} == {"euc1", "euc2"}


def test_largest_contributions_are_named_with_ties() -> None:
    rules = parse_competition(build_competition_toml())
    measure_results = {
        name: {"value": value, "version": 1, "rounding": 1e-9} for name, value in VALUES.items()
    }
    result = schemas.parse_verdict(
        build_verdict(
            attackers=build_attackers(euc1=1.0, euc2=1.0, id_sa=0.2),
            measures=measure_results,
            security=1.0,
            utility=0.3,
        )
    )
    rules = replace(rules, scales={"mean_mae": 10.0, "information_loss": 1.0})
    measures = build_measure_lines(rules, TRACKS[rules.track], result, None)
    costs = summarize_costs(measures, build_attacker_lines(rules, result), result)
    assert (costs.dominant, costs.finds_everybody) == ("risk", True)
    assert {line.name for line in costs.attackers} == {"euc1", "euc2"}
    assert costs.measure is not None
    assert costs.measure.name == "information_loss"
    no_costs = summarize_costs([], [], schemas.parse_verdict(build_verdict(security=0.0, utility=0.0)))
    assert (no_costs.dominant, no_costs.attackers, no_costs.measure) == ("nothing", (), None)


def test_team_and_organizers_see_similar_methods(arena: Arena) -> None:
    identifier = submit_and_score(arena)
    matches = arena.get_submission(identifier, "red")["result"]["resembles"]
    assert matches[0]["evidence"]
    assert all("evidence" not in match for match in matches[1:])
    for response in (
        get_page(arena, f"/submissions/{identifier}", team="red"),
        get_page(arena, f"/submissions/{identifier}", organizer=True),
    ):
        assert (
            translate(
                "Sample methods that change and preserve the same measures. There may be several, and the team need not have used any of them. Only your team and the organizers see this."
            )
            in response.text
        )
        assert " + ".join(translate(f"method_{name}") for name in matches[0]["methods"]) in response.text


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_explains_its_numbers(arena: Arena, language: str) -> None:
    identifier = submit_and_score(arena)
    html = get_page(arena, f"/submissions/{identifier}", team="red", language=language).text
    for text in (
        "measure_mean_mae",
        "A deleted individual counts as 1.",
        "sets E",
        "Commitment of the secret",
    ):
        assert translate(text, language) in html
    assert 'href="/competitions/small/rules#mean_mae"' in html
    (costs,) = re.findall(r'id="costs">(.*?)</p>', html, re.DOTALL)
    attackers = arena.get_submission(identifier, "red")["result"]["attackers"]
    strongest = max(attackers, key=lambda name: float(attackers[name]["rate"]))
    assert translate("“{name}”", language, name=translate(f"attacker_{strongest}", language)) in unescape(
        costs
    )
    assert '<figure class="chart" id="distances">' in html
    assert f'href="/api/v1/submissions/{identifier}/data/anonymized.csv"' in html


def test_attackers_are_listed_counted_and_strongest_first(arena: Arena) -> None:
    identifier = submit_and_score(arena)
    attackers = arena.get_submission(identifier, "red")["result"]["attackers"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    measure_names = re.findall(r'/rules#(\w+)">[^<]*</a> <span class="unit code">\1<', html)
    names = [name for name in measure_names if name in attackers]
    assert sorted(names) == sorted(attackers)
    rules = parse_competition(build_competition_toml())
    keys = [(not counts_towards_security(rules, name), -attackers[name]["rate"]) for name in names]
    assert keys == sorted(keys)
    assert html.count('<svg class="strip rated"') == len(attackers)


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_shows_the_rank_and_the_gap_to_the_next(arena: Arena, language: str) -> None:
    own_id, rival_id = (
        str(arena.submit(team, seed=seed).json()["id"]) for team, seed in (("red", 1), ("blue", 2))
    )
    score_everything()
    results = {
        identifier: arena.get_submission(identifier, team)["result"]
        for identifier, team in ((own_id, "red"), (rival_id, "blue"))
    }
    better, worse = sorted(results, key=lambda identifier: float(results[identifier]["overall"]))
    names = {own_id: "red", rival_id: "blue"}
    assert results[better]["overall"] < results[worse]["overall"]
    gap = f"{abs(round(results[better]['overall'], 4) - round(results[worse]['overall'], 4)):.4f}"
    html = get_page(arena, f"/submissions/{worse}", team=names[worse], language=language).text
    values = {"gap": gap, "team": names[better]}
    assert translate("Rank {rank} of {teams}.", language, rank=2, teams=2) in html
    assert translate("{gap} behind rank {rank} (“{team}”)", language, rank=1, **values) in html
    assert translate("To pass rank {rank}, one of these is enough:", language, rank=1) in html
    leader_html = get_page(arena, f"/submissions/{better}", team=names[better], language=language).text
    values = {"gap": gap, "team": names[worse]}
    assert translate("Rank {rank} of {teams}.", language, rank=1, teams=2) in leader_html
    assert translate("{gap} ahead of rank {rank} (“{team}”)", language, rank=2, **values) in leader_html
    rank_label = translate("Rank {rank} of {teams}", language, rank=2, teams=2)
    list_html = get_page(arena, "/competitions/small/submissions", team=names[worse], language=language).text
    assert f'<span class="tag stands">{rank_label}</span>' in list_html


def test_lesser_submission_links_to_the_best_and_shows_its_rank(
    arena: Arena,
) -> None:
    submissions = [str(arena.submit("red", seed=seed).json()["id"]) for seed in (1, 2)]
    score_everything()
    overall = {
        identifier: float(arena.get_submission(identifier, "red")["result"]["overall"])
        for identifier in submissions
    }
    best, second_best = sorted(submissions, key=lambda identifier: overall[identifier])
    html = get_page(arena, f"/submissions/{second_best}", team="red").text
    assert f'<a href="/submissions/{best}">' in html
    assert translate("With this one instead, the rank would be {first}.", first=1) in html
    organizers = get_page(arena, f"/submissions/{second_best}", organizer=True).text
    assert translate("The board shows the team’s best submission: rank {rank}.", rank=1) in organizers
    assert arena.post(f"/submissions/{second_best}/disqualify").status_code == 200
    disqualified_html = get_page(arena, f"/submissions/{second_best}", team="red").text
    assert translate("Rank and distance") not in disqualified_html
    assert '<dl class="results">' not in disqualified_html


def test_closed_board_hides_the_rank_on_the_page(client: TestClient) -> None:
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml='[publication]\nboard = "organizers"')
    )
    path = f"/submissions/{submit_and_score(arena)}"
    assert translate("Rank and distance") not in get_page(arena, path, team="red").text
    assert translate("Rank and distance") in get_page(arena, path, organizer=True).text
    list_html = get_page(arena, "/competitions/small/submissions", team="red").text
    assert 'class="tag stands"' not in list_html


@pytest.mark.parametrize("board", ["public", "organizers"])
def test_team_sees_no_comparison_with_others_before_the_reveal(client: TestClient, board: str) -> None:
    arena = Arena.create(client, file=build_competition_toml(extra_toml=f'[publication]\nboard = "{board}"'))
    path = f"/submissions/{submit_and_score(arena)}"
    assert translate("Among all teams") not in get_page(arena, path, team="red").text
    assert translate("Among all teams") in get_page(arena, path, organizer=True).text


def test_organizers_cannot_choose_finals(arena: Arena) -> None:
    path = f"/submissions/{submit_and_score(arena)}"
    assert f'action="{path}/final"' in get_page(arena, path, team="red").text
    assert f'action="{path}/final"' not in get_page(arena, path, organizer=True).text


def test_rejected_submission_shows_the_excess(arena: Arena) -> None:
    reversed_table = arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(reversed_table)))
    identifier = arena.submit("red", anonymized=write_csv(reversed_table), secret=secret.encode()).json()[
        "id"
    ]
    score_everything()
    excessive = arena.get_submission(identifier, "red")["result"]["excessive"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    (share,) = re.findall(r"(\d+)% of what is allowed", html)
    assert int(share) == round(100 * excessive["mean"] / excessive["threshold"])
    rejection_note = translate(
        "A rule of the contest rejects this submission: it has no rank, and what is measured below does not count."
    )
    assert html.index(rejection_note) < html.rindex('<dl class="aside">')
    assert '<dl class="results">' not in html
    assert translate("Rank and distance") not in html


def test_waiting_page_streams_events_or_reloads(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    html = get_page(arena, f"/submissions/{identifier}", team="red").text
    assert f'data-events="/api/v1/submissions/{identifier}/events"' in html
    assert re.search(r'<noscript><meta http-equiv="refresh"', html)


def test_team_sees_the_command_for_reidentified_individuals(arena: Arena) -> None:
    path = f"/submissions/{submit_and_score(arena)}"
    command = (
        "anoncup score --competition competition.toml --original original/original.csv"
        " --anonymized anonymized.csv --secret secret.csv --reidentified reidentified.csv"
    )
    assert command in get_page(arena, path, team="red").text
    assert command not in get_page(arena, path, organizer=True).text
    assert build_reidentified_command(TRACKS["membership"], parse_competition(template("membership"))) is None
