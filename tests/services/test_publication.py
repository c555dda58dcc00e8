"""Until the reveal nobody but the team and the organizers reads what depends on its secret but coarsely."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from tests.api.test_submissions import score_everything
from tests.contest import Contest, competition_row, turn

COARSE: dict[str, Any] = {"rivals": None, "rank_sum": None, "measures": {}, "attackers": {}}
LONG = re.compile(r"-?\d+\.\d{5,}(?:[eE][-+]?\d+)?")
ELSEWHERE = ("original", "openapi", "reference")
"""Parts of paths: the data are for all, and the documents of the API are made of the code alone."""
OTHERS: tuple[dict[str, Any], ...] = ({}, {"team": "green"})


MORE = '[publication]\nfeedback = "immediate"\ndigits = {}\n[ranking]\nrule = "rank_sum"'


def opened(client: TestClient, *, digits: int = 2) -> Contest:
    contest = Contest.opened(client, more=MORE.format(digits))
    for team in ("red", "blue", "green"):
        contest.submit(team, scored=False)
    score_everything()
    return contest


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return opened(client)


def row_of(board: dict[str, Any], team: str) -> dict[str, Any]:
    (found,) = (row for row in board["rows"] if row["team"] == team)
    return dict(found)


@pytest.mark.parametrize("reader", OTHERS)
@pytest.mark.parametrize("digits", [0, 2, 4])
def test_of_others_a_board_says_rank_overall_and_coarse_scores(
    client: TestClient, reader: dict[str, Any], digits: int
) -> None:
    contest = opened(client, digits=digits)
    exact, board = contest.board(organizer=True), contest.board(**reader)
    assert (board["digits"], exact["digits"]) == (digits, None)
    for row in board["rows"]:
        whole = row_of(exact, row["team"])
        if row["team"] == reader.get("team"):
            assert row == whole | {"own": True, "on_front": row["on_front"]}
            continue
        shown = {
            "overall": round(whole["overall"], 4),
            "utility": round(whole["utility"], digits),
            "security": round(whole["security"], digits),
        }
        assert row == whole | shown | COARSE | {"on_front": row["on_front"]}
        assert all(whole[name] for name in ("measures", "attackers", "rank_sum"))


def test_the_front_is_that_of_the_shown_scores(client: TestClient) -> None:
    rows = opened(client, digits=0).board()["rows"]
    for row in rows:
        beaten = any(
            other["utility"] <= row["utility"]
            and other["security"] <= row["security"]
            and (other["utility"], other["security"]) != (row["utility"], row["security"])
            for other in rows
        )
        assert row["on_front"] is not beaten


def test_after_the_reveal_everything_is_shown_in_full(contest: Contest) -> None:
    contest.attack()
    contest.close()
    turn()
    assert competition_row().revealed_at is not None
    visitor, organizer = contest.board(), contest.board(organizer=True)
    assert (visitor, visitor["digits"]) == (organizer, None)


def answers(contest: Contest, team: str) -> set[str]:
    """Every number of a team's verdict that is long enough to be told from others, as it may be written."""
    found = contest.arena.get(f"{contest.path}/submissions", token=contest.arena.team(team)).json()
    (identifier,) = {one["id"] for one in found}
    result = contest.arena.submission(identifier, team)["result"]
    return {
        text for number in numbers(result) for text in (repr(number), f"{number:.6g}", f"{number:.5g}")
    } - {
        "0.5",
        "0.25",
    }


def numbers(value: Any) -> Iterator[float]:
    """Those with at least five decimals."""
    if isinstance(value, float) and LONG.fullmatch(repr(value)):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers(one)


SECONDS = re.compile(r"\d\d:\d\d:\d\d\.\d+")
"""The decimals of a moment may be those of a score."""


def readable(contest: Contest, reader: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every page and answer that names the competition at most, as somebody reads it."""
    app = contest.arena.client.app
    assert isinstance(app, FastAPI)
    routes = {str(one.path) for one in iter_route_contexts(app.routes) if "GET" in (one.methods or ())}
    token = contest.arena.team(reader["team"]) if reader else None
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for path in sorted(path.replace("{slug}", contest.arena.slug) for path in routes):
        if "{" not in path and not any(part in path for part in ELSEWHERE):
            answer = contest.arena.client.get(path, headers=headers)
            yield path, SECONDS.sub("", answer.text)


def test_no_exact_number_of_a_team_stands_in_any_output_before_the_reveal(contest: Contest) -> None:
    secret = answers(contest, "red") | answers(contest, "blue")
    assert len(secret) > 20
    own = answers(contest, "green")
    steps: tuple[Callable[[], None], ...] = (lambda: None, contest.between, contest.attack)
    for step in steps:
        step()
        for reader in OTHERS:
            hidden = secret - own if reader else secret
            for path, text in readable(contest, reader):
                told = {one for one in hidden if one in text}
                assert not told, f"{path} tells {sorted(told)[:3]}"


@pytest.mark.parametrize("owners", ["hidden", "shown"])
def test_owners_are_shown_where_the_competition_says_so(client: TestClient, owners: str) -> None:
    contest = Contest.opened(client, more=f'[publication]\nowners = "{owners}"')
    contest.submit("red")
    contest.submit("blue")
    contest.attack()
    listed = contest.arena.get(f"{contest.path}/targets", token=contest.arena.team("green")).json()
    known = {None} if owners == "hidden" else {"red", "blue"}
    assert {target["team"] for target in listed} == known
    matrix = contest.board("matrix")
    assert {target["team"] for target in matrix["targets"]} == known
    assert not any(row["built_in"] for row in matrix["rows"])
