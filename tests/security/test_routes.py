"""Access control: every route of the application, called by every audience."""

import logging
import re

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from app.main import create_app
from tests.security.access_scenario import AccessScenario
from tests.security.access_table import AUDIENCES, TABLE
from tests.support.arena import PASSWORD
from tests.support.secret_search import build_needles, find_leaks

QUICK_AUDIENCES = ("visitor", "own team")
"""Audiences whose routes `make test` requests; `make test-rest` requests those of all others."""


def list_routes() -> set[str]:
    """Return ``METHOD path`` of every route; a mount serves GET below its path."""
    routes = set()
    for route in iter_route_contexts(create_app().routes):
        methods = route.methods
        if methods is None:
            routes.add(f"GET {route.path}/{{path}}")
        else:
            routes |= {f"{method} {route.path}" for method in methods}
    return routes


def test_access_table_lists_exactly_the_routes(
    session_settings: object,
) -> None:
    assert list_routes() == set(TABLE)


@pytest.mark.parametrize(
    "audience",
    [name if name in QUICK_AUDIENCES else pytest.param(name, marks=pytest.mark.full) for name in AUDIENCES],
)
def test_routes_answer_each_audience_as_expected_without_secrets(
    client: TestClient, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, audience: str
) -> None:
    caplog.set_level(logging.DEBUG)
    scenario = AccessScenario.open(client)
    canaries = build_needles(scenario.secret) | {PASSWORD.encode()}
    responses = {route: scenario.request(route, audience) for route in TABLE}
    statuses = {route: response.status_code for route, response in responses.items()}
    assert statuses == {route: row[AUDIENCES.index(audience)] for route, row in TABLE.items()}
    contents = {
        route: response.content + repr(response.headers.multi_items()).encode()
        for route, response in responses.items()
        if route.startswith("GET ")
    }
    assert len(contents) > 100
    assert [route for route, content in contents.items() if find_leaks(content, canaries)] == []
    # No GET response contains a cookie either; the reference has its name, and metrics begin like a token.
    token = re.compile(rb"anoncup_(session=|[\w-]{43})")
    assert [route for route, content in contents.items() if token.search(content)] == []
    captured = capfd.readouterr()
    log_text = (captured.out + captured.err + caplog.text).encode()
    assert b"/api/v1/signup" in log_text
    team_tokens = {team_token.encode() for team_token in scenario.arena.team_tokens.values()}
    assert find_leaks(log_text, canaries | team_tokens) == []


@pytest.mark.parametrize("wrong_token", ["", "nonsense", "anoncup_" + "x" * 43, "ü", "a" * 5000])
def test_invalid_token_is_refused_on_public_routes(client: TestClient, wrong_token: str) -> None:
    headers = {b"Authorization": b"Bearer " + wrong_token.encode("latin-1")}
    for path in ("/api/v1/me", "/"):
        response = client.get(path, headers=headers)
        expected = 200 if not wrong_token and path == "/" else 401
        assert response.status_code == expected
        assert response.headers.get("www-authenticate") == ("Bearer" if expected == 401 else None)


@pytest.mark.full
def test_refused_request_changes_nothing(client: TestClient) -> None:
    scenario = AccessScenario.open(client)
    competition_before = scenario.arena.get(f"/competitions/{scenario.arena.slug}").json()
    refused = [
        (route, audience)
        for route, row in TABLE.items()
        for audience, status in zip(AUDIENCES, row, strict=True)
        if route.startswith(("POST", "PUT", "DELETE")) and status in {401, 403}
    ]
    for route, audience in refused:
        scenario.request(route, audience)
    assert len(refused) >= 20
    assert scenario.arena.get(f"/competitions/{scenario.arena.slug}").json() == competition_before
    slugs = {competition["slug"] for competition in scenario.arena.get("/competitions").json()}
    assert not [slug for slug in slugs if slug.startswith("made-")]
    assert [row["entries"] for row in scenario.arena.get_board()["rows"]] == [1]
