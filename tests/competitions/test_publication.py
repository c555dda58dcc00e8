"""Until the reveal only the team and the organizers see exact values that depend on its secret."""

import csv
import io
import json
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

from app.core.db.models import Guess, Target, Team, User
from app.core.db.transaction import transaction
from tests.support.arena import ROWS, build_noisy_release
from tests.support.contest import Contest, load_round, run_clock
from tests.support.database_rows import load_all
from tests.support.page_requests import get_page
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

HIDDEN_DETAILS: dict[str, Any] = {"rival_risk": None, "score": None, "measures": {}, "attackers": {}}
LONG_DECIMAL = re.compile(r"-?\d+\.\d{5,}(?:[eE][-+]?\d+)?")
EXCLUDED_PARTS = ("original", "openapi", "reference")
"""Path parts of outputs without scores: public data, and API documents generated from the code."""
BOARDS = ("anonymization", "reidentification", "matrix")
VIEWERS: tuple[dict[str, Any], ...] = ({}, {"team": "green"})


RANK_SUM_TOML = '[publication]\nfeedback = "immediate"\ndigits = {}\n[ranking]\nrule = "rank_sum"'


def find_row(board: dict[str, Any], team: str) -> dict[str, Any]:
    (match,) = (row for row in board["rows"] if row["team"] == team)
    return dict(match)


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("digits", [0, 2, 4])
def test_board_shows_other_teams_with_rounded_scores(
    client: TestClient, viewer: dict[str, Any], digits: int
) -> None:
    contest = Contest.create(client, extra_toml=RANK_SUM_TOML.format(digits))
    for team in ("red", "blue", "green"):
        contest.submit(team, score=False)
    # Three people have each other's data, so that the risk has more decimals than are shown.
    mixed = contest.arena.table.iloc[[1, 2, 0, *range(3, ROWS)]].reset_index(drop=True)
    release, secret = build_noisy_release(9, mixed)
    assert contest.arena.submit("blue", anonymized=release, secret=secret).status_code == 202
    score_everything()
    exact_board, board = contest.get_board(organizer=True), contest.get_board(**viewer)
    assert find_row(exact_board, "blue")["security"] == 0.925
    assert (board["digits"], exact_board["digits"]) == (digits, None)
    for row in board["rows"]:
        exact_row = find_row(exact_board, row["team"])
        if row["team"] == viewer.get("team"):
            assert row == exact_row | {"own": True, "on_front": row["on_front"]}
            continue
        rounded_scores = {
            "overall": round(exact_row["overall"], 4),
            "utility": round(exact_row["utility"], digits),
            "security": round(exact_row["security"], digits),
        }
        assert row == exact_row | rounded_scores | HIDDEN_DETAILS | {"on_front": row["on_front"]}
        assert all(exact_row[name] for name in ("measures", "attackers", "score"))


def list_number_texts(value: Any) -> set[str]:
    """Return the possible spellings of every number that is long enough to be unique."""
    return {
        text
        for number in iterate_long_numbers(value)
        for text in (repr(number), f"{number:.6g}", f"{number:.5g}")
    }


def iterate_long_numbers(value: Any) -> Iterator[float]:
    """Yield the numbers with at least five decimals."""
    if isinstance(value, float) and LONG_DECIMAL.fullmatch(repr(value)):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for element in value:
            yield from iterate_long_numbers(element)


def read_exact_results(contest: Contest) -> Any:
    """Return the results of submissions, guesses and boards in full precision, as organizers see them."""
    submissions = [
        contest.arena.get(f"/submissions/{submission}").json()["result"] for submission in contest.secrets
    ]
    guesses = [submission.outcome for submission in load_all(select(Guess))]
    boards = [contest.get_board(board_name, organizer=True)["rows"] for board_name in BOARDS]
    return [submissions, guesses, boards]


FRACTIONAL_SECONDS = re.compile(r"\d\d:\d\d:\d\d\.\d+")
"""Fractions of seconds are removed because their digits may coincide with a score's."""


def read_all_outputs(contest: Contest, viewer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield path and response text of every GET route for a visitor or a team, with all identifiers."""
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
            yield (
                path,
                FRACTIONAL_SECONDS.sub("", "\n".join([str(response.headers), *iterate_texts(response)])),
            )


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
def test_no_output_shows_exact_scores_before_the_reveal(client: TestClient) -> None:
    """Targets of this contest name their teams."""
    contest = Contest.create(client, extra_toml='[ranking]\nrule = "rank_sum"')
    red_submission, blue_submission, green_submission = (
        contest.submit(team) for team in ("red", "blue", "green")
    )
    require_no_exact_scores(contest, own_submission=green_submission)
    contest.open_attacks()
    for team, submission, rows in (
        ("red", blue_submission, 7),
        ("blue", red_submission, 11),
        ("green", red_submission, 13),
        ("red", green_submission, 17),
    ):
        contest.submit_correct_guess(team, submission, rows)
    assert {target["team"] for target in contest.list_targets("green")} == {"red", "blue", "green"}
    paths = require_no_exact_scores(contest, own_submission=green_submission)
    assert {f"/targets/{target['id']}" for target in contest.list_targets("green")} <= paths
    contest.close_attacks()
    run_clock()
    assert load_round().revealed_at is not None
    public_text = "".join(text for _, text in read_all_outputs(contest, {}))
    assert (
        len([number for number in list_number_texts(read_exact_results(contest)) if number in public_text])
        > 20
    )


def require_no_exact_scores(contest: Contest, *, own_submission: str) -> set[str]:
    """Assert that no output for a visitor or the team of ``own_submission`` has foreign exact scores.

    Return the paths that were read.
    """
    secret_numbers = list_number_texts(read_exact_results(contest)) - list_number_texts(
        read_kit_score(contest)
    )
    assert len(secret_numbers) > 50
    paths: set[str] = set()
    for viewer in VIEWERS:
        own_result = contest.arena.get(f"/submissions/{own_submission}").json()["result"] if viewer else None
        hidden_numbers = secret_numbers - list_number_texts(own_result)
        for path, text in read_all_outputs(contest, viewer):
            leaks = {number for number in hidden_numbers if number in text}
            assert not leaks, f"{path} shows {sorted(leaks)[:3]}"
            paths.add(path)
    return paths


def read_kit_score(contest: Contest) -> Any:
    """Return the public score of the kit's example. Equal counts of correct rows give equal intervals."""
    kit = contest.arena.client.get(f"/api/v1{contest.path}/kit.zip").content
    with zipfile.ZipFile(io.BytesIO(kit)) as archive:
        return json.loads(archive.read("example/score.json"))


def read_target_owners(contest: Contest) -> dict[str, set[str | None]]:
    """Return the teams named on targets, by output. Green requests some outputs, a visitor the others."""
    token = contest.arena.get_team_token("green")
    archive = contest.arena.get(f"{contest.path}/targets.zip", token=token).content
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        archive_teams = {
            line["team"] for line in csv.DictReader(zip_file.read("commitments.csv").decode().splitlines())
        }
    header = contest.arena.client.get(f"/api/v1{contest.path}/boards/matrix.csv").text.splitlines()[0]
    pages = [
        get_page(contest.arena, f"/targets/{item['id']}", team="green").text
        for item in contest.list_targets("green")
    ]
    return {
        "list": {target["team"] for target in contest.list_targets("green")},
        "archive": archive_teams,
        "manifest": {
            target["team"]
            for target in contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()["targets"]
        },
        "matrix": {target["team"] for target in contest.get_board("matrix")["targets"]},
        "csv": {team for team in ("red", "blue") if f" ({team})" in header},
        "pages": {team for team in ("red", "blue") if any(f"<dd>{team}</dd>" in item for item in pages)},
    }


@pytest.mark.parametrize("owners", ["hidden", "shown"])
def test_targets_name_their_teams_unless_owners_are_hidden(client: TestClient, owners: str) -> None:
    extra_toml = "" if owners == "shown" else '[publication]\nowners = "hidden"'
    contest = Contest.create(client, extra_toml=extra_toml)
    contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    teams: set[str | None] = {"red", "blue"}
    named_owners = dict.fromkeys(("list", "archive", "manifest", "matrix", "csv", "pages"), teams)
    no_owner: set[str | None] = {None}
    hidden_owners = dict.fromkeys(named_owners, no_owner) | {"archive": {""}, "csv": set(), "pages": set()}
    assert read_target_owners(contest) == (named_owners if owners == "shown" else hidden_owners)
    assert not any(row["built_in"] for row in contest.get_board("matrix")["rows"])
    contest.close_attacks()
    run_clock()
    assert read_target_owners(contest) == named_owners


def test_manifest_names_teams_only_to_viewers_of_the_boards(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nboard = "teams"')
    contest.submit("red")
    contest.open_attacks()
    manifest_path = f"{contest.path}/manifest"
    assert contest.arena.client.get(f"/api/v1{manifest_path}").json()["targets"][0]["team"] is None
    assert contest.arena.get(manifest_path, team="blue").json()["targets"][0]["team"] == "red"
