"""The calendar of deadlines, parsed by the rules of its standard."""

import json
import re
from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import icalendar
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_competition, parse_rounds
from tests.support.arena import Arena
from tests.support.contest import Contest, load_competition
from tests.support.two_rounds import create_two_rounds

pytestmark = pytest.mark.full

HOSTILE_TITLE = "A; b, c\\n \\ d 「匿名加工」" + "長い" * 60 + " 😀 <&>\"'"


def parse_calendar(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the properties of a calendar and of each of its events."""
    calendar = icalendar.Calendar.from_ical(text)
    components = [calendar, *calendar.walk("VEVENT")]
    properties, *events = (
        {
            name: str(value) if isinstance(value, str) else value.to_ical().decode()
            for name, value in component.items()
        }
        for component in components
    )
    return properties, events


def get_calendar(arena: Arena, query: str = "", **headers: str) -> Response:
    response: Response = arena.client.get(f"/competitions/{arena.slug}/calendar.ics{query}", headers=headers)
    assert response.status_code in (200, 304)
    return response


def test_phase_events_move_with_their_uid_and_are_tentative_during_a_pause(contest: Contest) -> None:
    arena = contest.arena
    response_before = get_calendar(arena)
    assert response_before.headers["content-type"] == "text/calendar; charset=utf-8"
    etag = response_before.headers["etag"]
    assert get_calendar(arena, **{"If-None-Match": etag}).status_code == 304
    rules = parse_competition(load_competition().file)
    _, events = parse_calendar(response_before.text)
    assert [entry["DTSTART"] for entry in events] == [f"{p.start:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    assert [entry["DTEND"] for entry in events] == [f"{p.end:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    later = rules.phases[0].end + timedelta(hours=1)
    payload = {"end": later.isoformat()}
    assert arena.post(f"{contest.path}/phases/anonymization/extend", json=payload).status_code == 200
    arena.post(f"{contest.path}/phases/anonymization/pause")
    _, later_events = parse_calendar(get_calendar(arena, **{"If-None-Match": etag}).text)
    assert [entry["UID"] for entry in later_events] == [entry["UID"] for entry in events]
    assert later_events[0]["DTEND"] == f"{later:%Y%m%dT%H%M%SZ}"
    assert ({entry["STATUS"] for entry in events}, {entry["STATUS"] for entry in later_events}) == (
        {"CONFIRMED"},
        {"TENTATIVE"},
    )


def test_calendar_lists_the_phases_of_all_rounds(client: TestClient) -> None:
    _, final = create_two_rounds(client).values()
    phases = [phase for rules in parse_rounds(load_competition().file).values() for phase in rules.phases]
    properties, events = parse_calendar(get_calendar(final.arena).text)
    assert properties["NAME"] == "Small cup"
    assert [(entry["DTSTART"], entry["DTEND"]) for entry in events] == [
        (f"{phase.start:%Y%m%dT%H%M%SZ}", f"{phase.end:%Y%m%dT%H%M%SZ}") for phase in phases
    ]
    assert [entry["URL"].rpartition("/")[2] for entry in events] == [
        *["small.preliminary"] * 2,
        *["small.final"] * 2,
    ]
    assert len({entry["UID"] for entry in events}) == 4
    titles = [entry["SUMMARY"].partition(":")[0] for entry in events]
    assert titles == ["Small cup – Preliminary"] * 2 + ["Small cup – Final"] * 2


def test_any_title_is_escaped_and_times_are_in_utc(contest: Contest) -> None:
    file, tokyo = load_competition().file, ZoneInfo("Asia/Tokyo")
    start = parse_competition(file).phases[0].start
    file = file.replace(start.isoformat(), start.astimezone(tokyo).isoformat())
    file = file.replace('"Small cup"', json.dumps(HOSTILE_TITLE, ensure_ascii=False))
    assert contest.arena.put(f"{contest.path}/competition.toml", content=file).status_code == 200
    properties, events = parse_calendar(get_calendar(contest.arena, "?lang=en").text)
    escaped = icalendar.vText(HOSTILE_TITLE).to_ical().decode()
    assert properties["NAME"] == properties["X-WR-CALNAME"] == escaped
    assert events[0]["SUMMARY"] == f"{HOSTILE_TITLE}: Anonymization phase"
    assert events[0]["DTSTART"] == f"{start.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    japanese = get_calendar(contest.arena, "?lang=ja", **{"Accept-Language": "en"})
    assert "匿名加工フェーズ" in parse_calendar(japanese.text)[1][0]["SUMMARY"]


def test_overview_links_to_the_calendar(arena: Arena) -> None:
    html = arena.client.get(f"/competitions/{arena.slug}").text
    (address,) = re.findall(r'<link rel="alternate" type="text/calendar" href="([^"]*)"', html)
    assert arena.client.get(address).headers["content-type"].startswith("text/calendar")
    assert f'<a href="{address}"' in html
