"""Drafts: every route answers those who may not know of one as for a competition that does not exist."""

from string import Formatter
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.schemas.fields import Role
from app.core.db.transaction import transaction
from app.core.identity.users import create_user
from tests.security.access_requests import PATH_PARAMS, build_baseline
from tests.security.access_scenario import AccessScenario
from tests.security.access_table import TABLE
from tests.support.arena import API, PASSWORD, Arena, build_competition_toml, serial_numbers
from tests.support.uploads import score_everything

OUTSIDERS = ("visitor", "stranger", "other organizer")
COMPARED_HEADERS = ("content-type", "location", "www-authenticate", "allow", "cache-control", "vary")
WORDS = ("name", "act", "file")
"""Path parameters that are no identifiers."""


def open_scenario(client: TestClient) -> AccessScenario:
    scenario = AccessScenario.open(client)
    with transaction() as session:
        name = f"stranger {next(serial_numbers)}"
        user = create_user(session, name=name, password=PASSWORD, role=Role.PARTICIPANT)
        scenario.users["stranger"] = user.id
    return scenario


def prepare_draft(scenario: AccessScenario) -> tuple[Arena, dict[str, str]]:
    """Create a draft with all that organizers may prepare, and return the identifiers by path parameter."""
    arena = Arena.create(scenario.arena.client, slug="undisclosed", is_draft=True)

    def post(path: str, **content: Any) -> dict[str, Any]:
        response = arena.post(f"/competitions/undisclosed/{path}", **content)
        assert response.status_code < 300, response.text
        created: dict[str, Any] = response.json()
        return created

    baseline = post("baselines", **build_baseline(scenario))
    score_everything()
    team = baseline["team_id"]
    adjustment = post("adjustments", json={"team_id": team, "points": -1.0, "reason": "late"})
    identifiers = {
        "slug": "undisclosed",
        "submission_id": baseline["receipt"]["id"],
        "team_id": team,
        "adjustment_id": adjustment["id"],
        "report_id": post("threshold-reports", json={"draws": 0})["id"],
        "announcement_id": post("announcements", json={"text": {"en": "Soon."}})["id"],
        "rescore_id": post("rescores", content=build_competition_toml("undisclosed", threshold=0.1))["id"],
        "user_id": arena.get("/me").json()["user_id"],
    }
    return arena, identifiers


def list_routes_with_identifiers() -> dict[str, list[str]]:
    """Return the names of the path parameters of the routes that take an identifier of a contest."""
    names = {route: [name for _, name, _, _ in Formatter().parse(route) if name] for route in TABLE}
    others = {"path", "provider", "token_id", *WORDS}
    return {route: parameters for route, parameters in names.items() if set(parameters) - others}


def describe(response: Response, identifiers: dict[str, str]) -> tuple[object, ...]:
    """Return what a reader sees of a response, without the identifiers that the request named."""
    headers = [response.headers.get(name, "") for name in COMPARED_HEADERS]
    texts = [response.text, *headers]
    for name, value in identifiers.items():
        texts = [text.replace(value, name) for text in texts]
    return response.status_code, *texts


@pytest.mark.parametrize(
    "audience", [OUTSIDERS[0], *(pytest.param(name, marks=pytest.mark.full) for name in OUTSIDERS[1:])]
)
def test_draft_answers_outsiders_like_a_missing_competition(client: TestClient, audience: str) -> None:
    scenario = open_scenario(client)
    arena, identifiers = prepare_draft(scenario)
    missing = {name: str(uuid4()) for name in PATH_PARAMS} | {"slug": "nonexistent"}
    hidden = missing | identifiers
    differences = []
    for route, names in list_routes_with_identifiers().items():
        words = {name: PATH_PARAMS[name](scenario, route) for name in names if name in WORDS}
        answers = [describe(scenario.request(route, audience, ids | words), ids) for ids in (hidden, missing)]
        if answers[0] != answers[1]:
            differences.append((route, *answers))
    assert differences == []
    pages = [route for route in TABLE if route.startswith("GET ") and "{" not in route]
    assert [route for route in pages if "undisclosed" in scenario.request(route, audience).text] == []
    assert arena.get("/competitions/undisclosed").json()["state"] == "draft"
    arena.publish()
    assert scenario.request("GET /competitions/{slug}", audience, {"slug": "undisclosed"}).status_code == 200
    for route in ("GET /", f"GET {API}/competitions"):
        assert "undisclosed" in scenario.request(route, audience).text


def test_administrators_see_drafts_like_organizers(client: TestClient) -> None:
    scenario = open_scenario(client)
    prepare_draft(scenario)
    for route in ("GET /", f"GET {API}/competitions"):
        assert "undisclosed" in scenario.request(route, "administrator").text
    for path in ("", "/rules", "/calendar.ics", "/organize", "/organize/publish"):
        response = scenario.request(
            f"GET /competitions/{{slug}}{path}", "administrator", {"slug": "undisclosed"}
        )
        assert response.status_code == 200, path
