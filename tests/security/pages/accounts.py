"""Access to the pages of sign-in, accounts and teams."""

from collections.abc import Callable
from typing import Any

from app.core.db.transaction import transaction
from app.core.identity import users
from tests.support.arena import API, PASSWORD, Arena, serial_numbers

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /sign-in": (200, 200, 200, 200, 200, 200),
    "POST /sign-in": (303, 303, 303, 303, 303, 303),
    "GET /sign-in/{provider}": (303, 303, 303, 303, 303, 303),
    "POST /sign-in/{provider}": (404, 404, 404, 404, 404, 404),
    "GET /sign-in/{provider}/callback": (422, 422, 422, 422, 422, 422),
    "POST /sign-out": (303, 303, 303, 303, 303, 303),
    "GET /sign-up": (200, 303, 303, 303, 303, 303),
    "POST /sign-up": (303, 303, 303, 303, 303, 303),
    "GET /join": (303, 200, 200, 200, 200, 200),
    "POST /join": (303, 303, 303, 303, 303, 409),
    # Without a mail server, which is the default, these pages do not exist.
    "GET /password/forgotten": (404, 404, 404, 404, 404, 404),
    "POST /password/forgotten": (404, 404, 404, 404, 404, 404),
    "GET /email": (404, 404, 404, 404, 404, 404),
    "POST /email": (404, 404, 404, 404, 404, 404),
    "GET /email/unsubscribe": (404, 404, 404, 404, 404, 404),
    "POST /email/unsubscribe": (404, 404, 404, 404, 404, 404),
    "GET /account/email": (404, 404, 404, 404, 404, 404),
    "POST /account/email": (404, 404, 404, 404, 404, 404),
    "POST /account/email/subscription": (404, 404, 404, 404, 404, 404),
    "POST /account/email/remove": (404, 404, 404, 404, 404, 404),
    "GET /password": (200, 200, 200, 200, 200, 200),
    "POST /password": (303, 303, 303, 303, 303, 303),
    "GET /account": (303, 200, 200, 200, 200, 200),
    "GET /account/tokens": (303, 303, 303, 303, 303, 303),
    "POST /account/tokens": (303, 201, 201, 201, 201, 201),
    "POST /account/tokens/{token_id}/revoke": (303, 404, 303, 404, 404, 404),
    "GET /account/identities/{provider}": (303, 303, 303, 303, 303, 303),
    "POST /account/identities/{provider}": (303, 404, 404, 404, 404, 404),
    "GET /account/unlink": (303, 303, 303, 303, 303, 303),
    "POST /account/unlink": (303, 403, 403, 403, 403, 403),
    "GET /account/confirm": (303, 303, 303, 303, 303, 303),
    "POST /account/confirm": (303, 404, 404, 404, 404, 404),
    "GET /account/password": (303, 303, 303, 303, 303, 303),
    "POST /account/password": (303, 303, 303, 303, 303, 303),
    "GET /competitions/{slug}/team": (303, 200, 200, 403, 403, 403),
    "GET /competitions/{slug}/team/invites": (303, 303, 303, 303, 303, 303),
    "POST /competitions/{slug}/team/invites": (303, 201, 201, 403, 403, 403),
    "POST /competitions/{slug}/team/method": (303, 303, 303, 403, 403, 403),
    "GET /competitions/{slug}/team/members/{user_id}": (303, 404, 200, 403, 403, 403),
    "POST /competitions/{slug}/team/members/{user_id}": (303, 404, 303, 403, 403, 403),
}


def create_invite(scenario: Any) -> dict[str, Any]:
    """Create an invite for a new team in the scenario's competition."""
    code = scenario.arena.post(f"/competitions/{scenario.arena.slug}/invites", json={}).json()["code"]
    return {"params": {"invite": code}}


def build_sign_up(scenario: Any) -> dict[str, Any]:
    number = next(serial_numbers)
    return {
        **create_invite(scenario),
        "data": {"team": f"team {number}", "name": f"person {number}", "password": PASSWORD},
    }


def build_join(scenario: Any) -> dict[str, Any]:
    """Build a request to join a competition that nobody in the scenario has joined."""
    arena = Arena.create(scenario.arena.client, slug=f"page-{next(serial_numbers)}")
    code = arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"]
    return {"params": {"invite": code}, "data": {"team": "newcomers"}}


def create_password_link(scenario: Any) -> dict[str, Any]:
    name = f"person {next(serial_numbers)}"
    with transaction() as session:
        users.create_user(session, name=name, password=PASSWORD)
    request = {"token": scenario.create_token("administrator"), "json": {"name": name}}
    code = scenario.arena.post("/users/password-links", **request).json()["code"]
    return {"params": {"code": code}, "data": {"password": PASSWORD}}


def find_own_team_token(scenario: Any) -> dict[str, str]:
    tokens = scenario.arena.get("/tokens", token=scenario.create_token("own team")).json()
    return {"token_id": next(token["id"] for token in tokens if token["current"])}


def add_own_team_member(scenario: Any) -> dict[str, str]:
    path = f"/competitions/{scenario.arena.slug}/team/invites"
    code = scenario.arena.post(path, token=scenario.create_token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(serial_numbers)}", "password": PASSWORD}
    return {"user_id": scenario.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /sign-up": build_sign_up,
    "GET /join": create_invite,
    "POST /join": build_join,
    "POST /password": create_password_link,
    "POST /account/tokens": lambda _: {
        "data": {"name": "laptop", "scopes": "read", "days": "30", "password": PASSWORD}
    },
    "POST /account/identities/{provider}": lambda _: {"data": {"password": PASSWORD}},
    "POST /account/password": lambda _: {"data": {"old": PASSWORD, "new": PASSWORD}},
    "POST /competitions/{slug}/team/invites": lambda _: {"data": {"uses": "2", "password": PASSWORD}},
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /account/tokens/{token_id}/revoke": find_own_team_token,
    "GET /competitions/{slug}/team/members/{user_id}": add_own_team_member,
    "POST /competitions/{slug}/team/members/{user_id}": add_own_team_member,
}
"""Path parameters that differ from those of the scenario."""
