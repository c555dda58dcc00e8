"""Rehearsals are invisible: every route answers strangers as if the rehearsal did not exist."""

import functools
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.db.models import (
    Clarification,
    Competition,
    Guess,
    Rescore,
    Round,
    Submission,
    Target,
    ThresholdReport,
)
from app.db.transaction import transaction
from app.http.session_cookie import COOKIE
from app.services.accounts import tokens
from app.services.contests import competitions
from app.services.organizing import rehearsal_moves, rehearsals
from tests.security.access_scenario import CONTENT, AccessScenario
from tests.security.access_table import TABLE
from tests.support.arena import API, PASSWORD, build_competition_toml
from tests.support.rehearsal import RehearsedContest

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("rehearsal_service")]

STRANGERS = ("visitor", "other organizer")
SLUG_ROUTES = [route for route in TABLE if "{slug}" in route]
UNKNOWN_SUFFIX = "x"
"""Replaces the last character of the rehearsal's slug, to get the slug of no competition."""


def begin_rehearsal(scenario: AccessScenario) -> str:
    """Begin a rehearsal of the scenario's competition and return its slug."""
    with transaction() as session:
        principal = tokens.authenticate(session, str(scenario.create_token("organizer")))
        return rehearsals.begin(session, principal, scenario.arena.slug).address


def request(
    scenario: AccessScenario,
    route: str,
    audience: str,
    path_params: dict[str, Any],
    content: Any,
    *,
    credentials: dict[str, tuple[str | None, str | None]] | None = None,
) -> Response:
    """Send an audience's request. ``credentials``: existing token and session of each audience."""
    token, cookie = (credentials or {}).get(audience) or (
        scenario.create_token(audience),
        scenario.begin_session(audience),
    )
    method, path = route.split(" ")
    # The length of a compressed response depends on the slug in it.
    headers = {"Accept-Encoding": "identity"}
    headers |= {"Sec-Fetch-Site": "same-origin", "X-Confirm-Password": quote(PASSWORD)}
    if path.startswith(API) and token:
        headers["Authorization"] = f"Bearer {token}"
    elif not path.startswith(API) and cookie:
        headers["Cookie"] = f"{COOKIE}={cookie}"
    response: Response = scenario.arena.client.request(
        method, path.format(**path_params), headers=headers, follow_redirects=False, **content
    )
    scenario.arena.client.cookies.clear()
    return response


def normalize_response(response: Response, slug: str) -> tuple[Any, ...]:
    """Return a response as lines, without its slug and the headers that differ each time."""
    headers = {
        name: value for name, value in response.headers.items() if name not in {"x-request-id", "etag"}
    }
    text = repr((response.status_code, headers, response.text))
    return tuple(text.replace(slug, "SLUG").splitlines())


def test_strangers_cannot_tell_a_rehearsal_from_an_unknown_slug(
    client: TestClient,
) -> None:
    scenario = AccessScenario.open(client)
    slug = begin_rehearsal(scenario)
    unknown_slug = slug[:-1] + UNKNOWN_SUFFIX
    credentials = {
        audience: (scenario.create_token(audience), scenario.begin_session(audience))
        for audience in STRANGERS
    }
    is_same_by_case = {}
    for route in SLUG_ROUTES:
        content = CONTENT[route](scenario) if route in CONTENT else {}
        path_params = scenario.build_path_params(route)
        for audience in STRANGERS:
            actual, unknown_response = (
                normalize_response(
                    request(
                        scenario,
                        route,
                        audience,
                        path_params | {"slug": name},
                        content,
                        credentials=credentials,
                    ),
                    name,
                )
                for name in (slug, unknown_slug)
            )
            is_same_by_case[route, audience] = actual == unknown_response
    assert [case for case, is_same in is_same_by_case.items() if not is_same] == []
    assert len(is_same_by_case) > 200


ID_PARAMS = (
    "submission_id",
    "target_id",
    "guess_id",
    "report_id",
    "rescore_id",
    "announcement_id",
    "clarification_id",
)
ID_ROUTES = [
    route for route in TABLE if "{slug}" not in route and any(f"{{{param}}}" in route for param in ID_PARAMS)
]


def create_parts(scenario: AccessScenario, rehearsal_contest: RehearsedContest) -> dict[str, str]:
    """Create one of each thing that a rehearsal may have, and return their ids by path parameter."""
    announcement = scenario.arena.post(
        f"/competitions/{rehearsal_contest.slug}/announcements", json={"text": {"en": "Hello"}}
    )
    assert announcement.status_code == 201, announcement.text
    with transaction() as session:
        row = session.scalars(
            select(Round).join(Competition).where(Competition.slug == rehearsal_contest.slug)
        ).one()
        submission = session.scalars(select(Submission).where(Submission.round_id == row.id)).first()
        target = session.scalars(select(Target.id).where(Target.round_id == row.id)).first()
        guess = session.scalars(select(Guess.id).where(Guess.round_id == row.id)).first()
        assert submission is not None
        assert guess is not None
        owner = {
            "competition_id": row.competition_id,
            "team_id": submission.team_id,
            "user_id": submission.user_id,
        }
        question = Clarification(question="How many rows?", **owner)
        rescore = Rescore(
            round_id=row.id,
            user_id=submission.user_id,
            file=row.file,
            competition_file=row.file,
            scales={},
            replaces="",
        )
        report = ThresholdReport(
            round_id=row.id,
            user_id=submission.user_id,
            file=row.file,
            original=row.original,
            question={},
        )
        session.add_all([question, rescore, report])
        session.flush()
        ids = {"submission_id": submission.id, "target_id": target, "guess_id": guess}
        ids |= {"clarification_id": question.id, "rescore_id": rescore.id, "report_id": report.id}
    return {name: str(identifier) for name, identifier in ids.items()} | {
        "announcement_id": announcement.json()["id"]
    }


def test_strangers_cannot_tell_rehearsal_parts_from_unknown_ids(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsals, "MAX_TEAMS", 2)
    monkeypatch.setattr(rehearsal_moves, "GUESSES_PER_TEAM", 1)
    scenario = AccessScenario.open(client)
    rehearsal_contest = RehearsedContest.begin(scenario.second_contest.arena)
    scenario = replace(scenario, arena=scenario.second_contest.arena)
    rehearsal_contest.run_first_phase()
    rehearsal_contest.run_second_phase()
    rehearsal_contest.reveal()
    ids = create_parts(scenario, rehearsal_contest)
    is_same_by_case = {}
    for route in ID_ROUTES:
        content = CONTENT[route](scenario) if route in CONTENT else {}
        for audience in STRANGERS:
            responses = []
            for names in (ids, dict.fromkeys(ids, str(uuid4()))):
                response = request(
                    scenario, route, audience, scenario.build_path_params(route) | names, content
                )
                responses.append(
                    functools.reduce(
                        replace_id, names.values(), repr(normalize_response(response, rehearsal_contest.slug))
                    )
                )
            is_same_by_case[route, audience] = responses[0] == responses[1]
    assert [case for case, is_same in is_same_by_case.items() if not is_same] == []
    assert len(is_same_by_case) > 40


def replace_id(text: str, name: str) -> str:
    return text.replace(name, "ID")


LIST_ROUTES = ("GET /", f"GET {API}/competitions", f"GET {API}/me", "GET /account", "GET /competitions")


def test_lists_contain_no_rehearsals(client: TestClient) -> None:
    scenario = AccessScenario.open(client)
    slug = begin_rehearsal(scenario)
    for route in LIST_ROUTES:
        for audience in (*STRANGERS, "organizer", "administrator"):
            response = request(scenario, route, audience, {}, {})
            assert slug not in response.text
            assert "Rehearsal" not in response.text


@pytest.mark.parametrize("audience", ["organizer", "administrator"])
def test_organizers_see_the_rehearsal_until_it_ends(client: TestClient, audience: str) -> None:
    scenario = AccessScenario.open(client)
    slug = begin_rehearsal(scenario)
    routes = (
        "GET /competitions/{slug}",
        "GET /competitions/{slug}/organize",
        f"GET {API}/competitions/{{slug}}",
    )
    statuses = [request(scenario, route, audience, {"slug": slug}, {}).status_code for route in routes]
    assert statuses == [200, 200, 200]
    with transaction() as session:
        principal = tokens.authenticate(
            session, str(scenario.create_token("organizer"))
        ).mark_reauthenticated()
        rehearsals.end(session, principal, scenario.arena.slug)
    assert [request(scenario, route, audience, {"slug": slug}, {}).status_code for route in routes] == [
        404
    ] * 3


def test_rehearsal_follows_changes_of_the_organizers(
    client: TestClient,
) -> None:
    scenario = AccessScenario.open(client)
    slug = begin_rehearsal(scenario)
    path = f"/competitions/{scenario.arena.slug}/organizers"
    with transaction() as session:
        name = tokens.authenticate(session, str(scenario.create_token("other organizer"))).name
    route = f"GET {API}/competitions/{{slug}}"
    assert request(scenario, route, "other organizer", {"slug": slug}, {}).status_code == 404
    added = scenario.arena.post(path, json={"name": name}).json()
    assert request(scenario, route, "other organizer", {"slug": slug}, {}).status_code == 200
    removal_route = f"DELETE {API}/competitions/{{slug}}/organizers/{{user_id}}"
    request(
        scenario, removal_route, "organizer", {"slug": scenario.arena.slug, "user_id": added["user_id"]}, {}
    )
    assert request(scenario, route, "other organizer", {"slug": slug}, {}).status_code == 404


def test_slug_of_a_possible_rehearsal_cannot_be_taken(
    client: TestClient,
) -> None:
    scenario = AccessScenario.open(client)
    slug = begin_rehearsal(scenario)
    for name in (slug, f"{slug}-2", "never-heard-of-rehearsal"):
        response = scenario.arena.post("/competitions", content=build_competition_toml(name))
        assert (response.status_code, response.json()["code"]) == (409, "slug_reserved")
    with transaction() as session:
        assert all(row.address != slug for row in competitions.list_contests(session))
