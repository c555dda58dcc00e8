"""The page of the totals, compared with the API."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.services.contests.competitions import get_title
from app.web.site.language import localize_title
from tests.support.contest import Contest, load_competition
from tests.support.page_requests import get_page
from tests.support.two_rounds import FORMULAS, create_two_rounds, play_both_rounds

pytestmark = pytest.mark.full


def read_tables(html: str) -> list[list[list[str]]]:
    """Return the cells of each row of each table, without their headings."""
    bodies = re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    return [
        [
            [
                unescape(re.sub(r"<[^>]*>", "", cell)).strip()
                for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
            ]
            for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
        ]
        for body in bodies
    ]


def is_same_number(cell: str, number: float | None) -> bool:
    """Return whether a cell shows the number, to the digits that it has."""
    if number is None:
        return cell == "–"
    return float(cell.replace("−", "-").replace(",", "")) == pytest.approx(number, abs=5e-4, rel=1e-3)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_page_shows_the_totals_of_the_api(client: TestClient, language: str) -> None:
    rounds = create_two_rounds(client, extra_toml=FORMULAS)
    play_both_rounds(rounds)
    final = rounds["final"]
    response = get_page(final.arena, f"{final.path}/boards/total", team="red", language=language)
    assert response.status_code == 200, response.text
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
    heading = re.search(r'<a class="competition"[^>]*>(.*?)</a>', response.text)
    assert heading is not None
    assert heading[1] == localize_title(get_title(load_competition()), language)


def test_boards_link_to_the_totals_where_there_are_rounds(client: TestClient, contest: Contest) -> None:
    link = 'boards/total"'
    assert link not in get_page(contest.arena, f"{contest.path}/boards/anonymization").text


def test_boards_of_a_round_link_to_the_totals(client: TestClient) -> None:
    final = create_two_rounds(client)["final"]
    page = get_page(final.arena, f"{final.path}/boards/anonymization").text
    assert f'href="{final.path}/boards/total"' in page
