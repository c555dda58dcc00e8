"""The replay page without scripts lists the leaders and the times of their leads."""

import re
from datetime import datetime

import pytest
from fastapi.testclient import TestClient

from app.web.site import notation
from tests.support import large_contest
from tests.support.arena import Arena, build_competition_toml
from tests.support.board_facts import find_leaders_at
from tests.support.contest import Contest
from tests.support.large_contest import ContestSize
from tests.support.page_requests import get_page
from tests.support.translations import translate
from tests.support.visitor_pages import extract_text

pytestmark = pytest.mark.full


def read_leaders(html: str) -> list[list[str]]:
    body = html.partition('aria-labelledby="leads"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[extract_text(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_table_lists_leaders_and_times(client: TestClient) -> None:
    contest = Contest.create(client)
    large_contest.fill(contest, ContestSize(teams=12, submissions_per_team=4, targets=0))
    history = contest.arena.get(
        f"{contest.path}/boards/history", token=contest.arena.get_team_token("the first")
    ).json()
    expected: list[list[str]] = []
    for lead in history["leaders"]:
        led_at = datetime.fromisoformat(lead["at"])
        ranks = find_leaders_at(history, led_at)
        name = ", ".join(team for team, rank in ranks if rank == 1)
        if not expected or expected[-1][1] != " ".join(name.split()):
            expected.append([notation.format_clock_minute(led_at, "Asia/Tokyo"), " ".join(name.split()), ""])
    html = get_page(contest.arena, f"{contest.path}/boards/replay", team="the first").text
    assert [row[:2] for row in reversed(read_leaders(html))] == [row[:2] for row in expected]
    final = contest.arena.get(f"{contest.path}/boards/anonymization").json()["rows"][0]
    assert read_leaders(html)[0][2] == notation.format_score(round(final["overall"], 4))
    rows = contest.arena.get(f"{contest.path}/boards/anonymization").json()["rows"]
    assert history["own_ranks"][-1]["rank"] == next(row["rank"] for row in rows if row["team"] == "the first")


def test_without_scripts_the_page_has_a_picture_of_each_lead(client: TestClient) -> None:
    contest = Contest.create(client)
    large_contest.fill(contest, ContestSize(teams=12, submissions_per_team=4, targets=0))
    html = get_page(contest.arena, f"{contest.path}/boards/replay", team="the first").text
    noscript_html = html.partition("<noscript>")[2].partition("</noscript>")[0]
    assert (
        translate("The replay needs JavaScript. Without it, the picture and the table show who led and when.")
        in noscript_html
    )
    assert noscript_html.count('role="img"') == len(read_leaders(html)) > 1


def test_closed_or_empty_replay_says_so(client: TestClient) -> None:
    arena = Arena.create(client, file=build_competition_toml(extra_toml='[publication]\nboard = "teams"'))
    closed = get_page(arena, "/competitions/small/boards/replay").text
    assert translate("Only the teams of the competition see this board.") in closed
    assert "data-history" not in closed
    empty = get_page(arena, "/competitions/small/boards/replay", team="red").text
    assert translate("No submission has been scored yet: there is nothing to replay.") in empty
