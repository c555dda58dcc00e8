"""Render deadlines as an iCalendar file (RFC 5545)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_MAX_LINE_BYTES = 75
"""Maximum length of a line without its line break; longer lines are folded (RFC 5545, section 3.1)."""
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": None})


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


def render_calendar(name: str, events: Sequence[CalendarEvent], *, language: str) -> str:
    """Return a calendar that clients can subscribe to; it asks them to refresh it every hour."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//anoncup//schedule//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        _format_property("NAME", name),
        _format_property("X-WR-CALNAME", name),
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        *(line for event in events for line in _format_event(event, language)),
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in _fold_line(line))


def _format_event(event: CalendarEvent, language: str) -> Iterable[str]:
    return [
        "BEGIN:VEVENT",
        _format_property("UID", event.uid),
        f"DTSTAMP:{_format_timestamp(event.changed_at)}",
        f"LAST-MODIFIED:{_format_timestamp(event.changed_at)}",
        f"SEQUENCE:{event.sequence}",
        f"DTSTART:{_format_timestamp(event.start)}",
        f"DTEND:{_format_timestamp(event.end)}",
        _format_property(f"SUMMARY;LANGUAGE={language}", event.summary),
        _format_property(f"DESCRIPTION;LANGUAGE={language}", event.description),
        f"URL:{event.url}",
        f"STATUS:{'CONFIRMED' if event.is_confirmed else 'TENTATIVE'}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def _format_property(name: str, value: str) -> str:
    return f"{name}:{value.translate(_ESCAPES)}"


def _format_timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _fold_line(line: str) -> Iterator[str]:
    """Split a line between characters into parts of at most 75 bytes; each later part starts with a space."""
    part = ""
    for character in line:
        if len((part + character).encode()) > _MAX_LINE_BYTES:
            yield part
            part = " "
        part += character
    yield part
