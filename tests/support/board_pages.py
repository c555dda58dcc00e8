"""Board pages and the cells of their ranking."""

import re
from html import unescape
from typing import Any

from tests.support.arena import Arena
from tests.web.reader import get_page

VIEWERS: list[dict[str, Any]] = [{}, {"team": "red"}, {"organizer": True}]
IMMEDIATE_FEEDBACK = '[publication]\nfeedback = "immediate"'


def get_board_page(arena: Arena, board: str = "anonymization", query: str = "", **reader: Any) -> str:
    response = get_page(arena, f"/competitions/{arena.slug}/boards/{board}{query}", **reader)
    assert response.status_code == 200, response.text
    return response.text


def parse_ranking(html: str) -> list[list[str]]:
    """Return the cell texts of the ranking table, row by row."""
    (table,) = re.findall(r'<table class="ranks.*?</table>', html, re.DOTALL)
    body = table.partition("</thead>")[2]
    rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", body, re.DOTALL)
    return [[extract_text(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def extract_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
