"""People who sign up, sign in and do things at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from app.db.models import Base, Invite
from app.roles import Role
from app.services import accounts
from app.transaction import transaction
from tests.arena import API, PASSWORD, Arena, numbers

AT_ONCE = 10


def invite(arena: Arena, *, uses: int = 1) -> str:
    answer = arena.post(f"/competitions/{arena.slug}/invites", json={"uses": uses})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])


def sign_up(client: TestClient, code: str, **fields: Any) -> Response:
    number = next(numbers)
    body = {"invite": code, "team": f"team {number}", "name": f"person {number}", "password": PASSWORD}
    answer: Response = client.post(f"{API}/signup", json=body | fields)
    return answer


def at_once(call: Callable[[int], Response]) -> list[Response]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(call, range(AT_ONCE)))


def counted(model: type[Base]) -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def uses_left() -> list[int]:
    with transaction() as session:
        return list(session.scalars(select(Invite.uses_left)))


def token_for(client: TestClient, **fields: Any) -> Response:
    answer: Response = client.post(f"{API}/tokens", json=fields)
    return answer


def me(client: TestClient, token: str) -> Response:
    answer: Response = client.get(f"{API}/me", headers={"Authorization": f"Bearer {token}"})
    return answer


def person(name: str, role: Role = Role.PARTICIPANT) -> None:
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD, role=role)
