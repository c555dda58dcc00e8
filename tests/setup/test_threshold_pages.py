"""The threshold step: requesting a report of the advisor, reading it and using its threshold."""

from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import write_csv
from app.competitions import competitions
from app.core.db.models import ThresholdReport
from app.core.db.transaction import transaction
from app.core.pages.notation import format_number
from tests.recorded import REPORT
from tests.support.arena import PASSWORD, Arena
from tests.support.page_requests import get_page, post_form, send_form
from tests.support.translations import translate, translate_message
from tests.support.two_rounds import build_round, create_two_rounds
from workers import tasks

pytestmark = pytest.mark.full

PATH = "/competitions/small/organize/threshold"
REPORT_FIELDS = {"groups": "sex", "asked_distance": "gower", "bits": "4", "draws": "20"}


def request_report(arena: Arena, path: str = PATH, **fields: str) -> str:
    """Request a report on the page and return its path."""
    response = post_form(arena, f"{path}/reports", REPORT_FIELDS | fields, organizer=True)
    assert response.status_code == 303, response.text
    return str(response.headers["location"]).split("?")[0]


def create_report(arena: Arena, path: str = PATH, **fields: str) -> str:
    report_path = request_report(arena, path, **fields)
    tasks.advise()
    return report_path


def load_rule() -> Any:
    with transaction() as session:
        return parse_competition(competitions.find(session, None, "small").competition.file).excessive


def load_report(path: str) -> Any:
    with transaction() as session:
        return session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1])).report


def test_finished_report_is_shown_in_words_and_pictures(arena: Arena) -> None:
    path, notice = request_report(arena), translate("done_report_asked")
    asked_path = f"{path}?done=report_asked"
    waiting_html = get_page(arena, asked_path, organizer=True).text
    assert '<meta http-equiv="refresh"' in waiting_html
    assert notice in waiting_html
    list_html = get_page(arena, PATH, organizer=True).text
    assert "Waiting" in list_html
    assert 'hx-trigger="every 2s"' in list_html
    tasks.advise()
    content = load_report(path)
    recommended = format_number(content["threshold"])
    response = get_page(arena, asked_path, organizer=True)
    assert response.status_code == 200
    html = response.text
    for text in ('<meta http-equiv="refresh"', notice, "2^"):
        assert text not in html
    for text in (f"<strong>{recommended}</strong>", 'id="errors"', "a chance of 2<sup>−4</sup>"):
        assert text in html
    for number in (content["s_exact"], *(row["s_lower"] for row in content["bounds"])):
        assert format_number(number) in html
    for name in ("shift", "random", "group"):
        assert translate(f"adv_cheat_{name}") in html.replace("&#39;", "'")
    list_html = get_page(arena, PATH, organizer=True).text
    assert "hx-trigger" not in list_html
    assert f'<td class="number">{recommended}</td>' in list_html


def test_report_says_first_that_doing_nothing_leads_and_what_helps(arena: Arena) -> None:
    path = create_report(arena)
    with transaction() as session:
        session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1])).report = REPORT
    html = get_page(arena, path, organizer=True).text
    (warning,), (remedy,) = (REPORT["contest"][part] for part in ("warnings", "remedies"))
    places = [html.index(text) for text in (warning["message"][1:], remedy["message"][1:], "recommended")]
    assert places == sorted(places)


def test_report_says_what_leads_with_the_recommended_threshold_only(arena: Arena) -> None:
    path, warnings = create_report(arena), REPORT["contest"]["warnings"]
    contest = REPORT["contest"] | {"warnings": [], "recommended_warnings": warnings}
    with transaction() as session:
        session.get_one(ThresholdReport, UUID(path.rsplit("/", 1)[1])).report = REPORT | {"contest": contest}
    html = get_page(arena, path, organizer=True).text
    assert f"With this threshold: T{warnings[0]['message'][1:]}" in html


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


def test_report_is_found_only_under_its_competition(arena: Arena) -> None:
    path = request_report(arena)
    other_arena = Arena.create(arena.client, slug="elsewhere")
    for reader_arena, slug in ((arena, "elsewhere"), (other_arena, "elsewhere")):
        response = get_page(reader_arena, path.replace("small", slug), organizer=True)
        assert response.status_code in {403, 404}


def test_form_asks_for_the_password_if_only_another_round_has_submissions(client: TestClient) -> None:
    preliminary = build_round("preliminary", begins=-0.5).replace(
        "[[rounds.phases]]", "[rounds.excessive]\nthreshold = 0.3\n[[rounds.phases]]", 1
    )
    rounds = create_two_rounds(client, preliminary=preliminary)
    arena, path = rounds["final"].arena, "/competitions/small.final/organize/threshold"
    report_path = create_report(arena, path)
    assert 'name="password"' not in get_page(arena, report_path, organizer=True).text
    rounds["preliminary"].submit("red")
    assert 'name="password"' in get_page(arena, report_path, organizer=True).text
    assert post_form(arena, f"{report_path}/use", organizer=True).status_code == 403
    send_form(arena, f"{report_path}/use", {"password": PASSWORD}, organizer=True)
    assert "In use" in get_page(arena, report_path, organizer=True).text
