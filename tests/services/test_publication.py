"""Until the reveal nobody but the team and the organizers reads what depends on its secret but coarsely."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from itertools import product
from string import Formatter
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.db.models import Guess, Target, Team, User
from app.db.transaction import transaction
from tests.support.contest import Contest, competition_row, turn
from tests.support.uploads import score_everything
from tests.web.reader import page

pytestmark = pytest.mark.full

COARSE: dict[str, Any] = {"rivals": None, "rank_sum": None, "measures": {}, "attackers": {}}
LONG = re.compile(r"-?\d+\.\d{5,}(?:[eE][-+]?\d+)?")
ELSEWHERE = ("original", "openapi", "reference")
"""Parts of paths: the data are for all, and the documents of the API are made of the code alone."""
BOARDS = ("anonymization", "reidentification", "matrix")
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


def exact_numbers(value: Any) -> set[str]:
    """Return every number that is long enough to be told from others, as it may be written."""
    return {text for number in numbers(value) for text in (repr(number), f"{number:.6g}", f"{number:.5g}")}


def numbers(value: Any) -> Iterator[float]:
    """Yield those with at least five decimals."""
    if isinstance(value, float) and LONG.fullmatch(repr(value)):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers(one)


def exact_results(contest: Contest) -> Any:
    """Return all that organizers see of submissions, guesses and boards."""
    submissions = [contest.arena.get(f"/submissions/{one}").json()["result"] for one in contest.secrets]
    with transaction() as session:
        guesses = [one.outcome for one in session.scalars(select(Guess))]
    boards = [contest.board(which, organizer=True)["rows"] for which in BOARDS]
    return [submissions, guesses, boards]


SECONDS = re.compile(r"\d\d:\d\d:\d\d\.\d+")
"""The decimals of a moment may be those of a score."""


def read_everything(contest: Contest, reader: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the answer of every GET route to a visitor or a team, with any identifier in the path."""
    app = contest.arena.client.app
    assert isinstance(app, FastAPI)
    token = contest.arena.team(reader["team"]) if reader else None
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for route in sorted(
        {str(one.path) for one in iter_route_contexts(app.routes) if "GET" in (one.methods or ())}
    ):
        if any(part in route for part in ELSEWHERE):
            continue
        for path in paths_of(route, contest):
            answer = contest.arena.client.get(path, headers=headers)
            yield path, SECONDS.sub("", "\n".join([str(answer.headers), *texts_in(answer)]))


def paths_of(route: str, contest: Contest) -> Iterator[str]:
    with transaction() as session:
        known: dict[str, list[str]] = {
            "slug": [contest.arena.slug],
            "submission_id": list(contest.secrets),
            "target_id": list(map(str, session.scalars(select(Target.id)))),
            "team_id": list(map(str, session.scalars(select(Team.id)))),
            "user_id": list(map(str, session.scalars(select(User.id)))),
            "file": ["anonymized.csv"],
        }
    fields = [name for _, name, _, _ in Formatter().parse(route) if name]
    for values in product(*(known.get(name, [str(uuid4())]) for name in fields)):
        yield route.format(**dict(zip(fields, values, strict=True)))


def texts_in(answer: Any) -> Iterator[str]:
    """Yield the body's text, or that of each file of an archive."""
    if answer.headers.get("content-type") != "application/zip":
        yield answer.text
        return
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        for name in archive.namelist():
            yield name + archive.read(name).decode()


@pytest.mark.full
def test_no_exact_number_of_a_team_stands_in_any_output_before_the_reveal(client: TestClient) -> None:
    """A contest is played with the teams shown on their targets."""
    contest = Contest.opened(client, more='[ranking]\nrule = "rank_sum"')
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    searched(contest, own=green)
    contest.attack()
    for team, submission, rows in (
        ("red", blue, 7),
        ("blue", red, 11),
        ("green", red, 13),
        ("red", green, 17),
    ):
        contest.guessed(team, submission, rows)
    assert {target["team"] for target in contest.targets("green")} == {"red", "blue", "green"}
    paths = searched(contest, own=green)
    assert {f"/targets/{target['id']}" for target in contest.targets("green")} <= paths
    contest.close()
    turn()
    assert competition_row().revealed_at is not None
    shown = "".join(text for _, text in read_everything(contest, {}))
    assert len([one for one in exact_numbers(exact_results(contest)) if one in shown]) > 20


def searched(contest: Contest, *, own: str) -> set[str]:
    """Search everything that a visitor and the team of ``own`` read; return the paths that were answered."""
    secret = exact_numbers(exact_results(contest))
    assert len(secret) > 50
    paths: set[str] = set()
    for reader in OTHERS:
        owned = contest.arena.get(f"/submissions/{own}").json()["result"] if reader else None
        hidden = secret - exact_numbers(owned)
        for path, text in read_everything(contest, reader):
            found = {one for one in hidden if one in text}
            assert not found, f"{path} shows {sorted(found)[:3]}"
            paths.add(path)
    return paths


def owners_read(contest: Contest) -> dict[str, set[str | None]]:
    """Return the teams that each output shows on targets, to team green and to a visitor."""
    token = contest.arena.team("green")
    archive = contest.arena.get(f"{contest.path}/targets.zip", token=token).content
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        packed_teams = {
            line["team"] for line in csv.DictReader(packed.read("commitments.csv").decode().splitlines())
        }
    head = contest.arena.client.get(f"/api/v1{contest.path}/boards/matrix.csv").text.splitlines()[0]
    pages = [
        page(contest.arena, f"/targets/{one['id']}", team="green").text for one in contest.targets("green")
    ]
    return {
        "list": {target["team"] for target in contest.targets("green")},
        "archive": packed_teams,
        "manifest": {
            target["team"]
            for target in contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()["targets"]
        },
        "matrix": {target["team"] for target in contest.board("matrix")["targets"]},
        "csv": {team for team in ("red", "blue") if f" ({team})" in head},
        "pages": {team for team in ("red", "blue") if any(f"<dd>{team}</dd>" in one for one in pages)},
    }


@pytest.mark.parametrize("owners", ["hidden", "shown"])
def test_targets_show_their_teams_unless_these_are_hidden_until_the_reveal(
    client: TestClient, owners: str
) -> None:
    more = "" if owners == "shown" else '[publication]\nowners = "hidden"'
    contest = Contest.opened(client, more=more)
    contest.submit("red")
    contest.submit("blue")
    contest.attack()
    teams: set[str | None] = {"red", "blue"}
    named = dict.fromkeys(("list", "archive", "manifest", "matrix", "csv", "pages"), teams)
    blank: set[str | None] = {None}
    unnamed = dict.fromkeys(named, blank) | {"archive": {""}, "csv": set(), "pages": set()}
    assert owners_read(contest) == (named if owners == "shown" else unnamed)
    assert not any(row["built_in"] for row in contest.board("matrix")["rows"])
    contest.close()
    turn()
    assert owners_read(contest) == named


def test_visitors_who_may_not_see_the_boards_see_no_team_in_the_manifest(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nboard = "teams"')
    contest.submit("red")
    contest.attack()
    manifest = f"{contest.path}/manifest"
    assert contest.arena.client.get(f"/api/v1{manifest}").json()["targets"][0]["team"] is None
    assert contest.arena.get(manifest, token=contest.arena.team("blue")).json()["targets"][0]["team"] == "red"


def test_a_file_of_format_1_with_the_removed_key_is_read(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nowners = "hidden"\nowners_at_least = 3')
    contest.submit("red")
    contest.attack()
    assert competition_row().published_at is not None
    assert contest.targets("blue")[0]["team"] is None
