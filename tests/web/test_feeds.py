"""Deadlines as a calendar and announcements as a feed, read back by other programs' rules."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_competition
from app.web.visitor.atom import NAMESPACE, NO_XML, Entry, Feed, atom, title_of
from app.web.visitor.calendar import Event, calendar
from tests.support.arena import Arena
from tests.support.contest import Contest, competition_row

pytestmark = pytest.mark.full

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
HOSTILE = "A; b, c\\n \\ d\ne 「匿名加工」" + "長い" * 60 + " 😀 <&>\"'"


def unfolded(text: str) -> list[str]:
    """The content lines of RFC 5545, section 3.1; every octet of them is looked at."""
    assert text.endswith("\r\n")
    lines: list[str] = []
    for line in text.encode()[:-2].split(b"\r\n"):
        assert len(line) <= 75
        assert b"\n" not in line
        assert b"\r" not in line
        part = line.decode()  # a character is never cut
        if part.startswith(" "):
            lines[-1] += part[1:]
        else:
            lines.append(part)
    return lines


def meant(value: str) -> str:
    """A TEXT value without its escapes, read from the left."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "N": "\n"}.get(found[1], found[1]), value)


def read(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The properties of a calendar, and of each of its events; parameters are dropped."""
    found: list[dict[str, str]] = [{}]
    place = found[0]
    for line in unfolded(text):
        name, _, value = line.partition(":")
        name = name.partition(";")[0]
        if line in ("BEGIN:VCALENDAR", "END:VCALENDAR", "END:VEVENT"):
            place = found[0]
        elif line == "BEGIN:VEVENT":
            found.append({})
            place = found[-1]
        else:
            assert name not in place, f"{name} twice"
            place[name] = meant(value)
    return found[0], found[1:]


def event(**given: Any) -> Event:
    told: dict[str, Any] = {
        "uid": "1@anoncup",
        "start": AT,
        "end": AT + timedelta(days=1),
        "summary": "s",
        "description": "d",
        "url": "https://cup.example/competitions/x",
        "sequence": 0,
        "changed": AT,
    }
    return Event(**{**told, **given})


@pytest.mark.parametrize("text", [HOSTILE, "", "a", "x" * 64, "é" * 40, "\\n;,", "a\r\nb", "😀" * 80])
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    whole, (one,) = read(calendar(text, [event(summary=text, description=text)], language="ja"))
    wanted = text.replace("\r\n", "\n")
    assert whole["NAME"] == whole["X-WR-CALNAME"] == one["SUMMARY"] == one["DESCRIPTION"] == wanted


def test_an_event_begins_and_ends_in_universal_time() -> None:
    tokyo = datetime.fromisoformat("2026-03-01T09:30:00+09:00")
    _, (one,) = read(calendar("c", [event(start=tokyo, end=AT)], language="en"))
    assert (one["DTSTART"], one["DTEND"]) == ("20260301T003000Z", "20260301T093000Z")


def get(arena: Arena, name: str, **headers: str) -> Response:
    answer: Response = arena.client.get(f"/competitions/{arena.slug}/{name}", headers=headers)
    assert answer.status_code in (200, 304)
    return answer


def test_phases_are_events_that_keep_their_names_and_count_their_moves(client: TestClient) -> None:
    contest = Contest.opened(client)
    arena = contest.arena
    before = get(arena, "calendar.ics")
    assert before.headers["content-type"] == "text/calendar; charset=utf-8"
    rules = parse_competition(competition_row().file)
    _, events = read(before.text)
    assert [one["DTSTART"] for one in events] == [f"{p.start:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    assert [one["DTEND"] for one in events] == [f"{p.end:%Y%m%dT%H%M%SZ}" for p in rules.phases]
    assert {(one["SEQUENCE"], one["STATUS"]) for one in events} == {("0", "CONFIRMED")}
    later = rules.phases[0].end + timedelta(hours=1)
    moved = {"end": later.isoformat()}
    assert arena.post(f"{contest.path}/phases/anonymization/extend", json=moved).status_code == 200
    after = get(arena, "calendar.ics")
    _, again = read(after.text)
    assert [one["UID"] for one in again] == [one["UID"] for one in events]
    assert again[0]["DTEND"] == f"{later:%Y%m%dT%H%M%SZ}"
    assert {one["SEQUENCE"] for one in again} == {"1"}
    assert again[0]["LAST-MODIFIED"] >= events[0]["LAST-MODIFIED"]
    assert after.headers["etag"] != before.headers["etag"]
    assert get(arena, "calendar.ics", **{"If-None-Match": after.headers["etag"]}).status_code == 304


def test_in_a_pause_no_end_is_sure(arena: Arena) -> None:
    arena.post(f"/competitions/{arena.slug}/phases/anonymization/pause")
    _, events = read(get(arena, "calendar.ics").text)
    assert {one["STATUS"] for one in events} == {"TENTATIVE"}


def test_other_acts_of_organizers_do_not_count_as_moves(arena: Arena) -> None:
    before = get(arena, "calendar.ics").text
    arena.post(f"/competitions/{arena.slug}/announcements", json={"text": {"en": "Nothing moves."}})
    assert get(arena, "calendar.ics").text == before


def test_the_calendar_speaks_the_language_that_is_asked_for(arena: Arena) -> None:
    _, (english, *_) = read(get(arena, "calendar.ics?lang=en", **{"Accept-Language": "ja"}).text)
    _, (japanese, *_) = read(get(arena, "calendar.ics?lang=ja").text)
    assert "Anonymization phase" in english["SUMMARY"]
    assert "匿名加工フェーズ" in japanese["SUMMARY"]


def parsed(body: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(body)  # what is parsed is what we have just made


def texts_in(root: ElementTree.Element, name: str) -> list[str | None]:
    return [found.text for found in root.iter(f"{{{NAMESPACE}}}{name}")]


@pytest.mark.parametrize("text", [HOSTILE, "]]> <!-- -->", "a\tb\n\nc", "\ufffe\uffff", "&amp;"])
def test_any_announcement_is_read_back_as_it_was(text: str) -> None:
    feed = Feed(UUID(int=1), text, "o", "https://x/p", "https://x/a", AT, "en")
    root = parsed(atom(feed, [Entry(UUID(int=2), AT, text, "ja")]))
    wanted = NO_XML.sub("\ufffd", text)
    assert texts_in(root, "content") == [wanted]
    assert texts_in(root, "title")[0] == wanted
    assert texts_in(root, "id") == [UUID(int=1).urn, UUID(int=2).urn]
    assert texts_in(root, "updated") == ["2026-03-01T09:30:00Z"] * 2


def test_an_entry_is_named_by_its_first_line() -> None:
    assert title_of("\n Short. \nMore.") == "Short."
    long = title_of("word " * 40)
    assert len(long) <= 80
    assert long.endswith("word…")


def test_the_feed_has_what_the_page_has_newest_first(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/announcements"
    empty = parsed(get(arena, "announcements.atom").content)
    assert texts_in(empty, "entry") == []
    assert len(texts_in(empty, "updated")) == 1
    made = [
        arena.post(path, json={"text": text}).json()
        for text in ({"en": "The first."}, {"en": "Both.", "ja": "両方。"})
    ]
    answer = get(arena, "announcements.atom?lang=ja")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    root = parsed(answer.content)
    assert texts_in(root, "content") == ["両方。", "The first."]
    assert texts_in(root, "id")[1:] == [UUID(one["id"]).urn for one in reversed(made)]
    assert texts_in(root, "updated")[0] == texts_in(root, "updated")[1]
    assert texts_in(parsed(get(arena, "announcements.atom?lang=en").content), "content")[0] == "Both."
    tag = answer.headers["etag"]
    assert get(arena, "announcements.atom?lang=ja", **{"If-None-Match": tag}).status_code == 304


def test_an_announcement_that_is_taken_back_is_gone_from_the_feed(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/announcements"
    made = arena.post(path, json={"text": {"en": "Wrong."}}).json()
    assert b"Wrong." in get(arena, "announcements.atom").content
    assert arena.call("DELETE", f"/announcements/{made['id']}").status_code == 204
    assert b"Wrong." not in get(arena, "announcements.atom").content


def test_an_answer_to_everybody_is_in_the_feed_and_on_the_first_page_without_who_asked(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    said = arena.post(f"{path}/announcements", json={"text": {"en": "Welcome."}}).json()
    question = {"question": "May rows be left out?\nAll of them?"}
    made = [
        arena.post(f"{path}/clarifications", token=arena.team(name), json=question)
        for name in ("red", "blue")
    ]
    ids = [one.json()["id"] for one in made]
    entries = f"{{{NAMESPACE}}}entry"

    def answer(identifier: str, text: str, *, public: bool) -> None:
        body = {"answer": text, "public": public}
        assert arena.put(f"/clarifications/{identifier}/answer", json=body).status_code == 200

    def feed() -> ElementTree.Element:
        return parsed(get(arena, "announcements.atom").content)

    answer(ids[1], "For one team alone.", public=False)
    assert len(list(feed().iter(entries))) == 1
    answer(ids[0], "Some & few.", public=True)
    assert texts_in(feed(), "id")[1:] == [UUID(ids[0]).urn, UUID(said["id"]).urn]
    assert texts_in(feed(), "title")[1] == "May rows be left out?"
    assert (texts_in(feed(), "content")[0] or "").endswith(
        "All of them?\n\nThe organizers’ answer to everybody\nSome & few."
    )
    shown = [arena.client.get(path).text, get(arena, "announcements.atom").text]
    for text in shown:
        assert "Some &amp; few." in text
        assert not any(word in text for word in ("For one team", "Crimson", "Azure"))
    answer(ids[0], "None.", public=True)
    assert (texts_in(feed(), "content")[0] or "").endswith("\nNone.")
    assert texts_in(feed(), "id")[1] == UUID(ids[0]).urn
    answer(ids[0], "None.", public=False)
    assert len(list(feed().iter(entries))) == 1


def test_the_first_page_leads_to_both(arena: Arena) -> None:
    shown = arena.client.get(f"/competitions/{arena.slug}").text
    for kind, name in (("application/atom+xml", "announcements.atom"), ("text/calendar", "calendar.ics")):
        (address,) = re.findall(rf'<link rel="alternate" type="{re.escape(kind)}" href="([^"]*)"', shown)
        assert arena.client.get(address).headers["content-type"].startswith(kind)
        assert f'<a href="{address}"' in shown
        assert name in address
