"""The threshold step: requesting a report of the advisor, reading it and using its threshold."""

import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.competition.rules_text import set_threshold
from anoncup.messages import CodedMessage, Message, serialize_as_notice
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata import MICRODATA
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.services.contests import competitions
from app.services.originals.threshold_reports import MAX_UNFINISHED
from app.web.site.notation import format_number
from tests.support.arena import Arena
from tests.support.contest import load_competition
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.threshold_reports import add_waiting_reports
from tests.support.translations import translate, translate_message
from workers import advise

pytestmark = pytest.mark.full

PATH = "/competitions/small/organize/threshold"
REPORT_FIELDS = {"groups": "sex", "asked_distance": "gower", "bits": "4", "draws": "20"}


def request_report(arena: Arena, **fields: str) -> str:
    """Request a report on the page and return its path."""
    response = post_form(arena, f"{PATH}/reports", REPORT_FIELDS | fields, organizer=True)
    assert response.status_code == 303, response.text
    return str(response.headers["location"]).split("?")[0]


def create_report(arena: Arena, **fields: str) -> str:
    path = request_report(arena, **fields)
    advise.advise(path.rsplit("/", 1)[1])
    return path


def load_rule() -> Any:
    with transaction() as session:
        return parse_competition(competitions.find(session, None, "small").competition.file).excessive


def load_report(path: str) -> Any:
    with transaction() as session:
        return session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1])).report


def test_unlabelled_package_distance_is_shown_by_its_name(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_name = {**MICRODATA.distances, "by_foot": MICRODATA.distances["gower"]}
    distances = replace(MICRODATA.distances, by_name=by_name)
    monkeypatch.setitem(TRACKS, "microdata", replace(MICRODATA, distances=distances))
    html = get_page(arena, PATH, organizer=True).text
    assert html.count('<option value="by_foot">by_foot</option>') == 1


def test_finished_report_is_shown_in_words_and_pictures(arena: Arena) -> None:
    path, notice = request_report(arena), translate("done_report_asked")
    asked_path = f"{path}?done=report_asked"
    waiting_html = get_page(arena, asked_path, organizer=True).text
    assert '<meta http-equiv="refresh"' in waiting_html
    assert notice in waiting_html
    list_html = get_page(arena, PATH, organizer=True).text
    assert "Waiting" in list_html
    assert 'hx-trigger="every 2s"' in list_html
    advise.advise(path.rsplit("/", 1)[1])
    content = load_report(path)
    recommended = format_number(content["threshold"])
    html = get_page(arena, asked_path, organizer=True).text
    for text in ('<meta http-equiv="refresh"', notice, "2^"):
        assert text not in html
    for text in (f"<strong>{recommended}</strong>", 'id="simulated"', "a chance of 2<sup>−4</sup>"):
        assert text in html
    for number in (content["s_exact"], *(row["s_lower"] for row in content["bounds"])):
        assert format_number(number) in html
    for name in ("shift", "random", "group"):
        assert translate(f"adv_cheat_{name}") in html.replace("&#39;", "'")
    list_html = get_page(arena, PATH, organizer=True).text
    assert "hx-trigger" not in list_html
    assert f'<td class="number">{recommended}</td>' in list_html


@pytest.mark.parametrize("language", ["en", "ja"])
def test_report_says_first_that_doing_nothing_leads(arena: Arena, language: str) -> None:
    path = create_report(arena)
    contest = load_report(path)["contest"]
    with transaction() as session:
        row = session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1]))
        row.report = load_report(path) | {"contest": contest | NOTHING_WINS}
    html = get_page(arena, path, organizer=True, language=language).text
    sentences = [*NOTHING_WINS["warnings"], *NOTHING_WINS["remedies"]]
    places = [
        html.index(translate_message(part["template"], language, **part["values"])) for part in sentences
    ]
    assert places == sorted(places)
    assert places[-1] < html.index("<table")
    assert places[-1] < html.index(translate("Recommended threshold", language))


NOTHING_WINS: dict[str, Any] = {
    "warnings": [
        serialize_as_notice(
            "unchanged_leads",
            Message("the unchanged original leads: no sample method does better than doing nothing"),
        )
    ],
    "remedies": [
        serialize_as_notice(
            "formula", Message("the formula {formula} for the ranking", formula="max(utility, security)")
        )
    ],
}


def test_report_lists_the_releases_of_the_contest_in_their_order(arena: Arena) -> None:
    path = create_report(arena)
    contest, html = load_report(path)["contest"], get_page(arena, path, organizer=True).text
    assert contest["releases"]
    rows = re.findall(r'<th scope="row" class="text">(.*?)</th>(.*?)</tr>', html)
    assert len(rows) == len(contest["releases"])
    for (name, cells), release in zip(rows, contest["releases"], strict=True):
        label = (
            "Unchanged original" if release["method"] is None else translate(f"method_{release['method']}")
        )
        assert name.startswith(label)
        assert format_number(release["mean_distance"]) in cells
        assert f"{release['overall']:.4f}" in cells
    assert html.count("Rejected</span>") == sum(
        bool(release["violations"]) for release in contest["releases"]
    )


def test_button_applies_the_recommended_threshold(arena: Arena) -> None:
    path = create_report(arena)
    report = load_report(path)
    send_form(arena, f"{path}/use", organizer=True)
    rule = load_rule()
    assert (rule.threshold, rule.distance) == (report["threshold"], "gower")
    assert (rule.approach, rule.rule) == ("II", "average")
    html = get_page(arena, path, organizer=True).text
    assert "In use" in html
    assert f"{path}/use" not in html


def test_report_without_simulation_has_no_picture(arena: Arena) -> None:
    html = get_page(arena, create_report(arena, draws="0"), organizer=True).text
    assert 'id="simulated"' not in html
    assert translate("Smallest mean distance") in html


@pytest.mark.parametrize(("groups", "bits"), [("age", "500"), ("sex", "900")])
def test_page_advises_if_no_threshold_is_guaranteed(arena: Arena, groups: str, bits: str) -> None:
    path = create_report(arena, groups=groups, bits=bits, draws="0")
    html = get_page(arena, path, organizer=True, language="ja").text
    assert load_report(path)["threshold"] is None
    assert translate_message(str(load_report(path)["remedy"]), "ja") in html
    assert f"{path}/use" not in html
    refusal = post_form(arena, f"{path}/use", organizer=True)
    assert refusal.status_code == 409
    assert "The report recommends no threshold." in refusal.text
    assert translate("The cheats that no threshold stops for certain", "ja") in html
    assert (
        translate("No threshold is guaranteed to stop every cheat and to leave room for honest teams.", "ja")
        in html
    )
    assert translate("The cheats that it stops", "ja") not in html


def test_report_about_other_data_is_not_used(arena: Arena) -> None:
    path, rule_before = create_report(arena), load_rule()
    arena.put("/competitions/small/original/original.csv", content=write_csv(arena.table.iloc[:30]))
    assert "The data have changed" in get_page(arena, path, organizer=True).text
    assert post_form(arena, f"{path}/use", organizer=True).status_code == 409
    assert load_rule() == rule_before


def test_report_that_failed_or_waits_says_why(arena: Arena) -> None:
    path = request_report(arena)
    for state in (State.QUEUED, State.ERROR):
        with transaction() as session:
            row = session.scalars(select(ThresholdReport)).one()
            row.state, row.failure = state, CodedMessage("scoring_failed", Message("out of memory"))
        html = get_page(arena, path, organizer=True).text
        assert ("Failed" in html) is (state == State.ERROR)
        assert "The report is being computed" not in html
        assert "Out of memory." in html


def test_invalid_report_request_is_kept_in_the_form(arena: Arena) -> None:
    invalid = {
        "bits": "0",
        "draws": "100001",
        "asked_distance": "jaccard",
        "groups": "income",
    }
    for field, typed in invalid.items():
        fields = REPORT_FIELDS | {"draws": "123", field: typed}
        response = post_form(arena, f"{PATH}/reports", fields, organizer=True)
        assert response.status_code == 422
        assert 'role="alert"' in response.text or 'class="error"' in response.text
        assert (f'value="{typed}"' if field == "draws" else 'value="123"') in response.text


def test_report_is_found_only_under_its_competition(arena: Arena) -> None:
    path = request_report(arena)
    other_arena = Arena.create(arena.client, slug="elsewhere")
    for reader_arena, slug in ((arena, "elsewhere"), (other_arena, "elsewhere")):
        response = get_page(reader_arena, path.replace("small", slug), organizer=True)
        assert response.status_code in {403, 404}


def test_new_threshold_after_submissions_starts_a_rescore(arena: Arena) -> None:
    path, rule_before = create_report(arena), load_rule()
    arena.submit("red")
    response = post_form(arena, f"{path}/use", organizer=True)
    assert re.match(r"/competitions/small/organize/rescores\?done=", response.headers["location"])
    assert load_rule() == rule_before
    assert len(arena.get("/competitions/small/rescores").json()) == 1


def test_threshold_outside_the_advised_range_is_warned_about(arena: Arena) -> None:
    path = create_report(arena)
    content = load_report(path)
    for threshold, is_warned in (
        (content["threshold"], False),
        (content["high"], True),
        (content["low"], True),
    ):
        file = set_threshold(load_competition().file, threshold)
        assert arena.put("/competitions/small/competition.toml", content=file).status_code == 200
        html = get_page(arena, PATH, organizer=True).text
        assert ("lies outside of what the latest report allows" in html) is is_warned
        assert (f'<a href="{path}">{translate("Threshold report")}</a></p>' in html) is is_warned


def test_columns_of_weighted_cross_tables_are_preselected(arena: Arena) -> None:
    def list_ticked() -> list[str]:
        return re.findall(r'name="groups" value="(\w+)" checked', get_page(arena, PATH, organizer=True).text)

    assert list_ticked() == ["sex", "age"]
    with transaction() as session:
        row = competitions.find(session, None, "small").competition
        row.file = row.file.replace("[measures.cross_count]", '[measures.cross_count]\ncolumns = ["age"]')
    assert list_ticked() == ["age"]


def test_too_many_unfinished_reports_are_refused(arena: Arena) -> None:
    request_report(arena)
    add_waiting_reports(MAX_UNFINISHED)
    refusal = post_form(arena, f"{PATH}/reports", REPORT_FIELDS, organizer=True)
    assert_refused(refusal, 429, f"{MAX_UNFINISHED} reports of this competition are unfinished: ask again")
