"""Deadlines as an iCalendar file (RFC 5545)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

LINE_BYTES = 75
"""Without the line's end: longer ones are folded."""
ESCAPED = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": None})


@dataclass(frozen=True, slots=True)
class Event:
    """``uid`` stays when the event moves; then ``sequence`` grows, and ``changed`` says when it did.

    ``sure``: it will not move by itself, as it does in a pause.
    """

    uid: str
    start: datetime
    end: datetime
    summary: str
    description: str
    url: str
    sequence: int
    changed: datetime
    sure: bool = True


def calendar(name: str, events: Sequence[Event], *, language: str) -> str:
    """A calendar that others subscribe to; it asks to be looked at each hour."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//anoncup//schedule//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        text("NAME", name),
        text("X-WR-CALNAME", name),
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        *(line for event in events for line in event_lines(event, language)),
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in folded(line))


def event_lines(event: Event, language: str) -> Iterable[str]:
    return [
        "BEGIN:VEVENT",
        text("UID", event.uid),
        f"DTSTAMP:{moment(event.changed)}",
        f"LAST-MODIFIED:{moment(event.changed)}",
        f"SEQUENCE:{event.sequence}",
        f"DTSTART:{moment(event.start)}",
        f"DTEND:{moment(event.end)}",
        text(f"SUMMARY;LANGUAGE={language}", event.summary),
        text(f"DESCRIPTION;LANGUAGE={language}", event.description),
        f"URL:{event.url}",
        f"STATUS:{'CONFIRMED' if event.sure else 'TENTATIVE'}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def text(name: str, value: str) -> str:
    return f"{name}:{value.translate(ESCAPED)}"


def moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def folded(line: str) -> Iterator[str]:
    """A line in parts of at most 75 octets, none within a character; all but the first begin with a space."""
    part = ""
    for character in line:
        if len((part + character).encode()) > LINE_BYTES:
            yield part
            part = " "
        part += character
    yield part
