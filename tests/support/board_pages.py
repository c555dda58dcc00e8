"""What a page with a board says."""

import re
from html import unescape
from typing import Any

from tests.support.arena import Arena
from tests.web.reader import page

READERS: list[dict[str, Any]] = [{}, {"team": "red"}, {"organizer": True}]
IMMEDIATE = '[publication]\nfeedback = "immediate"'


def board_page(arena: Arena, which: str = "anonymization", query: str = "", **reader: Any) -> str:
    answer = page(arena, f"/competitions/{arena.slug}/boards/{which}{query}", **reader)
    assert answer.status_code == 200, answer.text
    return answer.text


def lines(html: str) -> list[list[str]]:
    """The texts of the cells of the ranks, row by row."""
    (table,) = re.findall(r'<table class="ranks.*?</table>', html, re.DOTALL)
    body = table.partition("</thead>")[2]
    rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", body, re.DOTALL)
    return [[text_of(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
