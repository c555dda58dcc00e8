"""Pages: the people: sign-in, accounts, teams."""

from collections.abc import Callable
from typing import Any

from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, Arena, numbers

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /sign-in": (200, 200, 200, 200, 200, 200),
    "POST /sign-in": (303, 303, 303, 303, 303, 303),
    "POST /sign-out": (303, 303, 303, 303, 303, 303),
    "GET /sign-up": (200, 303, 303, 303, 303, 303),
    "POST /sign-up": (303, 303, 303, 303, 303, 303),
    "GET /join": (303, 200, 200, 200, 200, 200),
    "POST /join": (303, 303, 303, 303, 303, 409),
    "GET /password": (200, 200, 200, 200, 200, 200),
    "POST /password": (303, 303, 303, 303, 303, 303),
    "GET /account": (303, 200, 200, 200, 200, 200),
    "GET /account/tokens": (303, 303, 303, 303, 303, 303),
    "POST /account/tokens": (303, 201, 201, 201, 201, 201),
    "POST /account/tokens/{token_id}/revoke": (303, 404, 303, 404, 404, 404),
    "GET /account/password": (303, 303, 303, 303, 303, 303),
    "POST /account/password": (303, 303, 303, 303, 303, 303),
    "GET /competitions/{slug}/team": (303, 200, 200, 403, 403, 403),
    "GET /competitions/{slug}/team/invites": (303, 303, 303, 303, 303, 303),
    "POST /competitions/{slug}/team/invites": (303, 201, 201, 403, 403, 403),
    "POST /competitions/{slug}/team/approach": (303, 303, 303, 403, 403, 403),
    "GET /competitions/{slug}/team/members/{user_id}": (303, 404, 200, 403, 403, 403),
    "POST /competitions/{slug}/team/members/{user_id}": (303, 404, 303, 403, 403, 403),
}


def an_invite(stage: Any) -> dict[str, Any]:
    """To found a team in the stage's competition."""
    code = stage.arena.post(f"/competitions/{stage.arena.slug}/invites", json={}).json()["code"]
    return {"params": {"invite": code}}


def a_sign_up(stage: Any) -> dict[str, Any]:
    number = next(numbers)
    return {
        **an_invite(stage),
        "data": {"team": f"team {number}", "name": f"person {number}", "password": PASSWORD},
    }


def a_join(stage: Any) -> dict[str, Any]:
    """Into a competition that none of the audiences has to do with yet."""
    arena = Arena.opened(stage.arena.client, slug=f"page-{next(numbers)}")
    code = arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"]
    return {"params": {"invite": code}, "data": {"team": "newcomers"}}


def a_password_link(stage: Any) -> dict[str, Any]:
    name = f"person {next(numbers)}"
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD)
    asked = {"token": stage.token("administrator"), "json": {"name": name}}
    code = stage.arena.post("/users/password-links", **asked).json()["code"]
    return {"params": {"code": code}, "data": {"password": PASSWORD}}


def a_token_of_own_team(stage: Any) -> dict[str, str]:
    found = stage.arena.get("/tokens", token=stage.token("own team")).json()
    return {"token_id": next(one["id"] for one in found if one["current"])}


def a_colleague_in_own_team(stage: Any) -> dict[str, str]:
    path = f"/competitions/{stage.arena.slug}/team/invites"
    code = stage.arena.post(path, token=stage.token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(numbers)}", "password": PASSWORD}
    return {"user_id": stage.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /sign-up": a_sign_up,
    "GET /join": an_invite,
    "POST /join": a_join,
    "POST /password": a_password_link,
    "POST /account/tokens": lambda _: {
        "data": {"name": "laptop", "scopes": "read", "days": "30", "password": PASSWORD}
    },
    "POST /account/password": lambda _: {"data": {"old": PASSWORD, "new": PASSWORD}},
    "POST /competitions/{slug}/team/invites": lambda _: {"data": {"uses": "2", "password": PASSWORD}},
}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /account/tokens/{token_id}/revoke": a_token_of_own_team,
    "GET /competitions/{slug}/team/members/{user_id}": a_colleague_in_own_team,
    "POST /competitions/{slug}/team/members/{user_id}": a_colleague_in_own_team,
}
"""What the names in a path stand for, where the stage's own do not do."""
