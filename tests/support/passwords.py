"""Passwords and the codes that set them."""

from fastapi.testclient import TestClient
from httpx2 import Response

from app.core.identity.session_cookie import COOKIE
from tests.support.arena import API, PASSWORD, Arena

NEW_PASSWORD = "battery staple"


def create_password_link(arena: Arena, name: str, *, token: str | None = None) -> Response:
    return arena.post("/users/password-links", token=token, json={"name": name})


def create_password_code(arena: Arena, name: str) -> str:
    response = create_password_link(arena, name)
    assert response.status_code == 201, response.text
    return str(response.json()["code"])


def set_password(client: TestClient, code: str, password: str = NEW_PASSWORD) -> Response:
    response: Response = client.post(f"{API}/password", json={"code": code, "password": password})
    return response


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
