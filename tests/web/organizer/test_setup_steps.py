"""The list of set-up steps, and the links and buttons that lead from each step to the next."""

import re
from html import unescape
from typing import Any

import pytest
from httpx2 import Response

from anoncup.competition.drafts import DRAFT_SOURCES, create_draft
from anoncup.competition.parser import parse_competition
from app.services.contests import competitions
from tests.support.arena import Arena
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.setup_pages import BASIC_FIELDS, new_organizer

__all__ = ["new_organizer"]

ORGANIZE_PATH = "/competitions/small/organize"


def test_next_links_lead_through_all_steps(arena: Arena) -> None:
    html = get_page(arena, f"{ORGANIZE_PATH}/basics", organizer=True).text
    listed = re.findall(rf'<li class="\w+"><a href="({ORGANIZE_PATH}/\w+)"', html)
    steps = ["basics", "data", "measures", "threshold", "publication", "teams"]
    assert listed == [f"{ORGANIZE_PATH}/{step}" for step in steps]
    visited = [listed[0]]
    while (next_path := follow_next(arena, visited[-1], html)) is not None:
        visited.append(next_path)
        html = get_page(arena, next_path, organizer=True).text
    assert visited == listed


def follow_next(arena: Arena, path: str, html: str) -> str | None:
    """Return the path of the next step: that of the link, or the redirect after saving the unchanged form."""
    if (next_link := re.search(r'href="([^"]*)">Next', html)) or "Save and go on" not in html:
        return next_link[1] if next_link else None
    (form_id,) = re.findall(r'<button form="([\w-]+)" name="onward"', html)
    (form,) = re.findall(rf'<form[^>]*id="{form_id}".*?</form>', html, re.DOTALL)
    fields: Any = {**read_fields(form), "onward": "yes"}
    return str(send_form(arena, path, fields, organizer=True).headers["location"]).partition("?")[0]


def read_fields(form: str) -> dict[str, list[str]]:
    """Return the fields that a browser sends of an unchanged form."""
    values: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        field = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if "name" not in field or (field.get("type") in {"radio", "checkbox"} and " checked" not in tag):
            continue
        values.setdefault(field["name"], []).append(unescape(field.get("value", "")))
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        choices = re.findall(r'<option( value="([^"]*)")?( selected)?>([^<]*)', options)
        attribute, value, _, text = next((choice for choice in choices if choice[2]), choices[0])
        values[name] = [unescape(value if attribute else text)]
    return values


def test_missing_settings_are_listed_beside_the_next_step(new_organizer: Arena) -> None:
    post_form(new_organizer, "/organize/new", BASIC_FIELDS, organizer=True)
    path = "/competitions/fresh/organize"
    for step, next_steps in (("publication", ["Invites"]), ("teams", [])):
        html = get_page(new_organizer, f"{path}/{step}", organizer=True).text
        next_html = html.partition('class="onward"')[2].partition("</div>")[0]
        assert re.findall(r"Save and go on: (\w+)", next_html) == next_steps
        missing = re.findall(rf'<a href="{path}/(\w+)">', next_html.partition("Still missing")[2])
        assert missing == ["data", "measures", "threshold"]


def test_empty_address_is_derived_from_the_title(new_organizer: Arena) -> None:
    def create(**titles: str) -> Response:
        return post_form(new_organizer, "/organize/new", BASIC_FIELDS | {"slug": ""} | titles, organizer=True)

    location = create(title_en="Café cup, 2031!").headers["location"]
    assert location.startswith("/competitions/cafe-cup-2031/")
    assert create(title_en="").headers["location"].startswith("/competitions/cup-20310110/")
    repeated_response = create(title_en="")
    assert (repeated_response.status_code, 'id="slug-error"' in repeated_response.text) == (422, True)
    alert = create(title_en="", title_ja="").text.partition('role="alert"')[2].partition("</div>")[0]
    assert re.findall(r'<a href="#(\w+)">', alert) == ["title_en"]  # a missing title is reported once


PAST_TIME = "2026-01-10T09:00"


def test_contest_that_ended_in_the_past_is_refused(new_organizer: Arena) -> None:
    past_fields = BASIC_FIELDS | {"anonymization_start": "2026-01-09T09:00", "anonymization_end": PAST_TIME}
    refusal = post_form(new_organizer, "/organize/new", past_fields, organizer=True)
    assert refusal.status_code == 422
    assert re.search(r'id="anonymization_end-error">[^<]*This time is in the past', refusal.text)
    started_fields = BASIC_FIELDS | {"anonymization_start": PAST_TIME}
    send_form(new_organizer, "/organize/new", started_fields, organizer=True)
    edit_response = post_form(
        new_organizer, "/competitions/fresh/organize/basics", past_fields, organizer=True
    )
    assert_refused(edit_response, 422, "This time is in the past")


def test_last_step_lists_the_steps_until_the_first_submission(arena: Arena) -> None:
    def read_html() -> str:
        return get_page(arena, f"{ORGANIZE_PATH}/teams", organizer=True).text

    assert re.findall(r'<li class="\w+"><a href="[^"]*/(\w+)" aria-current="step"', read_html()) == ["teams"]
    arena.submit("red")
    assert 'class="stepper"' not in read_html()


@pytest.mark.parametrize(
    ("typed", "exists"), [("01:59", True), ("02:00", False), ("02:59", False), ("03:00", True)]
)
def test_time_skipped_by_the_time_zone_is_refused(new_organizer: Arena, typed: str, exists: bool) -> None:
    fields = {"zone": "Europe/Berlin", "anonymization_end": f"2031-03-30T{typed}"}
    fields |= {"reidentification_start": "2031-04-02T09:00", "reidentification_end": "2031-04-30T09:00"}
    response = post_form(new_organizer, "/organize/new", BASIC_FIELDS | fields, organizer=True)
    assert response.status_code == (303 if exists else 422)
    assert ("put forward past it" in response.text) is not exists


@pytest.mark.parametrize("start", DRAFT_SOURCES)
def test_drafts_are_competitions_without_a_threshold(start: str) -> None:
    text = create_draft(start)
    competitions.parse_hostable_rounds(text)
    assert parse_competition(text).threshold is None
    assert "#" not in text
