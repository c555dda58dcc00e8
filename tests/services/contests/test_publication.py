"""Until the reveal only the team and the organizers see exact values that depend on its secret."""

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
from tests.support.contest import Contest, load_competition, run_clock
from tests.support.page_requests import get_page
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

COARSE: dict[str, Any] = {"rivals": None, "rank_sum": None, "measures": {}, "attackers": {}}
LONG_DECIMAL = re.compile(r"-?\d+\.\d{5,}(?:[eE][-+]?\d+)?")
EXCLUDED_PARTS = ("original", "openapi", "reference")
"""Path parts of outputs without scores: public data, and API documents generated from the code."""
BOARDS = ("anonymization", "reidentification", "matrix")
VIEWERS: tuple[dict[str, Any], ...] = ({}, {"team": "green"})


MORE = '[publication]\nfeedback = "immediate"\ndigits = {}\n[ranking]\nrule = "rank_sum"'


def open_contest(client: TestClient, *, digits: int = 2) -> Contest:
    contest = Contest.create(client, extra_toml=MORE.format(digits))
    for team in ("red", "blue", "green"):
        contest.submit(team, score=False)
    score_everything()
    return contest


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return open_contest(client)


def find_row(board: dict[str, Any], team: str) -> dict[str, Any]:
    (match,) = (row for row in board["rows"] if row["team"] == team)
    return dict(match)


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("digits", [0, 2, 4])
def test_a_board_shows_other_teams_with_rank_and_coarse_scores(
    client: TestClient, viewer: dict[str, Any], digits: int
) -> None:
    contest = open_contest(client, digits=digits)
    exact, board = contest.get_board(organizer=True), contest.get_board(**viewer)
    assert (board["digits"], exact["digits"]) == (digits, None)
    for row in board["rows"]:
        exact_row = find_row(exact, row["team"])
        if row["team"] == viewer.get("team"):
            assert row == exact_row | {"own": True, "on_front": row["on_front"]}
            continue
        rounded = {
            "overall": round(exact_row["overall"], 4),
            "utility": round(exact_row["utility"], digits),
            "security": round(exact_row["security"], digits),
        }
        assert row == exact_row | rounded | COARSE | {"on_front": row["on_front"]}
        assert all(exact_row[name] for name in ("measures", "attackers", "rank_sum"))


def test_the_front_is_that_of_the_shown_scores(client: TestClient) -> None:
    rows = open_contest(client, digits=0).get_board()["rows"]
    for row in rows:
        is_dominated = any(
            rival["utility"] <= row["utility"]
            and rival["security"] <= row["security"]
            and (rival["utility"], rival["security"]) != (row["utility"], row["security"])
            for rival in rows
        )
        assert row["on_front"] is not is_dominated


def test_after_the_reveal_everything_is_shown_in_full(contest: Contest) -> None:
    contest.open_attacks()
    contest.close_attacks()
    run_clock()
    assert load_competition().revealed_at is not None
    visitor, organizer = contest.get_board(), contest.get_board(organizer=True)
    assert (visitor, visitor["digits"]) == (organizer, None)


def list_number_texts(value: Any) -> set[str]:
    """Return the possible spellings of every number that is long enough to be unique."""
    return {
        text for number in iterate_numbers(value) for text in (repr(number), f"{number:.6g}", f"{number:.5g}")
    }


def iterate_numbers(value: Any) -> Iterator[float]:
    """Yield the numbers with at least five decimals."""
    if isinstance(value, float) and LONG_DECIMAL.fullmatch(repr(value)):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from iterate_numbers(item)


def read_exact_results(contest: Contest) -> Any:
    """Return the results of submissions, guesses and boards as organizers see them."""
    submissions = [contest.arena.get(f"/submissions/{item}").json()["result"] for item in contest.secrets]
    with transaction() as session:
        guesses = [item.outcome for item in session.scalars(select(Guess))]
    boards = [contest.get_board(board_name, organizer=True)["rows"] for board_name in BOARDS]
    return [submissions, guesses, boards]


SECONDS = re.compile(r"\d\d:\d\d:\d\d\.\d+")
"""Fractions of seconds are removed because their digits may coincide with a score's."""


def read_everything(contest: Contest, viewer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the answer of every GET route to a visitor or a team, with any identifier in the path."""
    app = contest.arena.client.app
    assert isinstance(app, FastAPI)
    token = contest.arena.get_team_token(viewer["team"]) if viewer else None
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for route in sorted(
        {str(context.path) for context in iter_route_contexts(app.routes) if "GET" in (context.methods or ())}
    ):
        if any(part in route for part in EXCLUDED_PARTS):
            continue
        for path in expand_paths(route, contest):
            response = contest.arena.client.get(path, headers=headers)
            yield path, SECONDS.sub("", "\n".join([str(response.headers), *iterate_texts(response)]))


def expand_paths(route: str, contest: Contest) -> Iterator[str]:
    with transaction() as session:
        identifiers: dict[str, list[str]] = {
            "slug": [contest.arena.slug],
            "submission_id": list(contest.secrets),
            "target_id": list(map(str, session.scalars(select(Target.id)))),
            "team_id": list(map(str, session.scalars(select(Team.id)))),
            "user_id": list(map(str, session.scalars(select(User.id)))),
            "file": ["anonymized.csv"],
        }
    fields = [name for _, name, _, _ in Formatter().parse(route) if name]
    for values in product(*(identifiers.get(name, [str(uuid4())]) for name in fields)):
        yield route.format(**dict(zip(fields, values, strict=True)))


def iterate_texts(response: Any) -> Iterator[str]:
    """Yield the text of the body or of each file of an archive."""
    if response.headers.get("content-type") != "application/zip":
        yield response.text
        return
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        for name in archive.namelist():
            yield name + archive.read(name).decode()


@pytest.mark.full
def test_no_exact_number_of_a_team_stands_in_any_output_before_the_reveal(client: TestClient) -> None:
    """The contest shows the teams on their targets."""
    contest = Contest.create(client, extra_toml='[ranking]\nrule = "rank_sum"')
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    search_outputs(contest, own_submission=green)
    contest.open_attacks()
    for team, submission, rows in (
        ("red", blue, 7),
        ("blue", red, 11),
        ("green", red, 13),
        ("red", green, 17),
    ):
        contest.submit_correct_guess(team, submission, rows)
    assert {target["team"] for target in contest.list_targets("green")} == {"red", "blue", "green"}
    paths = search_outputs(contest, own_submission=green)
    assert {f"/targets/{target['id']}" for target in contest.list_targets("green")} <= paths
    contest.close_attacks()
    run_clock()
    assert load_competition().revealed_at is not None
    public_text = "".join(text for _, text in read_everything(contest, {}))
    assert (
        len([number for number in list_number_texts(read_exact_results(contest)) if number in public_text])
        > 20
    )


def search_outputs(contest: Contest, *, own_submission: str) -> set[str]:
    """Search all outputs for a visitor and for the team of ``own_submission``; return the paths read."""
    secret_numbers = list_number_texts(read_exact_results(contest))
    assert len(secret_numbers) > 50
    paths: set[str] = set()
    for viewer in VIEWERS:
        own_result = contest.arena.get(f"/submissions/{own_submission}").json()["result"] if viewer else None
        hidden_numbers = secret_numbers - list_number_texts(own_result)
        for path, text in read_everything(contest, viewer):
            leaks = {number for number in hidden_numbers if number in text}
            assert not leaks, f"{path} shows {sorted(leaks)[:3]}"
            paths.add(path)
    return paths


def read_owners(contest: Contest) -> dict[str, set[str | None]]:
    """Return the teams that each output shows on targets, to team green and to a visitor."""
    token = contest.arena.get_team_token("green")
    archive = contest.arena.get(f"{contest.path}/targets.zip", token=token).content
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        packed_teams = {
            line["team"] for line in csv.DictReader(zip_file.read("commitments.csv").decode().splitlines())
        }
    head = contest.arena.client.get(f"/api/v1{contest.path}/boards/matrix.csv").text.splitlines()[0]
    pages = [
        get_page(contest.arena, f"/targets/{item['id']}", team="green").text
        for item in contest.list_targets("green")
    ]
    return {
        "list": {target["team"] for target in contest.list_targets("green")},
        "archive": packed_teams,
        "manifest": {
            target["team"]
            for target in contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()["targets"]
        },
        "matrix": {target["team"] for target in contest.get_board("matrix")["targets"]},
        "csv": {team for team in ("red", "blue") if f" ({team})" in head},
        "pages": {team for team in ("red", "blue") if any(f"<dd>{team}</dd>" in item for item in pages)},
    }


@pytest.mark.parametrize("owners", ["hidden", "shown"])
def test_targets_show_their_teams_unless_these_are_hidden_until_the_reveal(
    client: TestClient, owners: str
) -> None:
    more = "" if owners == "shown" else '[publication]\nowners = "hidden"'
    contest = Contest.create(client, extra_toml=more)
    contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    teams: set[str | None] = {"red", "blue"}
    named = dict.fromkeys(("list", "archive", "manifest", "matrix", "csv", "pages"), teams)
    blank: set[str | None] = {None}
    unnamed = dict.fromkeys(named, blank) | {"archive": {""}, "csv": set(), "pages": set()}
    assert read_owners(contest) == (named if owners == "shown" else unnamed)
    assert not any(row["built_in"] for row in contest.get_board("matrix")["rows"])
    contest.close_attacks()
    run_clock()
    assert read_owners(contest) == named


def test_visitors_who_may_not_see_the_boards_see_no_team_in_the_manifest(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nboard = "teams"')
    contest.submit("red")
    contest.open_attacks()
    manifest = f"{contest.path}/manifest"
    assert contest.arena.client.get(f"/api/v1{manifest}").json()["targets"][0]["team"] is None
    assert (
        contest.arena.get(manifest, token=contest.arena.get_team_token("blue")).json()["targets"][0]["team"]
        == "red"
    )


def test_a_file_of_format_1_with_the_removed_key_is_read(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nowners = "hidden"\nowners_at_least = 3')
    contest.submit("red")
    contest.open_attacks()
    assert load_competition().published_at is not None
    assert contest.list_targets("blue")[0]["team"] is None
