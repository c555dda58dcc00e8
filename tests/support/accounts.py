"""Sign-up, sign-in and parallel requests of test accounts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from anoncup.schemas.fields import Role
from app.core.db.models import AuditEntry, Base
from app.core.db.transaction import read_clock, transaction
from app.core.identity import users
from app.core.identity.session_cookie import COOKIE
from app.teams.models import Invite
from tests.support.arena import API, PASSWORD, Arena, serial_numbers
from tests.support.database_rows import load_all, load_one

PARALLEL_CALLS = 10


def create_invite(arena: Arena, *, uses: int = 1) -> str:
    response = arena.post(f"/competitions/{arena.slug}/invites", json={"uses": uses})
    assert response.status_code == 201, response.text
    return str(response.json()["code"])


def sign_up(client: TestClient, code: str, **fields: Any) -> Response:
    number = next(serial_numbers)
    body = {"invite": code, "team": f"team {number}", "name": f"person {number}", "password": PASSWORD}
    response: Response = client.post(f"{API}/signup", json=body | fields)
    return response


def run_in_parallel(call: Callable[[int], Response]) -> list[Response]:
    with ThreadPoolExecutor(PARALLEL_CALLS) as pool:
        return list(pool.map(call, range(PARALLEL_CALLS)))


def count_rows(model: type[Base]) -> int:
    return load_one(select(func.count()).select_from(model))


def list_uses_left() -> list[int]:
    return load_all(select(Invite.uses_left))


def request_token(client: TestClient, **fields: Any) -> Response:
    response: Response = client.post(f"{API}/tokens", json=fields)
    return response


def read_database_time() -> datetime:
    """Return the time of the database, which decides all deadlines."""
    with transaction() as session:
        return read_clock(session)


def get_me(client: TestClient, token: str) -> Response:
    response: Response = client.get(f"{API}/me", headers={"Authorization": f"Bearer {token}"})
    return response


def create_person(name: str, role: Role = Role.PARTICIPANT) -> None:
    with transaction() as session:
        users.create_user(session, name=name, password=PASSWORD, role=role)


def sign_up_member(arena: Arena, code: str, **fields: Any) -> dict[str, Any]:
    """Sign up with a team's invite. Return the new member."""
    response = sign_up(arena.client, code, **({"team": None} | fields))
    assert response.status_code == 201, response.text
    user: dict[str, Any] = response.json()
    return user


def create_team_invite(arena: Arena, team: str, *, uses: int = 1) -> str:
    """Return an invite code that the team's first member creates."""
    path = f"/competitions/{arena.slug}/team/invites"
    response = arena.post(path, team=team, json={"uses": uses})
    assert response.status_code == 201, response.text
    return str(response.json()["code"])


def sign_in_new_person(client: TestClient, name: str, role: Role = Role.PARTICIPANT) -> str:
    """Create a person and return their token."""
    create_person(name, role)
    return str(request_token(client, name=name, password=PASSWORD).json()["token"])


def read_refusal(response: Response) -> tuple[int, str]:
    """Return the status and the error code of a refusal."""
    return response.status_code, response.json()["code"]


def list_audit_entries() -> list[tuple[str, str, str]]:
    """Return the entries of the audit log as (actor, action, subject), oldest first."""
    rows = load_all(select(AuditEntry).order_by(AuditEntry.number))
    return [(row.actor, row.action, row.subject) for row in rows]


def sign_in_browser(client: TestClient, name: str) -> str:
    client.post(
        "/sign-in",
        data={"name": name, "password": PASSWORD},
        headers={"Sec-Fetch-Site": "same-origin"},
        follow_redirects=False,
    )
    cookie = client.cookies[COOKIE]
    client.cookies.clear()
    return str(cookie)
