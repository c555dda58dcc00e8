"""The page of one submission: what each number means and adds, how near the limit, who may see it."""

import re
from dataclasses import replace
from html import unescape

import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import attacker_counts
from anoncup.competition.templates import template
from anoncup.messages import Message, kept
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests.competitions import published_file
from app.web.team.costs import costs_of
from app.web.team.submission import who_fell
from app.web.team.verdicts import attacker_lines, limit_of, measure_lines
from tests.recorded import attackers, verdict
from tests.support.arena import Arena, competition_file
from tests.support.contest import competition_row
from tests.support.organizer_pages import failed
from tests.support.submission_pages import scored
from tests.support.uploads import score_everything
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full

VALUES = {"mean_mae": 1.0, "information_loss": 0.5}


def test_why_scoring_failed_is_said_in_no_english_on_a_page_in_another_language(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    failed(identifier)
    english, japanese = (
        page(arena, f"/submissions/{identifier}", team="red", language=language).text
        for language in LANGUAGES
    )
    assert "The disk was full." in english
    assert "the disk was full" not in japanese
    assert "システム側の問題です" in japanese


def test_a_remark_of_an_unknown_form_has_a_sentence_of_its_code_in_its_place(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    remarks = [
        kept("too_few_rows", Message("hardly any rows are left")),
        kept("of_a_package", Message("not even wrong")),
    ]
    with transaction() as session:
        session.query(Submission).filter_by(id=identifier).one().remarks = remarks
    english, japanese = (
        page(arena, f"/submissions/{identifier}", team="red", language=language).text
        for language in LANGUAGES
    )
    assert "Hardly any rows are left." in english
    assert "Not even wrong." in english
    assert "残された個人が少なすぎます。" in japanese
    assert "内容を確認してください。" in japanese
    assert "hardly any rows" not in japanese


def test_what_the_measures_add_sums_to_the_utility_loss(arena: Arena) -> None:
    result = arena.submission(scored(arena), "red")["result"]
    rules = parse_competition(published_file(competition_row()))
    lines = measure_lines(rules, TRACKS[rules.track], schemas.read(result), None)
    weights = {line.name: line.weight for line in lines if line.weight}
    assert weights == {"mean_mae": 0.25, "cross_count": 0.25, "information_loss": 0.5}
    assert sum(line.adds or 0 for line in lines) == pytest.approx(result["utility"], abs=1e-12)


def test_the_attacker_that_decides_has_the_rate_that_is_the_risk(arena: Arena) -> None:
    result = arena.submission(scored(arena), "red")["result"]
    lines = attacker_lines(parse_competition(competition_file()), schemas.read(result))
    deciding = [line for line in lines if line.decides]
    assert deciding
    assert all(line.counts and line.entry.rate == result["security"] for line in deciding)


def test_attackers_that_tie_at_the_largest_rate_are_all_the_risk() -> None:
    rules = parse_competition(competition_file())
    found = attacker_lines(rules, schemas.read(verdict(attackers=attackers(euc1=0.5, euc2=0.5, id_sa=0.2))))
    assert {line.name for line in found if line.decides} == {"euc1", "euc2"}


def test_what_costs_most_is_named_with_all_who_tie() -> None:
    rules = parse_competition(competition_file())
    measured = {name: {"value": value, "version": 1, "rounding": 1e-9} for name, value in VALUES.items()}
    found = schemas.read(
        verdict(
            attackers=attackers(euc1=1.0, euc2=1.0, id_sa=0.2), measures=measured, security=1.0, utility=0.3
        )
    )
    rules = replace(rules, scales={"mean_mae": 10.0, "information_loss": 1.0})
    measures = measure_lines(rules, TRACKS[rules.track], found, None)
    costs = costs_of(measures, attacker_lines(rules, found), found)
    assert (costs.more, costs.everybody) == ("risk", True)
    assert {line.name for line in costs.attackers} == {"euc1", "euc2"}
    assert costs.measure is not None
    assert costs.measure.name == "information_loss"
    untouched = costs_of([], [], schemas.read(verdict(security=0.0, utility=0.0)))
    assert (untouched.more, untouched.attackers, untouched.measure) == ("nothing", (), None)


def test_its_team_and_the_organizers_see_which_methods_it_resembles(arena: Arena) -> None:
    identifier = scored(arena)
    alike = arena.submission(identifier, "red")["result"]["resembles"]
    assert alike[0]["evidence"]
    assert all("evidence" not in each for each in alike[1:])
    for shown in (
        page(arena, f"/submissions/{identifier}", team="red"),
        page(arena, f"/submissions/{identifier}", organizer=True),
    ):
        assert (
            said(
                "Sample methods that change and preserve the same measures. There may be several, and the team need not have used any of them. Only your team and the organizers see this."
            )
            in shown.text
        )
        assert " + ".join(said(f"method_{name}") for name in alike[0]["methods"]) in shown.text


@pytest.mark.parametrize(
    ("more", "which", "share"),
    [("", "mean", 50.0), ('rule = "strict"', "largest", 150.0), ('approach = "I"', None, None)],
)
def test_the_limit_is_that_of_the_rule(more: str, which: str | None, share: float | None) -> None:
    rules = parse_competition(competition_file(threshold=0.2).replace("[excessive]", f"[excessive]\n{more}"))
    histogram = {"counts": [1], "end": 0.3}
    excessive = {"mean": 0.1, "max": 0.3, "threshold": 0.2, "distance": "gower", "histogram": histogram}
    found = limit_of(rules, schemas.read(verdict(excessive=excessive, violations=[])))
    assert found is not None
    assert found.which == which
    assert found.share == (None if share is None else pytest.approx(share))
    assert found.near == (which == "largest")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_explains_its_numbers(arena: Arena, language: str) -> None:
    identifier = scored(arena)
    shown = page(arena, f"/submissions/{identifier}", team="red", language=language).text
    for text in (
        "measure_mean_mae",
        "A deleted individual counts as 1.",
        "sets E",
        "Commitment of the secret",
    ):
        assert said(text, language) in shown
    assert 'href="/competitions/small/rules#mean_mae"' in shown
    (costs,) = re.findall(r'id="costs">(.*?)</p>', shown, re.DOTALL)
    attackers = arena.submission(identifier, "red")["result"]["attackers"]
    strongest = max(attackers, key=lambda name: float(attackers[name]["rate"]))
    assert said("“{name}”", language, name=said(f"attacker_{strongest}", language)) in unescape(costs)
    assert '<figure class="chart" id="distances">' in shown
    assert f'href="/api/v1/submissions/{identifier}/data/anonymized.csv"' in shown


def test_each_attacker_stands_once_those_that_count_and_find_most_first(arena: Arena) -> None:
    identifier = scored(arena)
    attackers = arena.submission(identifier, "red")["result"]["attackers"]
    shown = page(arena, f"/submissions/{identifier}", team="red").text
    listed = re.findall(r'/rules#(\w+)">[^<]*</a> <span class="unit code">\1<', shown)
    found = [name for name in listed if name in attackers]
    assert sorted(found) == sorted(attackers)
    rules = parse_competition(competition_file())
    keys = [(not attacker_counts(rules, name), -attackers[name]["rate"]) for name in found]
    assert keys == sorted(keys)
    assert shown.count('<svg class="strip rated"') == len(attackers)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_says_its_rank_and_what_passes_who_is_next(arena: Arena, language: str) -> None:
    ours, theirs = (
        str(arena.submit(team, seed=seed).json()["id"]) for team, seed in (("red", 1), ("blue", 2))
    )
    score_everything()
    results = {one: arena.submission(one, team)["result"] for one, team in ((ours, "red"), (theirs, "blue"))}
    ahead, behind = sorted(results, key=lambda one: float(results[one]["overall"]))
    names = {ours: "red", theirs: "blue"}
    assert results[ahead]["overall"] < results[behind]["overall"]
    gap = f"{abs(round(results[ahead]['overall'], 4) - round(results[behind]['overall'], 4)):.4f}"
    shown = page(arena, f"/submissions/{behind}", team=names[behind], language=language).text
    other = {"gap": gap, "team": names[ahead]}
    assert said("Rank {rank} of {teams}.", language, rank=2, teams=2) in shown
    assert said("{gap} behind rank {rank} (“{team}”)", language, rank=1, **other) in shown
    assert said("To pass rank {rank}, one of these is enough:", language, rank=1) in shown
    first = page(arena, f"/submissions/{ahead}", team=names[ahead], language=language).text
    other = {"gap": gap, "team": names[behind]}
    assert said("Rank {rank} of {teams}.", language, rank=1, teams=2) in first
    assert said("{gap} ahead of rank {rank} (“{team}”)", language, rank=2, **other) in first
    tag = said("Rank {rank} of {teams}", language, rank=2, teams=2)
    listed = page(arena, "/competitions/small/submissions", team=names[behind], language=language).text
    assert f'<span class="tag stands">{tag}</span>' in listed


def test_one_that_is_not_the_best_leads_to_what_stands_and_supposes_its_rank(arena: Arena) -> None:
    sent = [str(arena.submit("red", seed=seed).json()["id"]) for seed in (1, 2)]
    score_everything()
    overall = {one: float(arena.submission(one, "red")["result"]["overall"]) for one in sent}
    best, other = sorted(sent, key=lambda one: overall[one])
    shown = page(arena, f"/submissions/{other}", team="red").text
    assert f'<a href="/submissions/{best}">' in shown
    assert said("With this one instead, the rank would be {first}.", first=1) in shown
    organizers = page(arena, f"/submissions/{other}", organizer=True).text
    assert said("The board shows the team’s best submission: rank {rank}.", rank=1) in organizers
    assert arena.post(f"/submissions/{other}/disqualify").status_code == 200
    barred = page(arena, f"/submissions/{other}", team="red").text
    assert said("Rank and distance") not in barred
    assert '<dl class="results">' not in barred


def test_where_the_board_is_closed_to_the_team_nothing_is_said_of_its_rank(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "organizers"'))
    path = f"/submissions/{scored(arena)}"
    assert said("Rank and distance") not in page(arena, path, team="red").text
    assert said("Rank and distance") in page(arena, path, organizer=True).text
    listed = page(arena, "/competitions/small/submissions", team="red").text
    assert 'class="tag stands"' not in listed


@pytest.mark.parametrize("board", ["public", "organizers"])
def test_until_the_reveal_nothing_is_compared_with_others(client: TestClient, board: str) -> None:
    arena = Arena.opened(client, file=competition_file(more=f'[publication]\nboard = "{board}"'))
    path = f"/submissions/{scored(arena)}"
    assert said("Among all teams") not in page(arena, path, team="red").text
    assert said("Among all teams") in page(arena, path, organizer=True).text


def test_organizers_look_but_choose_no_finals(arena: Arena) -> None:
    path = f"/submissions/{scored(arena)}"
    assert f'action="{path}/final"' in page(arena, path, team="red").text
    assert f'action="{path}/final"' not in page(arena, path, organizer=True).text


def test_a_rejected_one_says_by_how_much(arena: Arena) -> None:
    turned = arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(turned)))
    identifier = arena.submit("red", anonymized=table_csv(turned), secret=secret.encode()).json()["id"]
    score_everything()
    excessive = arena.submission(identifier, "red")["result"]["excessive"]
    shown = page(arena, f"/submissions/{identifier}", team="red").text
    (share,) = re.findall(r"(\d+)% of what is allowed", shown)
    assert int(share) == round(100 * excessive["mean"] / excessive["threshold"])
    said_so = said(
        "A rule of the contest rejects this submission: it has no rank, and what is measured below does not count."
    )
    assert shown.index(said_so) < shown.rindex('<dl class="aside">')
    assert '<dl class="results">' not in shown
    assert said("Rank and distance") not in shown


def test_while_it_waits_scripts_follow_and_others_reload(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    shown = page(arena, f"/submissions/{identifier}", team="red").text
    assert f'data-events="/api/v1/submissions/{identifier}/events"' in shown
    assert re.search(r'<noscript><meta http-equiv="refresh"', shown)


def test_its_team_is_told_how_to_find_out_who_was_found_and_nobody_is_told_who(arena: Arena) -> None:
    path = f"/submissions/{scored(arena)}"
    command = (
        "anoncup score --competition competition.toml --original original/original.csv"
        " --anonymized anonymized.csv --secret secret.csv --fallen fallen.csv"
    )
    assert command in page(arena, path, team="red").text
    assert command not in page(arena, path, organizer=True).text
    assert who_fell(TRACKS["membership"], parse_competition(template("membership"))) is None
