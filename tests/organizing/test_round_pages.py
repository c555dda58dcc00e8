"""Set-up pages, file editor and phases of a competition with several rounds."""

from html import unescape
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_rounds
from anoncup.tables.csv_text import write_csv
from tests.support.arena import Arena, build_original_table
from tests.support.contest import Contest, load_competition
from tests.support.organizer_pages import format_future_time
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.setup_pages import parse_form
from tests.support.two_rounds import build_round, create_two_rounds
from workers import tasks

pytestmark = pytest.mark.full

PATH = "/competitions/small.final/organize"
OWN_RULES = "The rounds of this competition have rules of their own here."
COMMON_RULES = "This form changes the common rules of all rounds."


@pytest.fixture
def rounds(client: TestClient) -> dict[str, Contest]:
    return create_two_rounds(client)


@pytest.fixture
def arena(rounds: dict[str, Contest]) -> Arena:
    return rounds["final"].arena


def get_text(arena: Arena, path: str) -> str:
    response = get_page(arena, path, organizer=True)
    assert response.status_code == 200, response.text
    return unescape(response.text)


def read_phases_by_round() -> dict[str, Any]:
    return {name: rules.phases for name, rules in parse_rounds(load_competition().file).items()}


def request_report(arena: Arena) -> str:
    """Request a report for the final. Return the path of its page."""
    body = {"groups": ["sex"], "bits": 4, "draws": 20}
    report = arena.post("/competitions/small.final/threshold-reports", json=body).json()
    return f"{PATH}/threshold/{report['id']}"


def test_recommended_threshold_changes_the_common_rule_of_all_rounds(arena: Arena) -> None:
    phases, path = read_phases_by_round(), request_report(arena)
    tasks.advise()
    assert COMMON_RULES in get_text(arena, f"{PATH}/threshold")
    send_form(arena, f"{path}/use", organizer=True)
    (threshold,) = {rules.threshold for rules in parse_rounds(load_competition().file).values()}
    assert threshold != 0.2
    assert read_phases_by_round() == phases


def test_rule_of_a_round_is_changed_in_the_file(client: TestClient) -> None:
    final = build_round("final", begins=7, data="previous") + "[rounds.excessive]\nthreshold = 0.3\n"
    arena = create_two_rounds(client, final=final)["final"].arena
    file, path = load_competition().file, request_report(arena)
    assert OWN_RULES in get_text(arena, f"{PATH}/threshold")
    response = post_form(arena, f"{path}/use", organizer=True)
    assert (response.status_code, response.headers["location"]) == (303, f"{PATH}/threshold")
    assert load_competition().file == file


def upload_table(arena: Arena, table: pd.DataFrame, path: str = PATH) -> Response:
    """Upload a table and save it as the form suggests."""
    files = {"table": ("t.csv", write_csv(table))}
    page = post_form(arena, f"{path}/original/original.csv", files=files, organizer=True)
    if page.status_code != 200:
        return page
    fields = parse_form(page.text, 'id="import"') | {"do": "save"}
    return post_form(arena, f"{path}/original/original.csv/import", fields, organizer=True)


def test_round_with_the_data_of_the_previous_one_takes_no_upload(arena: Arena) -> None:
    text = get_text(arena, f"{PATH}/data")
    assert "This round has the data of the previous round. Upload them there." in text
    assert 'type="file"' not in text
    assert 'name="role_0"' not in text
    preliminary = get_text(arena, "/competitions/small.preliminary/organize/data")
    assert 'type="file"' in preliminary
    file, reason = load_competition().file, "This round has the data of the previous one"
    table = build_original_table()
    for content in (table, table.rename(columns={"age": "years"})):
        assert_refused(upload_table(arena, content), 409, reason)
    fields = parse_form(preliminary, 'id="roles"')
    assert_refused(post_form(arena, f"{PATH}/data", fields, organizer=True), 409, reason)
    assert load_competition().file == file


def test_practice_round_is_reset_on_its_phases_page(client: TestClient) -> None:
    preliminary = build_round("try", begins=-0.5, practice=True)
    practice = create_two_rounds(client, preliminary=preliminary)["try"]
    arena, path = practice.arena, "/competitions/small.try/organize/phases"
    practice.submit("red")
    assert 'action="/competitions/small.try/organize/phases/reset"' in get_text(arena, path)
    assert "/reset" not in get_text(arena, f"{PATH}/phases")
    start = format_future_time(2)
    refused = post_form(arena, f"{path}/reset", {"password": "", "start": start}, organizer=True)
    assert (refused.status_code, f'value="{start}"' in refused.text) == (403, True)
    response = send_form(arena, f"{path}/reset", {"start": start}, organizer=True)
    assert "The practice round begins again." in get_text(arena, response.headers["location"])
    assert start in get_text(arena, path).replace(" ", "T")
    assert "submission_row" not in get_page(arena, "/competitions/small.try/submissions", team="red").text
    assert "Practice round begun again" in get_text(arena, "/competitions/small.try/organize/audit")
