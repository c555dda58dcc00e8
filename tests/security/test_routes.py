"""Who may call what: every route of the application, asked by every audience."""

import logging
import re

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from app.main import create_app
from tests.security.stage import Stage
from tests.security.table import AUDIENCES, TABLE
from tests.support.arena import PASSWORD
from tests.support.secret_search import needles, seen

EVERYBODY = {route: dict(zip(AUDIENCES, row, strict=True)) for route, row in TABLE.items()}
FIRST_OF_EACH_ANSWER = {
    route: {
        audience: status
        for audience, status, before in zip(AUDIENCES, row, (None, *row), strict=False)
        if status != before
    }
    for route, row in TABLE.items()
}
"""The table; of neighbouring audiences that get the same answer only the first."""


def routes_of_the_app() -> set[str]:
    """``METHOD path`` of everything the application answers; a mount answers GET below its path."""
    found = set()
    for route in iter_route_contexts(create_app().routes):
        methods = route.methods
        if methods is None:
            found.add(f"GET {route.path}/{{path}}")
        else:
            found |= {f"{method} {route.path}" for method in methods}
    return found


def test_every_route_of_the_app_is_in_the_table_and_the_table_names_no_other(
    session_settings: object,
) -> None:
    assert routes_of_the_app() == set(TABLE)


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(FIRST_OF_EACH_ANSWER, id="first of each answer"),
        pytest.param(EVERYBODY, id="everybody", marks=pytest.mark.full),
    ],
)
def test_every_route_answers_every_audience_as_the_table_says_and_neither_shows_nor_logs_a_secret(
    client: TestClient,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    expected: dict[str, dict[str, int]],
) -> None:
    caplog.set_level(logging.DEBUG)
    stage = Stage.opened(client)
    canaries = needles(stage.secret) | {PASSWORD.encode()}
    answers = {
        route: {audience: stage.ask(route, audience) for audience in row} for route, row in expected.items()
    }
    assert {
        route: {audience: answer.status_code for audience, answer in row.items()}
        for route, row in answers.items()
    } == expected
    shown = {
        (route, audience): answer.content + repr(answer.headers.multi_items()).encode()
        for route, row in answers.items()
        if route.startswith("GET ")
        for audience, answer in row.items()
    }
    assert len(shown) > 100
    assert [place for place, content in shown.items() if seen(content, canaries)] == []
    # A cookie is in no GET answer either; the reference tells its name, and metrics begin like a token.
    token = re.compile(rb"anoncup_(session=|[\w-]{43})")
    assert [place for place, content in shown.items() if token.search(content)] == []
    captured = capfd.readouterr()
    logged = (captured.out + captured.err + caplog.text).encode()
    assert b"/api/v1/signup" in logged
    assert seen(logged, canaries | {one.encode() for one in stage.arena.tokens.values()}) == []


@pytest.mark.parametrize("broken", ["", "nonsense", "anoncup_" + "x" * 43, "ü", "a" * 5000])
def test_a_wrong_token_is_refused_even_where_visitors_are_welcome(client: TestClient, broken: str) -> None:
    headers = {b"Authorization": b"Bearer " + broken.encode("latin-1")}
    for path in ("/api/v1/me", "/"):
        answer = client.get(path, headers=headers)
        expected = 200 if not broken and path == "/" else 401
        assert answer.status_code == expected
        assert answer.headers.get("www-authenticate") == ("Bearer" if expected == 401 else None)


@pytest.mark.full
def test_a_refused_request_changes_nothing(client: TestClient) -> None:
    stage = Stage.opened(client)
    before = stage.arena.get(f"/competitions/{stage.arena.slug}").json()
    refused = [
        (route, audience)
        for route, row in TABLE.items()
        for audience, status in zip(AUDIENCES, row, strict=True)
        if route.startswith(("POST", "PUT", "DELETE")) and status in {401, 403}
    ]
    for route, audience in refused:
        stage.ask(route, audience)
    assert len(refused) >= 20
    assert stage.arena.get(f"/competitions/{stage.arena.slug}").json() == before
    slugs = {one["slug"] for one in stage.arena.get("/competitions").json()}
    assert not [slug for slug in slugs if slug.startswith("made-")]
    assert [row["entries"] for row in stage.arena.board()["rows"]] == [1]
