"""Overview and board pages, and the cells of a ranking."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.schemas import Board, BoardRow
from tests.support.arena import Arena, build_competition_toml
from tests.support.page_requests import get_page

VIEWERS: list[dict[str, Any]] = [{}, {"team": "red"}, {"organizer": True}]
IMMEDIATE_FEEDBACK = '[publication]\nfeedback = "immediate"'


def get_board_page(arena: Arena, board: str = "anonymization", query: str = "", **viewer: Any) -> str:
    response = get_page(arena, f"/competitions/{arena.slug}/boards/{board}{query}", **viewer)
    assert response.status_code == 200, response.text
    return response.text


def parse_ranking(html: str) -> list[list[str]]:
    """Return the cell texts of the ranking table, row by row."""
    (table,) = re.findall(r'<table class="ranks.*?</table>', html, re.DOTALL)
    return parse_rows(table.partition("</thead>")[2])


def parse_rows(html: str) -> list[list[str]]:
    """Return the cell texts of a part of a page with table rows, row by row."""
    rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", html, re.DOTALL)
    cells = (re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows)
    return [[extract_text(cell) for cell in row] for row in cells]


def parse_body(html: str, marker: str) -> list[list[str]]:
    """Return the cell texts of the first table body after ``marker``, which is not on every page."""
    return parse_rows(html.partition(marker)[2].partition("<tbody>")[2].partition("</tbody>")[0])


def extract_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def build_row(rank: int | None, **changes: Any) -> BoardRow:
    row = BoardRow(
        rank=rank,
        team=f"team {rank}",
        own=False,
        baseline=False,
        entries=1,
        overall=0.15,
        utility=0.1,
        security=0.2,
        rival_risk=None,
        score=None,
        on_front=True,
        received_at=datetime.now(UTC),
        measures={},
        attackers={"id_rand": 0.1, "euc1": 0.2, "gower": 0.2},
    )
    return row.model_copy(update=changes)


def build_board_from_rows(*rows: BoardRow, digits: int | None = None) -> Board:
    return Board(
        competition="small",
        title={},
        frozen_from=None,
        finals=False,
        digits=digits,
        measures=(),
        attackers=(),
        rows=rows,
    )


RULES = parse_competition(build_competition_toml())
