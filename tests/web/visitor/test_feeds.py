"""The calendar of deadlines and the feed of announcements, parsed by the rules of their standards."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_competition, parse_rounds
from app.web.visitor.feeds import (
    INVALID_XML_CHARACTER,
    NAMESPACE,
    CalendarEvent,
    Feed,
    FeedEntry,
    render_atom,
    render_calendar,
    shorten_title,
)
from tests.support.arena import Arena
from tests.support.contest import Contest, load_competition
from tests.support.two_rounds import create_two_rounds

pytestmark = pytest.mark.full

MOMENT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
HOSTILE_TEXT = "A; b, c\\n \\ d\ne 「匿名加工」" + "長い" * 60 + " 😀 <&>\"'"


def unfold_lines(text: str) -> list[str]:
    """Return the unfolded content lines (RFC 5545, section 3.1) and check length and line ends in bytes."""
    lines = text.encode().split(b"\r\n")
    assert lines.pop() == b""
    assert all(len(line) <= 75 and not {*b"\r\n"} & {*line} for line in lines)
    decoded = [line.decode() for line in lines]  # fails if a fold splits a character
    return "\n".join(decoded).replace("\n ", "").split("\n")


def unescape_text(value: str) -> str:
    """Return a TEXT value without its escapes."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "N": "\n"}.get(match[1], match[1]), value)


def parse_calendar(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the properties of a calendar and of each of its events, without parameters."""
    components: list[dict[str, str]] = [{}]
    for line in unfold_lines(text):
        name, _, value = line.partition(":")
        if line == "BEGIN:VEVENT":
            components.append({})
        elif name not in ("BEGIN", "END"):
            key = name.partition(";")[0]
            assert key not in components[-1], f"{key} twice"
            components[-1][key] = unescape_text(value)
    return components[0], components[1:]


def build_event(**overrides: Any) -> CalendarEvent:
    defaults: dict[str, Any] = {
        "uid": "1@anoncup",
        "start": MOMENT,
        "end": MOMENT + timedelta(days=1),
        "summary": "s",
        "description": "d",
        "url": "https://cup.example/competitions/x",
        "sequence": 0,
        "changed_at": MOMENT,
    }
    return CalendarEvent(**{**defaults, **overrides})


@pytest.mark.parametrize("text", [HOSTILE_TEXT, "", "a", "x" * 64, "é" * 40, "\\n;,", "a\r\nb", "😀" * 80])
def test_calendar_text_round_trips(text: str) -> None:
    properties, (entry,) = parse_calendar(
        render_calendar(text, [build_event(summary=text, description=text)], language="ja").decode()
    )
    expected = text.replace("\r\n", "\n")
    titles = {properties["NAME"], properties["X-WR-CALNAME"], entry["SUMMARY"], entry["DESCRIPTION"]}
    assert titles == {expected}


def get_feed(arena: Arena, name: str, **headers: str) -> Response:
    response: Response = arena.client.get(f"/competitions/{arena.slug}/{name}", headers=headers)
    assert response.status_code in (200, 304)
    return response


def test_phase_events_keep_their_uid_and_increase_sequence(contest: Contest) -> None:
    arena = contest.arena
    response_before = get_feed(arena, "calendar.ics")
    assert response_before.headers["content-type"] == "text/calendar; charset=utf-8"
    rules = parse_competition(load_competition().file)
    _, events = parse_calendar(response_before.text)
    assert [entry["DTSTART"] for entry in events] == [f"{p.start:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    assert [entry["DTEND"] for entry in events] == [f"{p.end:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    assert {(entry["SEQUENCE"], entry["STATUS"]) for entry in events} == {("0", "CONFIRMED")}
    later = rules.phases[0].end + timedelta(hours=1)
    payload = {"end": later.isoformat()}
    assert arena.post(f"{contest.path}/phases/anonymization/extend", json=payload).status_code == 200
    response_after = get_feed(arena, "calendar.ics")
    _, later_events = parse_calendar(response_after.text)
    assert [entry["UID"] for entry in later_events] == [entry["UID"] for entry in events]
    assert later_events[0]["DTEND"] == f"{later:%Y%m%dT%H%M%SZ}"
    assert {entry["SEQUENCE"] for entry in later_events} == {"1"}
    assert later_events[0]["LAST-MODIFIED"] >= events[0]["LAST-MODIFIED"]
    etag = response_after.headers["etag"]
    assert etag != response_before.headers["etag"]
    assert get_feed(arena, "calendar.ics", **{"If-None-Match": etag}).status_code == 304


def test_calendar_lists_the_phases_of_all_rounds_and_counts_their_changes(client: TestClient) -> None:
    preliminary, final = create_two_rounds(client).values()
    phases = [
        (name, phase)
        for name, rules in parse_rounds(load_competition().file).items()
        for phase in rules.phases
    ]
    for contest in (preliminary, final):
        properties, events = parse_calendar(get_feed(contest.arena, "calendar.ics").text)
        assert properties["NAME"] == "Small cup"
        assert [(entry["DTSTART"], entry["DTEND"]) for entry in events] == [
            (f"{phase.start:%Y%m%dT%H%M%SZ}", f"{phase.end:%Y%m%dT%H%M%SZ}") for _, phase in phases
        ]
        assert [entry["URL"].rpartition("/")[2] for entry in events] == [
            f"small.{name}" for name, _ in phases
        ]
        assert len({entry["UID"] for entry in events}) == 4
    titles = [entry["SUMMARY"].partition(":")[0] for entry in events]
    assert titles == ["Small cup – Preliminary"] * 2 + ["Small cup – Final"] * 2
    file = load_competition().file
    start = parse_rounds(file)["final"].phases[0].start
    earlier = file.replace(start.isoformat(), (start - timedelta(hours=1)).isoformat())
    assert final.arena.put(f"{final.path}/competition.toml", content=earlier).status_code == 200
    _, events = parse_calendar(get_feed(final.arena, "calendar.ics").text)
    assert {entry["SEQUENCE"] for entry in events} == {"1"}


def test_events_are_tentative_during_a_pause_and_other_actions_change_nothing(arena: Arena) -> None:
    text_before = get_feed(arena, "calendar.ics").text
    arena.post(f"/competitions/{arena.slug}/announcements", json={"text": {"en": "Nothing moves."}})
    assert get_feed(arena, "calendar.ics").text == text_before
    arena.post(f"/competitions/{arena.slug}/phases/anonymization/pause")
    _, events = parse_calendar(get_feed(arena, "calendar.ics").text)
    assert {entry["STATUS"] for entry in events} == {"TENTATIVE"}


def test_calendar_uses_the_requested_language(arena: Arena) -> None:
    for language, title in (("en", "Anonymization phase"), ("ja", "匿名加工フェーズ")):
        feed = get_feed(arena, f"calendar.ics?lang={language}", **{"Accept-Language": "ja"})
        assert title in parse_calendar(feed.text)[1][0]["SUMMARY"]


def parse_feed(body: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(body)  # our own output, so entity expansion is no risk


def list_texts(root: ElementTree.Element, name: str) -> list[str | None]:
    return [element.text for element in root.iter(f"{{{NAMESPACE}}}{name}")]


@pytest.mark.parametrize("text", [HOSTILE_TEXT, "]]> <!-- -->", "a\tb\n\nc", "\ufffe\uffff", "&amp;"])
def test_announcement_text_round_trips(text: str) -> None:
    feed = Feed(UUID(int=1), text, "o", "https://x/p", "https://x/a", MOMENT, "en")
    root = parse_feed(render_atom(feed, [FeedEntry(UUID(int=2), MOMENT, text, "ja")]))
    expected = INVALID_XML_CHARACTER.sub("\ufffd", text)
    assert list_texts(root, "content") == [expected]
    assert list_texts(root, "title")[0] == expected
    assert list_texts(root, "id") == [UUID(int=1).urn, UUID(int=2).urn]
    assert list_texts(root, "updated") == ["2026-03-01T09:30:00Z"] * 2


def test_entry_title_is_the_first_line_and_event_times_are_in_utc() -> None:
    assert shorten_title("\n Short. \nMore.") == "Short."
    long = shorten_title("word " * 40)
    assert len(long) <= 80
    assert long.endswith("word…")
    tokyo = datetime.fromisoformat("2026-03-01T09:30:00+09:00")
    calendar = render_calendar("c", [build_event(start=tokyo, end=MOMENT)], language="en")
    _, (entry,) = parse_calendar(calendar.decode())
    assert (entry["DTSTART"], entry["DTEND"]) == ("20260301T003000Z", "20260301T093000Z")


def test_feed_has_the_newest_first_and_no_withdrawn_announcement(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/announcements"
    empty = parse_feed(get_feed(arena, "announcements.atom").content)
    assert list_texts(empty, "entry") == []
    assert len(list_texts(empty, "updated")) == 1
    announcements = [
        arena.post(path, json={"text": text}).json()
        for text in ({"en": "The first."}, {"en": "Both.", "ja": "両方。"})
    ]
    response = get_feed(arena, "announcements.atom?lang=ja")
    assert response.headers["content-type"] == "application/atom+xml; charset=utf-8"
    root = parse_feed(response.content)
    assert list_texts(root, "content") == ["両方。", "The first."]
    assert list_texts(root, "id")[1:] == [UUID(item["id"]).urn for item in reversed(announcements)]
    assert list_texts(root, "updated")[0] == list_texts(root, "updated")[1]
    english = parse_feed(get_feed(arena, "announcements.atom?lang=en").content)
    assert list_texts(english, "content")[0] == "Both."
    etag = response.headers["etag"]
    assert get_feed(arena, "announcements.atom?lang=ja", **{"If-None-Match": etag}).status_code == 304
    assert arena.call("DELETE", f"/announcements/{announcements[0]['id']}").status_code == 204
    assert b"The first." not in get_feed(arena, "announcements.atom").content


def test_public_answer_is_in_feed_and_overview_without_author(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    announcement = arena.post(f"{path}/announcements", json={"text": {"en": "Welcome."}}).json()
    question = {"question": "May rows be left out?\nAll of them?"}
    responses = [arena.post(f"{path}/clarifications", team=name, json=question) for name in ("red", "blue")]
    ids = [response.json()["id"] for response in responses]
    entries = f"{{{NAMESPACE}}}entry"

    def answer_question(identifier: str, text: str, *, is_public: bool) -> None:
        body = {"answer": text, "public": is_public}
        assert arena.put(f"/clarifications/{identifier}/answer", json=body).status_code == 200

    def fetch_feed() -> ElementTree.Element:
        return parse_feed(get_feed(arena, "announcements.atom").content)

    answer_question(ids[1], "For one team alone.", is_public=False)
    assert len(list(fetch_feed().iter(entries))) == 1
    answer_question(ids[0], "Some & few.", is_public=True)
    assert list_texts(fetch_feed(), "id")[1:] == [UUID(ids[0]).urn, UUID(announcement["id"]).urn]
    assert list_texts(fetch_feed(), "title")[1] == "May rows be left out?"
    assert (list_texts(fetch_feed(), "content")[0] or "").endswith(
        "All of them?\n\nThe organizers’ answer to everybody\nSome & few."
    )
    texts = [arena.client.get(path).text, get_feed(arena, "announcements.atom").text]
    for text in texts:
        assert "Some &amp; few." in text
        assert not any(word in text for word in ("For one team", "Crimson", "Azure"))
    answer_question(ids[0], "None.", is_public=True)
    assert (list_texts(fetch_feed(), "content")[0] or "").endswith("\nNone.")
    assert list_texts(fetch_feed(), "id")[1] == UUID(ids[0]).urn
    answer_question(ids[0], "None.", is_public=False)
    assert len(list(fetch_feed().iter(entries))) == 1


def test_overview_links_to_both_feeds(arena: Arena) -> None:
    html = arena.client.get(f"/competitions/{arena.slug}").text
    for kind, name in (("application/atom+xml", "announcements.atom"), ("text/calendar", "calendar.ics")):
        (address,) = re.findall(rf'<link rel="alternate" type="{re.escape(kind)}" href="([^"]*)"', html)
        assert arena.client.get(address).headers["content-type"].startswith(kind)
        assert f'<a href="{address}"' in html
        assert name in address
