"""Render deadlines as an iCalendar file (RFC 5545)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import icalendar


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
