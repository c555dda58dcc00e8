"""Boards of a whole competition, compared with sums of the rounds' boards."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.core.pages import notation
from tests.support.accounts import read_refusal
from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.two_rounds import (
    FORMULAS,
    build_round,
    build_two_round_toml,
    create_two_rounds,
    play_both_rounds,
)
from tests.support.visitor_pages import parse_rows

pytestmark = pytest.mark.full

READERS: tuple[dict[str, Any], ...] = ({}, {"team": "red"}, {"organizer": True})


def read_total(contest: Contest, board: str = "total", **reader: Any) -> dict[str, dict[str, Any]]:
    return {row["team"]: row for row in contest.get_board(board, **reader)["rows"]}


def read_scores(contest: Contest, board: str, **reader: Any) -> dict[str, float | None]:
    return {row["team"]: row.get("score") for row in contest.get_board(board, **reader)["rows"]}


@pytest.fixture
def rounds(client: TestClient) -> dict[str, Contest]:
    rounds = create_two_rounds(client, extra_toml=FORMULAS)
    play_both_rounds(rounds)
    return rounds


def test_totals_are_the_formulas_of_the_boards_of_the_rounds(rounds: dict[str, Contest]) -> None:
    for reader in READERS:
        first, second = (read_scores(contest, "anonymization", **reader) for contest in rounds.values())
        rows = read_total(rounds["final"], **reader)
        assert rows == read_total(rounds["preliminary"], **reader)
        assert rows.keys() == first.keys() | second.keys()
        for team, row in rows.items():
            scores = first.get(team), second.get(team)
            assert tuple(row["scores"].values()) == scores
            if scores[0] is None or scores[1] is None:
                assert row["total"] is None
            else:
                assert row["total"] == pytest.approx(0.1 * scores[0] + 0.9 * scores[1], rel=1e-12)
            assert row["own"] is (reader == {"team": team})
        first, second = (read_scores(contest, "reidentification", **reader) for contest in rounds.values())
        for team, row in read_total(rounds["final"], "attack-total", **reader).items():
            missing = first.get(team) is None
            assert row["total"] == (None if missing else max(first[team] or 0.0, second.get(team) or 0.0))


def test_ranks_compare_exact_totals_and_teams_without_a_total_come_last(rounds: dict[str, Contest]) -> None:
    exact = read_total(rounds["final"], organizer=True)
    totals = {team: row["total"] for team, row in exact.items() if row["total"] is not None}
    assert totals.keys() == {"red", "blue"}
    order = sorted(totals, key=lambda team: -totals[team])
    expected_ranks = {order[0]: 1, order[1]: 2, "green": None, "late": None}
    for reader in READERS:
        rows = read_total(rounds["final"], **reader)
        assert {team: row["rank"] for team, row in rows.items()} == expected_ranks
        assert list(rows)[:2] == order


def test_page_shows_the_totals_of_the_api(rounds: dict[str, Contest]) -> None:
    final = rounds["final"]
    html = get_page(final.arena, f"{final.path}/boards/total", team="red").text
    boards = [final.get_board(name, team="red")["rows"] for name in ("total", "attack-total")]
    tables = [parse_rows(body) for body in re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)]
    for cells, rows in zip(tables, boards, strict=True):
        for line, row in zip(cells, rows, strict=True):
            numbers = [row["total"], *row["scores"].values()]
            assert line[0] == str(row["rank"] or "–")
            assert line[1].split()[0] == row["team"]
            assert line[2:] == [notation.format_number(number) for number in numbers]
    assert "<code>0.1 * Preliminary + 0.9 * Final</code>" in html
    japanese = get_page(final.arena, f"{final.path}/boards/total", team="red", language="ja").text
    assert "<code>0.1 * 「予選」 + 0.9 * 「本戦」</code>" in japanese
    assert re.findall(r'<a class="competition"[^>]*>(.*?)</a>', html) == ["Small cup"]
    assert f'href="{final.path}/boards/total"' in html


def test_competition_without_rounds_has_no_total(contest: Contest) -> None:
    for board in ("total", "attack-total", "total.csv", "attack-total.csv"):
        response = contest.arena.get(f"{contest.path}/boards/{board}")
        assert read_refusal(response) == (404, "no_rounds")


def test_practice_rounds_count_for_nothing(client: TestClient) -> None:
    practice = build_round("practice", begins=-3, practice=True)
    rounds = create_two_rounds(client)
    arena = rounds["final"].arena
    file = arena.get("/competitions/small/competition.toml").text
    response = arena.put("/competitions/small/competition.toml", content=file + practice)
    assert response.status_code == 200, response.text
    assert rounds["final"].get_board("total")["rounds"] == ["preliminary", "final"]
    named = build_two_round_toml(extra_toml="[ranking]\ntotal = \"round('practice')\"") + practice
    response = arena.put("/competitions/small/competition.toml", content=named)
    assert read_refusal(response) == (422, "invalid_formula")


@pytest.mark.parametrize(
    "formula", ["round('nothing')", "utility", "round(1)", "round()", "1 / (round('final') - round('final'))"]
)
def test_wrong_total_is_refused_with_its_place(client: TestClient, formula: str) -> None:
    arena = create_two_rounds(client)["final"].arena
    file = build_two_round_toml(extra_toml=f'[ranking]\ntotal = "{formula}"')
    response = arena.put("/competitions/small/competition.toml", content=file)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_formula"), response.text
    assert response.json()["values"]["key"] == "ranking.total"
