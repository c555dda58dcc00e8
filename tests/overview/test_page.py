"""The overview of a competition: its state, the leaders, the schedule and the reader's next step."""

import re
from html import unescape
from typing import Any

import pytest

from app.boards.standing_pages import select_podium
from app.core.pages.notation import format_percent
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest
from tests.support.database_rows import load_team_id
from tests.support.page_requests import extract_words, get_page
from tests.support.uploads import score_everything
from tests.support.visitor_pages import build_board_from_rows, build_row

pytestmark = pytest.mark.full


def read_overview(arena: Arena, **viewer: Any) -> str:
    """Return the visible text of the overview in one line."""
    return unescape(" ".join(extract_words(get_page(arena, f"/competitions/{arena.slug}", **viewer).text)))


def test_podium_has_three_rows_and_the_own_without_baselines() -> None:
    rows = [build_row(rank) for rank in range(1, 8)] + [build_row(None, baseline=True)]
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3]
    rows[5] = build_row(6, own=True)
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3, 6]
    rows[1] = build_row(2, own=True)
    rows[5] = build_row(6)
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3]


def test_shares_are_never_rounded_to_0_or_100_percent() -> None:
    shares = (0.0, 2 / 8333, 0.0004, 1e-9, 0.021, 0.05, 0.2149, 0.999, 8332 / 8333, 1.0)
    texts = "0% 0.024% 0.04% 0.0000001% 2.1% 5% 21% 99.9% 99.99% 100%"
    assert " ".join(map(format_percent, shares)) == texts


def find_next_link(arena: Arena, **viewer: Any) -> str:
    html = get_page(arena, f"/competitions/{arena.slug}", **viewer).text
    (link,) = re.findall(r'<a class="button" href="([^"]*)"', html)
    return str(link)


def test_each_audience_sees_its_next_step(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    assert find_next_link(arena) == f"/sign-in?to={path}"
    assert find_next_link(arena, organizer=True) == f"{path}/organize"
    assert find_next_link(arena, team="red") == f"{path}/submissions"
    other_arena = Arena.create(arena.client, slug="other")
    other_arena.team_tokens["stranger"] = arena.get_team_token("red")
    assert find_next_link(other_arena, team="stranger") == "/account"


def test_next_step_follows_the_phases(contest: Contest) -> None:
    arena, path = contest.arena, contest.path
    board = f"{path}/boards/anonymization"
    contest.submit("red")
    for advance, next_of_team, next_of_visitor in (
        (contest.start_pause, f"{path}/submissions", board),
        (contest.open_attacks, f"{path}/targets", board),
        (contest.close_attacks, board, board),
    ):
        advance()
        assert find_next_link(arena, team="red") == next_of_team
        assert find_next_link(arena) == next_of_visitor
        hidden = "The re-identification board opens when the phase closes" in read_overview(arena)
        assert hidden == (contest.get_state() != "closed")


def test_member_sees_own_rank_and_remaining_quota(arena: Arena) -> None:
    for _ in range(2):
        arena.submit("red")
    arena.submit("blue", seed=2)
    score_everything()
    path = f"/competitions/{arena.slug}"
    rows = arena.get(f"{path}/boards/anonymization", team="red").json()["rows"]
    rank = next(row["rank"] for row in rows if row["team"] == "red")
    caps = arena.get(f"{path}/quota", team="red").json()["caps"]
    text = read_overview(arena, team="red")
    assert f"Rank {rank} of 2 Overall" in text
    assert f"Left to send today {min(cap['limit'] - cap['used'] for cap in caps)} " in text
    assert "Left to send today" not in read_overview(arena)


def test_next_step_is_the_data_then_the_rules_during_a_pause_and_none_for_the_disqualified(
    arena: Arena,
) -> None:
    arena.post("/competitions", content=build_competition_toml("bare", opens=1, closes=2))
    bare = get_page(arena, "/competitions/bare", organizer=True).text
    assert re.findall(r'<a class="button" href="([^"]*)"', bare) == ["/competitions/bare/organize/data"]
    path = f"/competitions/{arena.slug}"
    arena.get_team_token("red")
    arena.post(f"{path}/phases/anonymization/pause")
    assert find_next_link(arena, team="red") == f"{path}/rules"
    arena.post(f"{path}/teams/{load_team_id('red')}/disqualify")
    assert '<a class="button"' not in get_page(arena, path, team="red").text
