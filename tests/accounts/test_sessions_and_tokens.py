"""Browser sessions are no bearer tokens, API tokens are no cookies, and both expire."""

import secrets
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update

from anoncup.schemas.fields import Role
from app.core.db.models import Token
from app.core.identity import tokens
from app.core.identity.session_cookie import COOKIE
from tests.support.accounts import create_person, get_me, read_refusal, request_token, sign_in_browser
from tests.support.arena import API, PASSWORD
from tests.support.database_rows import execute, load_one
from tests.support.translations import translate

pytestmark = pytest.mark.full

PAGES = ("/account", "/organize/new")


@pytest.fixture(autouse=True)
def organizer(client: TestClient) -> None:
    create_person("Olga", Role.ORGANIZER)


def create_api_token(client: TestClient, **fields: object) -> str:
    credentials = {"name": "Olga", "password": PASSWORD} | fields
    return str(request_token(client, **credentials).json()["token"])


def get_with_cookie(client: TestClient, path: str, token: str) -> Response:
    response: Response = client.get(path, headers={"Cookie": f"{COOKIE}={token}"}, follow_redirects=False)
    return response


def is_sign_in_redirect(response: Response) -> bool:
    return (response.status_code, response.headers["location"].split("?")[0]) == (303, "/sign-in")


def test_session_cannot_be_used_as_bearer_token(client: TestClient) -> None:
    cookie = sign_in_browser(client, "Olga")
    assert [get_with_cookie(client, path, cookie).status_code for path in (*PAGES, f"{API}/me")] == [200] * 3
    assert read_refusal(get_me(client, cookie)) == (401, "invalid_token")
    assert get_me(client, cookie).headers["www-authenticate"] == "Bearer"
    assert get_me(client, cookie).headers["content-type"] == "application/problem+json"
    for path in (*PAGES, "/"):
        response = client.get(path, headers={"Authorization": f"Bearer {cookie}"}, follow_redirects=False)
        assert read_refusal(response) == (401, "invalid_token")


@pytest.mark.parametrize("name", ["laptop", tokens.SESSION_NAME])
def test_api_token_cannot_be_used_as_cookie(client: TestClient, name: str) -> None:
    token = create_api_token(client, token_name=name, expires_in_days=tokens.SESSION_LIFETIME.days)
    assert get_me(client, token).status_code == 200
    assert all(is_sign_in_redirect(get_with_cookie(client, path, token)) for path in PAGES)
    assert "Olga" not in get_with_cookie(client, "/", token).text
    assert read_refusal(get_with_cookie(client, f"{API}/me", token)) == (401, "not_signed_in")


def test_expired_session_is_treated_as_a_visitor(client: TestClient) -> None:
    cookie, other_cookie = sign_in_browser(client, "Olga"), sign_in_browser(client, "Olga")
    is_session = Token.digest == tokens.hash_token(cookie)
    execute(update(Token).where(is_session).values(expires_at=func.clock_timestamp()))
    assert all(is_sign_in_redirect(get_with_cookie(client, path, cookie)) for path in PAGES)
    assert read_refusal(get_with_cookie(client, f"{API}/me", cookie)) == (401, "not_signed_in")
    assert get_with_cookie(client, "/account", other_cookie).status_code == 200


def test_session_expires_after_two_weeks(client: TestClient) -> None:
    cookie = sign_in_browser(client, "Olga")
    row = load_one(select(Token).where(Token.digest == tokens.hash_token(cookie)))
    assert abs(row.expires_at - row.created_at - timedelta(days=14)) < timedelta(seconds=1)


def test_account_page_lists_sessions_and_tokens_separately(client: TestClient) -> None:
    cookie = sign_in_browser(client, "Olga")
    token = create_api_token(client, token_name=tokens.SESSION_NAME)
    rows = client.get(f"{API}/tokens", headers={"Authorization": f"Bearer {token}"}).json()
    assert [(row["name"], row["kind"], row["current"]) for row in rows] == [
        ("browser", "api", True),
        ("browser", "session", False),
    ]
    token_list, sessions = get_with_cookie(client, "/account", cookie).text.split('id="sessions"')
    assert f"/account/tokens/{rows[0]['id']}/revoke" in token_list
    assert translate("This browser") in sessions
    assert "/revoke" not in sessions


def test_codes_begin_with_no_hyphen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command would take such a code for an option."""
    drawn_codes = iter(["-first", "--second", "third"])
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: next(drawn_codes))
    assert tokens.generate_code(12) == "third"
