"""The page of the totals, compared with the API."""

import re

import pytest
from fastapi.testclient import TestClient

from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.two_rounds import FORMULAS, create_two_rounds, play_both_rounds
from tests.support.visitor_pages import parse_rows

pytestmark = pytest.mark.full


def read_tables(html: str) -> list[list[list[str]]]:
    """Return the cells of each row of each table, without their headings."""
    return [parse_rows(body) for body in re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)]


def is_same_number(cell: str, number: float | None) -> bool:
    """Return whether a cell shows the number, to the digits that it has."""
    if number is None:
        return cell == "–"
    return float(cell.replace("−", "-").replace(",", "")) == pytest.approx(number, abs=5e-4, rel=1e-3)


def test_page_shows_the_totals_of_the_api(client: TestClient) -> None:
    rounds = create_two_rounds(client, extra_toml=FORMULAS)
    play_both_rounds(rounds)
    final = rounds["final"]
    response = get_page(final.arena, f"{final.path}/boards/total", team="red")
    boards = [final.get_board(name, team="red")["rows"] for name in ("total", "attack-total")]
    tables = read_tables(response.text)
    assert len(tables) == len(boards)
    for cells, rows in zip(tables, boards, strict=True):
        assert [row[0] for row in cells] == [str(row["rank"] or "–") for row in rows]
        assert [row[1].split()[0] for row in cells] == [row["team"] for row in rows]
        for line, row in zip(cells, rows, strict=True):
            numbers = [row["total"], *row["scores"].values()]
            assert all(map(is_same_number, line[2:], numbers)), (line, numbers)
    assert "round(&#39;final&#39;)" in response.text
    assert re.findall(r'<a class="competition"[^>]*>(.*?)</a>', response.text) == ["Small cup"]


def test_boards_link_to_the_totals_where_there_are_rounds(client: TestClient) -> None:
    contest, final = Contest.create(client, slug="single"), create_two_rounds(client)["final"]
    for displayed, links in ((contest, False), (final, True)):
        page = get_page(displayed.arena, f"{displayed.path}/boards/anonymization").text
        assert (f'href="{displayed.path}/boards/total"' in page) is links
