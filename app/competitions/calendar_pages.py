"""The deadlines of a competition as an iCalendar file (RFC 5545)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import icalendar
from fastapi import APIRouter, Request
from fastapi.responses import Response

from anoncup.rules.rounds import choose_text
from anoncup.rules.settings import Phase
from app.competitions import competitions, phase_changes
from app.competitions.contest import Contest
from app.competitions.phase_changes import CalendarVersion
from app.core.db.transaction import transaction
from app.core.http.etags import send_if_changed
from app.core.identity.authentication import get_service_url
from app.core.locale.language import Translator
from app.core.pages import language
from app.core.pages.pages import PageRoute

router = APIRouter(route_class=PageRoute)


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
    title = choose_text(contest.competition.title, t.language)
    events = [
        _build_event(round_, phase, calendar_version, f"{service_url}/competitions/{round_.address}", t)
        for round_ in rounds
        for phase in round_.rules.phases
    ]
    calendar = render_calendar(title, events, language=t.language)
    headers = {
        "Cache-Control": "no-cache",
        "Vary": "Accept-Language, Cookie",
        "Content-Disposition": f'inline; filename="{slug}.ics"',
    }
    return send_if_changed(request, calendar, media_type="text/calendar; charset=utf-8", headers=headers)


def _build_event(
    contest: Contest, phase: Phase, calendar_version: CalendarVersion, page_url: str, t: Translator
) -> CalendarEvent:
    title = choose_text(contest.rules.title, t.language)
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
