"""Passwords and codes that set them."""

from fastapi.testclient import TestClient
from httpx2 import Response

from app.http.authentication import COOKIE
from tests.support.arena import API, PASSWORD, Arena

NEW = "battery staple"


def link(arena: Arena, name: str, *, token: str | None = None) -> Response:
    return arena.post("/users/password-links", token=token, json={"name": name})


def code_for(arena: Arena, name: str) -> str:
    answer = link(arena, name)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])


def set_by(client: TestClient, code: str, password: str = NEW) -> Response:
    answer: Response = client.post(f"{API}/password", json={"code": code, "password": password})
    return answer


def browser_session(client: TestClient, name: str) -> str:
    client.post(
        "/sign-in",
        data={"name": name, "password": PASSWORD},
        headers={"Sec-Fetch-Site": "same-origin"},
        follow_redirects=False,
    )
    cookie = client.cookies[COOKIE]
    client.cookies.clear()
    return str(cookie)
