"""Announcements as an Atom feed (RFC 4287)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID
from xml.etree.ElementTree import Element, SubElement, tostring

NAMESPACE = "http://www.w3.org/2005/Atom"
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to write."""
TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """What was announced or answered, in the language of the text that there is, "" if that is not known.

    ``place``: where it stands on or below the feed's page.
    """

    id: UUID
    at: datetime
    text: str
    language: str
    place: str = "#announcements"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """``id`` stays whatever the address; ``updated`` is that of the newest entry, or of the beginning."""

    id: UUID
    title: str
    author: str
    page: str
    address: str
    updated: datetime
    language: str


def atom(feed: Feed, entries: Sequence[Entry]) -> bytes:
    """The feed as it is sent, newest first."""
    root = Element("feed", {"xmlns": NAMESPACE, "xml:lang": feed.language})
    put(root, "id", feed.id.urn)
    put(root, "title", feed.title)
    put(root, "updated", moment(feed.updated))
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": feed.address})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": feed.page})
    put(SubElement(root, "author"), "name", feed.author)
    for entry in entries:
        add(root, entry, feed.page)
    made: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return made


def add(root: Element, entry: Entry, page: str) -> None:
    one = SubElement(root, "entry", {"xml:lang": entry.language})
    put(one, "id", entry.id.urn)
    put(one, "title", title_of(entry.title or entry.text))
    put(one, "updated", moment(entry.at))
    put(one, "published", moment(entry.at))
    SubElement(one, "link", {"rel": "alternate", "type": "text/html", "href": f"{page}{entry.place}"})
    put(one, "content", entry.text).set("type", "text")


def put(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = NO_XML.sub("\ufffd", text)
    return child


def title_of(text: str) -> str:
    """Its first line, or as much of it as a title holds."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
