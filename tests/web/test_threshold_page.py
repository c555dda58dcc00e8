"""The step of the threshold: asking the advisor, reading a report, putting its threshold in force."""

import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.messages import Message, Statement, kept
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata import MICRODATA
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests import competitions
from app.services.originals.threshold_reports import MOST_UNFINISHED
from app.web.site.notation import numeral
from tests.support.arena import Arena
from tests.support.threshold_reports import unfinished
from tests.web.reader import page, send
from tests.web.spoken import said, sentence
from workers import advise

pytestmark = pytest.mark.full

PATH = "/competitions/small/organize/threshold"
QUESTION = {"groups": "sex", "asked_distance": "gower", "bits": "4", "draws": "20", "seconds": "0"}


def asked(arena: Arena, **fields: str) -> str:
    """The address of a report that was asked for on the page."""
    answer = send(arena, f"{PATH}/reports", QUESTION | fields, organizer=True)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).split("?")[0]


def made(arena: Arena, **fields: str) -> str:
    path = asked(arena, **fields)
    advise.advise(path.rsplit("/", 1)[1])
    return path


def rule() -> Any:
    with transaction() as session:
        return parse_competition(competitions.find(session, None, "small").row.file).excessive


def report(path: str) -> Any:
    with transaction() as session:
        return session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1])).report


def test_a_distance_that_a_package_brings_without_a_word_is_called_as_in_files(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = replace(MICRODATA, distances={**MICRODATA.distances, "by_foot": MICRODATA.distances["gower"]})
    monkeypatch.setitem(TRACKS, "microdata", known)
    shown = page(arena, PATH, organizer=True)
    assert shown.text.count('<option value="by_foot">by_foot</option>') == 2


def test_a_report_is_waited_for_then_shown_in_words_and_pictures(arena: Arena) -> None:
    path = asked(arena)
    waiting = page(arena, path, organizer=True).text
    assert '<meta http-equiv="refresh"' in waiting
    listed = page(arena, PATH, organizer=True).text
    assert "Waiting" in listed
    assert 'hx-trigger="every 2s"' in listed
    advise.advise(path.rsplit("/", 1)[1])
    found = report(path)
    shown = page(arena, path, organizer=True).text
    assert '<meta http-equiv="refresh"' not in shown
    assert f"<strong>{numeral(found['evidence']['threshold'])}</strong>" in shown
    assert shown.count("<svg") >= 3
    for bound in found["bounds"]:
        assert f'<th scope="row" class="number">{bound["fixed"]}</th>' in shown
    assert "hx-trigger" not in page(arena, PATH, organizer=True).text


def test_a_report_says_that_it_is_at_work_only_while_it_is(arena: Arena) -> None:
    path = asked(arena)
    told, landed = said("done_report_asked"), f"{path}?done=report_asked"
    assert told in page(arena, landed, organizer=True).text
    advise.advise(path.rsplit("/", 1)[1])
    assert told not in page(arena, landed, organizer=True).text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_names_its_cheats_in_the_readers_language(arena: Arena, language: str) -> None:
    shown = page(arena, made(arena), organizer=True, language=language).text
    for name in ("shift", "random", "group"):
        assert said(f"adv_cheat_{name}", language) in shown.replace("&#39;", "'")
    assert said("Recommended threshold", language) in shown


def test_the_recommended_threshold_is_used_by_a_button(arena: Arena) -> None:
    path = made(arena)
    assert send(arena, f"{path}/use", organizer=True).status_code == 303
    found = rule()
    assert (found.threshold, found.distance) == (report(path)["evidence"]["threshold"], "gower")
    assert (found.approach, found.rule) == ("II", "average")
    shown = page(arena, path, organizer=True).text
    assert "In use" in shown
    assert shown.count(f"{path}/use") == 1
    assert send(arena, f"{path}/use", {"guaranteed": "1"}, organizer=True).status_code == 303
    assert rule().threshold == report(path)["threshold"] != report(path)["evidence"]["threshold"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_shows_both_errors_and_says_why_it_recommends(arena: Arena, language: str) -> None:
    path = made(arena)
    found = report(path)["evidence"]
    shown = page(arena, path, organizer=True, language=language).text
    assert 'id="errors"' in shown
    for reason in found["reasons"]:
        values = {
            name: numeral(each) if isinstance(each, float) else each
            for name, each in reason["values"].items()
        }
        assert sentence(reason["template"], language, **values) in shown
    for at in found["errors"]:
        assert f'<th scope="row" class="number">{numeral(at["threshold"])}</th>' in shown


def test_a_report_without_simulation_leaves_the_picture_out(arena: Arena) -> None:
    shown = page(arena, made(arena, draws="0"), organizer=True).text
    assert 'id="simulated"' not in shown
    assert 'id="bounds"' in shown


@pytest.mark.parametrize(("groups", "bits"), [("age", "500"), ("sex", "900")])
def test_where_no_threshold_separates_the_page_says_what_to_change(
    arena: Arena, groups: str, bits: str
) -> None:
    path = made(arena, groups=groups, bits=bits, draws="0")
    shown = page(arena, path, organizer=True, language="ja").text
    assert report(path)["threshold"] is None
    assert sentence(str(report(path)["remedy"]), "ja") in shown
    assert f"{path}/use" not in shown
    refused = send(arena, f"{path}/use", organizer=True)
    assert refused.status_code == 409
    assert "The report recommends no threshold." in refused.text
    assert said("The cheats that no threshold stops for certain", "ja") in shown
    assert "証明されたしきい値はありません。" in shown
    assert said("The cheats that it stops", "ja") not in shown


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("draws", "remedy"), [("0", "not_simulated"), ("20", "inseparable")])
def test_where_no_threshold_is_recommended_the_page_says_so_and_what_to_do(
    arena: Arena, draws: str, remedy: str, language: str
) -> None:
    path = made(arena, groups="age", bits="900", draws=draws)
    if remedy == "inseparable":
        overlap(path)
    shown = page(arena, path, organizer=True, language=language).text
    verdicts = {"not_simulated": said("No threshold can be recommended on these data.", language)}
    distances = {"most": 0.1235, "least": 0.2}  # four decimals, as in the picture
    verdicts["inseparable"] = sentence(OVERLAP.message.template, language, **distances)
    assert [code for code, verdict in verdicts.items() if verdict in shown] == [remedy]
    assert 'class="recommended"' not in shown
    assert said("Use this threshold", language) not in shown
    assert said(f"adv_remedy_{remedy}", language) in shown
    text = re.sub(r"<[^>]*>", " ", shown.replace("&#39;", "'"))
    for words in ("ecommended threshold: –", "推奨しきい値：–", "at – or above", "– 以上"):
        assert words not in text
    listed = page(arena, PATH, organizer=True, language=language).text
    assert f'<td class="number">{said("none", language)}</td>' in listed
    assert send(arena, f"{path}/use", organizer=True).status_code == 409


OVERLAP = Statement(
    "inseparable",
    Message(
        "no threshold separates honest work from cheats: sample releases reach {most:.6g}, simulated cheats "
        "begin at {least:.6g}; another distance or other group columns may tell them apart",
        most=0.123456,
        least=0.2,
    ),
)


def overlap(path: str) -> None:
    """Let a report say that honest work and cheats overlap, although it names a threshold."""
    with transaction() as session:
        row = session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1]))
        found = {"separates": False, "reasons": [kept(OVERLAP.code, OVERLAP.message)], "threshold": 0.101}
        row.report = report(path) | {"evidence": report(path)["evidence"] | found}


def test_a_report_shows_its_verdict_and_one_picture_and_folds_the_rest(arena: Arena) -> None:
    shown = page(arena, made(arena), organizer=True).text
    first, *folds = re.sub(r"<figure.*?</figure>", "<figure>", shown, flags=re.DOTALL).split("<details>")
    assert (first.count("<figure>"), len(folds)) == (1, 3)
    assert "<table" not in first
    assert "Recommended threshold" in first


def test_the_list_of_reports_has_what_each_recommends_not_what_it_guarantees(arena: Arena) -> None:
    path = made(arena)
    found = report(path)
    assert found["threshold"] != found["evidence"]["threshold"]
    listed = page(arena, PATH, organizer=True).text
    assert f'<td class="number">{numeral(found["evidence"]["threshold"])}</td>' in listed


def test_a_report_about_other_data_is_not_used(arena: Arena) -> None:
    path, before = made(arena), rule()
    arena.put("/competitions/small/original/original.csv", content=table_csv(arena.table.iloc[:30]))
    assert "The data have changed" in page(arena, path, organizer=True).text
    assert send(arena, f"{path}/use", organizer=True).status_code == 409
    assert rule() == before


def test_a_failed_report_says_so(arena: Arena) -> None:
    path = asked(arena)
    with transaction() as session:
        found = session.scalars(select(ThresholdReport)).one()
        found.state, found.failure = State.ERROR, Statement("scoring_failed", Message("out of memory"))
    shown = page(arena, path, organizer=True).text
    assert "Failed" in shown
    assert "Out of memory." in shown


@pytest.mark.parametrize(
    ("field", "typed", "status"),
    [
        ("bits", "0", 422),
        ("draws", "100001", 422),
        ("seconds", "301", 422),
        ("asked_distance", "jaccard", 422),
        ("groups", "income", 422),
    ],
)
def test_a_question_the_advisor_cannot_answer_comes_back_as_it_was_typed(
    arena: Arena, field: str, typed: str, status: int
) -> None:
    fields = QUESTION | {"draws": "123", field: typed}
    answer = send(arena, f"{PATH}/reports", fields, organizer=True)
    assert answer.status_code == status
    assert 'role="alert"' in answer.text or 'class="error"' in answer.text
    assert (f'value="{typed}"' if field == "draws" else 'value="123"') in answer.text


def test_a_rule_is_also_set_by_hand_and_taken_away(arena: Arena) -> None:
    by_hand = {"approach": "I", "rule": "strict", "distance": "euclidean", "threshold": "0.125"}
    assert send(arena, PATH, by_hand, organizer=True).status_code == 303
    found = rule()
    assert (found.approach, found.rule, found.distance, found.threshold) == (
        "I",
        "strict",
        "euclidean",
        0.125,
    )
    refused = send(arena, PATH, by_hand | {"threshold": "far"}, organizer=True)
    assert (refused.status_code, 'id="threshold-error"' in refused.text) == (422, True)
    assert send(arena, PATH, by_hand | {"threshold": ""}, organizer=True).status_code == 303
    assert rule().threshold is None
    assert "nothing is rejected" in page(arena, PATH, organizer=True).text


def test_a_report_of_another_competition_is_not_found_under_this_one(arena: Arena) -> None:
    path = asked(arena)
    elsewhere = Arena.opened(arena.client, slug="elsewhere")
    for asker, slug in ((arena, "elsewhere"), (elsewhere, "elsewhere")):
        answer = page(asker, path.replace("small", slug), organizer=True)
        assert answer.status_code in {403, 404}


def test_with_submissions_a_new_threshold_becomes_a_set(arena: Arena) -> None:
    path, before = made(arena), rule()
    arena.submit("red")
    answer = send(arena, f"{path}/use", organizer=True)
    assert re.match(r"/competitions/small/organize/rescores\?done=", answer.headers["location"])
    assert rule() == before
    assert len(arena.get("/competitions/small/rescores").json()) == 1


def test_a_threshold_outside_of_what_the_latest_report_allows_is_warned_about(arena: Arena) -> None:
    path = made(arena)
    found = report(path)
    outside = said(
        "The latest report recommends {recommended} with both errors in sight; {threshold} is in use."
    ).split("{")[0]
    recommended, beyond = (found["evidence"][name] for name in ("threshold", "cheats_from"))
    for threshold, warned in ((found["threshold"], False), (recommended, False), (beyond, True)):
        fields = {"approach": "II", "rule": "average", "distance": "gower", "threshold": repr(threshold)}
        assert send(arena, PATH, fields, organizer=True).status_code == 303
        shown = page(arena, PATH, organizer=True).text
        assert (outside in shown) is warned
        assert (f'<a href="{path}">{said("Threshold report")}</a></p>' in shown) is warned


def test_what_is_said_of_a_report_that_was_asked_for_goes_when_it_is_done(arena: Arena) -> None:
    path = asked(arena)
    told = said("done_report_asked")
    assert told in page(arena, f"{path}?done=report_asked", organizer=True).text
    advise.advise(path.rsplit("/", 1)[1])
    shown = page(arena, f"{path}?done=report_asked", organizer=True).text
    assert told not in shown
    assert "a chance of 2<sup>−4</sup>" in shown
    assert "2^" not in shown


def test_the_columns_of_the_cross_tables_that_weigh_are_ticked(arena: Arena) -> None:
    def ticked() -> list[str]:
        return re.findall(r'name="groups" value="(\w+)" checked', page(arena, PATH, organizer=True).text)

    assert ticked() == ["sex", "age"]
    with transaction() as session:
        row = competitions.find(session, None, "small").row
        row.file = row.file.replace("[measures.cross_count]", '[measures.cross_count]\ncolumns = ["age"]')
    assert ticked() == ["age"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_too_many_is_refused_in_the_readers_language(arena: Arena, language: str) -> None:
    asked(arena)
    unfinished(MOST_UNFINISHED)
    refused = send(arena, f"{PATH}/reports", QUESTION, organizer=True, language=language)
    assert refused.status_code == 429
    why = "{most} reports of this competition are unfinished: ask again when one is finished"
    assert sentence(why, language, most=MOST_UNFINISHED) in refused.text
