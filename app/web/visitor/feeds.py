"""Feeds: deadlines as an iCalendar file (RFC 5545), announcements and public answers as Atom (RFC 4287)."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID
from xml.etree.ElementTree import Element, SubElement, tostring

import icalendar
from fastapi import APIRouter, Request
from fastapi.responses import Response

from anoncup.rules.settings import Phase
from app.db.models import Announcement
from app.db.transaction import transaction
from app.http.authentication import get_service_url
from app.http.board_cache import parse_known_etags
from app.locale.language import Translator
from app.services.contests import announcements, clarifications, competitions, phase_changes
from app.services.contests.clarifications import VisibleClarification
from app.services.contests.contest import Contest
from app.services.contests.phase_changes import CalendarVersion
from app.web.site import language
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)
_MAX_ENTRIES = 50
NAMESPACE = "http://www.w3.org/2005/Atom"
INVALID_XML_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent."""
_MAX_TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An announcement or a public answer.

    ``language`` is the language of the text, or "" if it is unknown. ``url_suffix`` is appended to the feed's
    ``page_url``.
    """

    id: UUID
    updated_at: datetime
    text: str
    language: str
    url_suffix: str = "#announcements"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """An Atom feed.

    ``id`` does not depend on the URL. ``updated_at`` is the time of the newest entry, or the creation of the
    competition if there are no entries.
    """

    id: UUID
    title: str
    author: str
    page_url: str
    self_url: str
    updated_at: datetime
    language: str


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """A calendar event.

    If the event is moved, ``uid`` stays the same, ``sequence`` grows and ``changed_at`` is the time of the
    move. ``is_confirmed`` is false while the competition is paused, because the deadline then keeps moving.
    """

    uid: str
    start: datetime
    end: datetime
    summary: str
    description: str
    url: str
    sequence: int
    changed_at: datetime
    is_confirmed: bool = True


@router.get("/competitions/{slug}/calendar.ics")
def download_calendar(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        calendar_version = phase_changes.load_calendar_version(session, contest.round)
        rounds = [Contest(round_) for round_ in contest.competition.rounds]
    t, service_url = language.negotiate_translator(request), get_service_url(request)
    title = language.localize_title(competitions.get_title(contest.competition), t.language)
    events = [
        _build_event(round_, phase, calendar_version, f"{service_url}/competitions/{round_.address}", t)
        for round_ in rounds
        for phase in round_.rules.phases
    ]
    calendar = render_calendar(title, events, language=t.language)
    response = _respond_with_etag(request, calendar, "text/calendar; charset=utf-8")
    response.headers["Content-Disposition"] = f'inline; filename="{slug}.ics"'
    return response


def _build_event(
    contest: Contest, phase: Phase, calendar_version: CalendarVersion, page_url: str, t: Translator
) -> CalendarEvent:
    title = language.localize_title(contest.rules.title, t.language)
    hint = t("The competition’s page says what to do until then:")
    return CalendarEvent(
        uid=f"{contest.round.id}-{phase.name}@anoncup",
        start=phase.start,
        end=phase.end,
        summary=t("{competition}: {phase}", competition=title, phase=t.label(f"phase_{phase.name}")),
        description=f"{hint} {page_url}",
        url=page_url,
        sequence=calendar_version.sequence,
        changed_at=calendar_version.changed_at,
        is_confirmed=contest.round.paused_at is None,
    )


@router.get("/competitions/{slug}/announcements.atom")
def download_announcements_feed(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        announcement_rows = announcements.list_announcements(session, None, slug, limit=_MAX_ENTRIES)
        answers = clarifications.list_public_answers(session, None, slug, limit=_MAX_ENTRIES)
    t, service_url = language.negotiate_translator(request), get_service_url(request)
    title = language.localize_title(contest.rules.title, t.language)
    entries = [
        *(_build_announcement_entry(row, t.language) for row in announcement_rows),
        *(_build_answer_entry(answer, t) for answer in answers),
    ]
    entries = sorted(entries, key=lambda entry: entry.updated_at, reverse=True)[:_MAX_ENTRIES]
    feed = Feed(
        id=contest.id,
        title=t("{competition}: announcements", competition=title),
        author=t("The organizers"),
        page_url=f"{service_url}/competitions/{slug}",
        self_url=f"{service_url}/competitions/{slug}/announcements.atom?lang={t.language}",
        updated_at=entries[0].updated_at if entries else contest.competition.created_at,
        language=t.language,
    )
    xml = render_atom(feed, entries)
    return _respond_with_etag(request, xml, "application/atom+xml; charset=utf-8")


def _build_announcement_entry(announcement: Announcement, reader_language: str) -> FeedEntry:
    """Return the entry in the reader's language, or in the first available one."""
    texts = announcements.translate(announcement)
    text_language = reader_language if reader_language in texts else next(iter(texts))
    return FeedEntry(announcement.id, announcement.at, texts[text_language], text_language)


def _build_answer_entry(answered: VisibleClarification, t: Translator) -> FeedEntry:
    """Return the entry of an answer without naming who asked. A changed answer keeps its id but is newer."""
    clarification = answered.clarification
    text = f"{clarification.question}\n\n{t('The organizers’ answer to everybody')}\n{clarification.answer}"
    return FeedEntry(
        clarification.id,
        clarification.answered_at or clarification.asked_at,
        text,
        language="",
        url_suffix="/clarifications",
        title=clarification.question,
    )


def _respond_with_etag(request: Request, body: bytes, media_type: str) -> Response:
    """Return the body with an ETag, or 304 if the client already has it."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
    if etag in parse_known_etags(request):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def render_atom(feed: Feed, entries: Sequence[FeedEntry]) -> bytes:
    """Return the feed as XML, with the entries in the given order."""
    root = Element("feed", {"xmlns": NAMESPACE, "xml:lang": feed.language})
    _add_text_element(root, "id", feed.id.urn)
    _add_text_element(root, "title", feed.title)
    _add_text_element(root, "updated", _format_timestamp(feed.updated_at))
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": feed.self_url})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": feed.page_url})
    _add_text_element(SubElement(root, "author"), "name", feed.author)
    for entry in entries:
        _add_entry(root, entry, feed.page_url)
    xml: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return xml


def _add_entry(root: Element, entry: FeedEntry, page_url: str) -> None:
    element = SubElement(root, "entry", {"xml:lang": entry.language})
    _add_text_element(element, "id", entry.id.urn)
    _add_text_element(element, "title", shorten_title(entry.title or entry.text))
    _add_text_element(element, "updated", _format_timestamp(entry.updated_at))
    SubElement(
        element, "link", {"rel": "alternate", "type": "text/html", "href": f"{page_url}{entry.url_suffix}"}
    )
    _add_text_element(element, "content", entry.text).set("type", "text")


def _add_text_element(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = INVALID_XML_CHARACTER.sub("\ufffd", text)
    return child


def shorten_title(text: str) -> str:
    """Return the first line of the text, cut to ``_MAX_TITLE_LENGTH`` characters."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _MAX_TITLE_LENGTH else line[: _MAX_TITLE_LENGTH - 1].rstrip() + "…"


def _format_timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def render_calendar(name: str, events: Sequence[CalendarEvent], *, language: str) -> bytes:
    """Return a calendar that clients can subscribe to; it asks them to refresh it every hour."""
    calendar = icalendar.Calendar()
    calendar.add("VERSION", "2.0")
    calendar.add("PRODID", "-//anoncup//schedule//EN")
    calendar.add("CALSCALE", "GREGORIAN")
    calendar.add("METHOD", "PUBLISH")
    calendar.add("REFRESH-INTERVAL", timedelta(hours=1), parameters={"value": "DURATION"})
    for property_name in ("NAME", "X-WR-CALNAME"):
        calendar.add(property_name, icalendar.vText(name))  # icalendar escapes neither unless it is a vText
    for event in events:
        calendar.add_component(_build_component(event, language))
    body: bytes = calendar.to_ical()
    return body


def _build_component(event: CalendarEvent, language: str) -> icalendar.Event:
    component = icalendar.Event.new(
        uid=event.uid,
        stamp=event.changed_at,
        last_modified=event.changed_at,
        sequence=event.sequence,
        start=event.start.astimezone(UTC),
        end=event.end.astimezone(UTC),
        url=event.url,
        status=icalendar.STATUS.CONFIRMED if event.is_confirmed else icalendar.STATUS.TENTATIVE,
        transparency=icalendar.TRANSP.TRANSPARENT,
    )
    component.add("SUMMARY", event.summary, parameters={"language": language})
    component.add("DESCRIPTION", event.description, parameters={"language": language})
    return component
