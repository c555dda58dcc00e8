"""The replay as a page without scripts: who led, and since when."""

import re
from datetime import datetime

import pytest
from fastapi.testclient import TestClient

from app.web.site import notation
from tests.support import large_contest
from tests.support.arena import Arena, competition_file
from tests.support.board_histories import leaders_at
from tests.support.board_pages import text_of
from tests.support.contest import Contest
from tests.support.large_contest import Size
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full


def led(html: str) -> list[list[str]]:
    body = html.partition('aria-labelledby="leads"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[text_of(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_the_table_says_who_led_and_since_when(client: TestClient) -> None:
    contest = Contest.opened(client)
    large_contest.fill(contest, Size(teams=12, each=4, targets=0))
    told = contest.arena.get(f"{contest.path}/boards/history", token=contest.arena.team("the first")).json()
    expected: list[list[str]] = []
    for one in told["leaders"]:
        at = datetime.fromisoformat(one["at"])
        first = leaders_at(told, at)
        name = ", ".join(team for team, rank in first if rank == 1)
        if not expected or expected[-1][1] != " ".join(name.split()):
            expected.append([notation.clock_minute(at, "Asia/Tokyo"), " ".join(name.split()), ""])
    html = page(contest.arena, f"{contest.path}/boards/replay", team="the first").text
    assert [row[:2] for row in reversed(led(html))] == [row[:2] for row in expected]
    final = contest.arena.get(f"{contest.path}/boards/anonymization").json()["rows"][0]
    assert led(html)[0][2] == notation.score(round(final["overall"], 4))
    rows = contest.arena.get(f"{contest.path}/boards/anonymization").json()["rows"]
    assert told["own_ranks"][-1]["rank"] == next(row["rank"] for row in rows if row["team"] == "the first")


def test_without_scripts_there_are_a_note_and_a_picture_of_every_lead(client: TestClient) -> None:
    contest = Contest.opened(client)
    large_contest.fill(contest, Size(teams=12, each=4, targets=0))
    html = page(contest.arena, f"{contest.path}/boards/replay", team="the first").text
    shown = html.partition("<noscript>")[2].partition("</noscript>")[0]
    assert (
        said("The replay needs JavaScript. Without it, the picture and the table show who led and when.")
        in shown
    )
    assert shown.count('role="img"') == len(led(html)) > 1


def test_a_replay_that_is_not_open_or_empty_says_so(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "teams"'))
    closed = page(arena, "/competitions/small/boards/replay").text
    assert said("Only the teams of the competition see this board.") in closed
    assert "data-history" not in closed
    empty = page(arena, "/competitions/small/boards/replay", team="red").text
    assert said("No submission has been scored yet: there is nothing to replay.") in empty
