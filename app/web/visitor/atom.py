"""Render announcements as an Atom feed (RFC 4287)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID
from xml.etree.ElementTree import Element, SubElement, tostring

NAMESPACE = "http://www.w3.org/2005/Atom"
INVALID_XML_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent."""
MAX_TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An announcement or a public answer.

    ``language`` is the language of the text, or "" if it is unknown. ``url_suffix`` is appended to the feed's
    ``page_url``.
    """

    id: UUID
    published_at: datetime
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
    _add_text_element(element, "updated", _format_timestamp(entry.published_at))
    _add_text_element(element, "published", _format_timestamp(entry.published_at))
    SubElement(
        element, "link", {"rel": "alternate", "type": "text/html", "href": f"{page_url}{entry.url_suffix}"}
    )
    _add_text_element(element, "content", entry.text).set("type", "text")


def _add_text_element(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = INVALID_XML_CHARACTER.sub("\ufffd", text)
    return child


def shorten_title(text: str) -> str:
    """Return the first line of the text, cut to ``MAX_TITLE_LENGTH`` characters."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= MAX_TITLE_LENGTH else line[: MAX_TITLE_LENGTH - 1].rstrip() + "…"


def _format_timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
