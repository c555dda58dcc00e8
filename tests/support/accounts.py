"""People who sign up, sign in and do things at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from anoncup.schemas.roles import Role
from app.db import now
from app.db.models import AuditEntry, Base, Invite
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, Arena, numbers

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


def database_time() -> datetime:
    """By the one clock that counts."""
    with transaction() as session:
        return now.clock(session)


def me(client: TestClient, token: str) -> Response:
    answer: Response = client.get(f"{API}/me", headers={"Authorization": f"Bearer {token}"})
    return answer


def person(name: str, role: Role = Role.PARTICIPANT) -> None:
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD, role=role)


def member(arena: Arena, code: str, **fields: Any) -> dict[str, Any]:
    """Somebody who signed up with a team's invite."""
    answer = sign_up(arena.client, code, **({"team": None} | fields))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def team_invite(arena: Arena, team: str, *, uses: int = 1) -> str:
    """A code of the team's first member."""
    path = f"/competitions/{arena.slug}/team/invites"
    answer = arena.post(path, token=arena.team(team), json={"uses": uses})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])


def signed_in(client: TestClient, name: str, role: Role = Role.PARTICIPANT) -> str:
    """The token of a new person."""
    person(name, role)
    return str(token_for(client, name=name, password=PASSWORD).json()["token"])


def told(answer: Response) -> tuple[int, str]:
    """The status and the code of a refusal."""
    return answer.status_code, answer.json()["code"]


def acts() -> list[tuple[str, str, str]]:
    """What the audit log holds: who, what, to whom."""
    with transaction() as session:
        rows = session.scalars(select(AuditEntry).order_by(AuditEntry.number))
        return [(row.actor, row.action, row.subject) for row in rows]
