"""The list of the set-up's steps, and the way from each to the next."""

import re
from html import unescape
from typing import Any

import pytest

from anoncup.competition.drafts import STARTS, draft
from anoncup.competition.parser import parse_competition
from app.locale.language import LANGUAGES
from app.services.contests import competitions
from tests.support.arena import Arena
from tests.support.setup_pages import BASICS, beginner
from tests.web.reader import page, send
from tests.web.spoken import said

__all__ = ["beginner"]

ORGANIZE = "/competitions/small/organize"


@pytest.mark.parametrize("language", LANGUAGES)
def test_next_leads_through_every_step_of_the_list_whatever_its_state(arena: Arena, language: str) -> None:
    shown = page(arena, f"{ORGANIZE}/basics", organizer=True, language=language).text
    listed = re.findall(rf'<li class="\w+"><a href="({ORGANIZE}/\w+)"', shown)
    assert [path.rsplit("/", 1)[1] for path in listed] == [
        "basics",
        "data",
        "measures",
        "threshold",
        "publication",
        "teams",
    ]
    walked = [listed[0]]
    while (following := onward(arena, walked[-1], shown, language)) is not None:
        walked.append(following)
        shown = page(arena, following, organizer=True, language=language).text
    assert walked == listed


def onward(arena: Arena, here: str, shown: str, language: str) -> str | None:
    """Where the way on leads: by a link, or once the form of the page is saved as it stands."""
    following = re.search(rf'href="([^"]*)">{said("Next", language)}', shown)
    if following or said("Save and go on", language) not in shown:
        return following[1] if following else None
    form = re.search(r'<button form="([\w-]+)" name="onward"', shown)
    assert form is not None
    body = re.search(rf'<form[^>]*id="{form[1]}".*?</form>', shown, re.DOTALL)
    assert body is not None
    sent: Any = {**fields_of(body[0]), "onward": "yes"}
    return str(send(arena, here, sent, organizer=True).headers["location"]).partition("?")[0]


def fields_of(form: str) -> dict[str, list[str]]:
    """What a browser would send of a form that nobody has touched."""
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        field = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if "name" not in field or (field.get("type") in {"radio", "checkbox"} and " checked" not in tag):
            continue
        found.setdefault(field["name"], []).append(unescape(field.get("value", "")))
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', options)
        first = re.search(r'<option(?: value="([^"]*)")?>([^<]*)', options)
        option = chosen or first
        assert option is not None
        found[name] = [unescape(option[1] if option[1] is not None else option[2])]
    return found


def test_what_is_missing_elsewhere_is_named_beside_the_next_step(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS, organizer=True)
    path = "/competitions/fresh/organize"
    shown = page(beginner, f"{path}/publication", organizer=True).text
    beside = shown.partition('class="onward"')[2].partition("</div>")[0]
    assert re.findall(r"Save and go on: (\w+)", beside) == ["Invites"]
    still = re.findall(rf'<a href="{path}/(\w+)">', beside.partition("Still missing")[2])
    assert still == ["data", "measures", "threshold"]


def test_an_address_is_made_of_the_title_where_none_is_typed(beginner: Arena) -> None:
    made = send(
        beginner, "/organize/new", BASICS | {"slug": "", "title_en": "Café cup, 2031!"}, organizer=True
    )
    assert made.headers["location"].startswith("/competitions/cafe-cup-2031/")
    only_japanese = BASICS | {"slug": "", "title_en": ""}
    made = send(beginner, "/organize/new", only_japanese, organizer=True)
    assert made.headers["location"].startswith("/competitions/cup-20310110/")
    again = send(beginner, "/organize/new", only_japanese, organizer=True)
    assert (again.status_code, 'id="slug-error"' in again.text) == (422, True)


def test_no_title_is_one_thing_to_correct(beginner: Arena) -> None:
    refused = send(
        beginner, "/organize/new", BASICS | {"slug": "", "title_en": "", "title_ja": ""}, organizer=True
    )
    top = refused.text.partition('role="alert"')[2].partition("</div>")[0]
    assert re.findall(r'<a href="#(\w+)">', top) == ["title_en"]


PAST = "2026-01-10T09:00"


def test_a_contest_that_would_be_over_before_it_begins_is_not_made(beginner: Arena) -> None:
    over = BASICS | {"anonymization_start": "2026-01-09T09:00", "anonymization_end": PAST}
    refused = send(beginner, "/organize/new", over, organizer=True)
    assert refused.status_code == 422
    assert re.search(r'id="anonymization_end-error">[^<]*This time is in the past', refused.text)
    begun = BASICS | {"anonymization_start": PAST}
    assert send(beginner, "/organize/new", begun, organizer=True).status_code == 303
    moved = send(beginner, "/competitions/fresh/organize/basics", over, organizer=True)
    assert (moved.status_code, "This time is in the past" in moved.text) == (422, True)


def test_the_last_step_shows_the_others_until_somebody_has_submitted(arena: Arena) -> None:
    def shown() -> str:
        return page(arena, f"{ORGANIZE}/teams", organizer=True).text

    assert re.findall(r'<li class="\w+"><a href="[^"]*/(\w+)" aria-current="step"', shown()) == ["teams"]
    arena.submit("red")
    assert 'class="stepper"' not in shown()


def test_the_last_step_says_what_the_others_lack(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS, organizer=True)
    path = "/competitions/fresh/organize"
    beside = page(beginner, f"{path}/teams", organizer=True).text.partition('class="onward"')[2]
    still = re.findall(rf'<a href="{path}/(\w+)">', beside.partition("</div>")[0])
    assert still == ["data", "measures", "threshold"]


@pytest.mark.parametrize(
    ("typed", "exists"),
    [
        ("2031-03-30T01:59", True),
        ("2031-03-30T02:00", False),
        ("2031-03-30T02:59", False),
        ("2031-03-30T03:00", True),
    ],
)
def test_a_time_that_the_clocks_of_the_zone_never_show_is_refused(
    beginner: Arena, typed: str, exists: bool
) -> None:
    windows = {"anonymization_end": typed, "reidentification_start": "2031-04-02T09:00"}
    later = {"reidentification_end": "2031-04-30T09:00"}
    answer = send(
        beginner, "/organize/new", BASICS | {"zone": "Europe/Berlin"} | windows | later, organizer=True
    )
    assert answer.status_code == (303 if exists else 422)
    assert ("put forward past it" in answer.text) is not exists


@pytest.mark.parametrize("start", STARTS)
def test_every_draft_is_a_competition_without_a_threshold(start: str) -> None:
    text = draft(start)
    competitions.hostable(text)
    assert parse_competition(text).threshold is None
    assert "#" not in text
