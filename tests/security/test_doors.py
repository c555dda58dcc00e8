"""A browser's session opens nothing as a bearer token, an API token nothing as a cookie, and both end."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update

from anoncup.schemas.roles import Role
from app.db.models import Token
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.services.accounts import accounts
from tests.support.accounts import me, person, token_for, told
from tests.support.arena import API, PASSWORD
from tests.support.passwords import browser_session
from tests.web.spoken import said

pytestmark = pytest.mark.full

PAGES = ("/account", "/organize/new")


@pytest.fixture(autouse=True)
def olga(client: TestClient) -> None:
    person("Olga", Role.ORGANIZER)


def api_token(client: TestClient, **fields: object) -> str:
    asked = {"name": "Olga", "password": PASSWORD} | fields
    return str(token_for(client, **asked).json()["token"])


def by_cookie(client: TestClient, path: str, token: str) -> Response:
    answer: Response = client.get(path, headers={"Cookie": f"{COOKIE}={token}"}, follow_redirects=False)
    return answer


def expire(token: str) -> None:
    """Let its life end at this moment, as if it had been begun long ago."""
    own = Token.digest == accounts.digest(token)
    with transaction() as session:
        session.execute(update(Token).where(own).values(expires_at=func.clock_timestamp()))


def is_asked_to_sign_in(answer: Response) -> bool:
    return (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/sign-in")


def test_a_browsers_session_is_no_bearer_token(client: TestClient) -> None:
    cookie = browser_session(client, "Olga")
    assert [by_cookie(client, path, cookie).status_code for path in (*PAGES, f"{API}/me")] == [200] * 3
    assert told(me(client, cookie)) == (401, "invalid_token")
    assert me(client, cookie).headers["www-authenticate"] == "Bearer"
    assert me(client, cookie).headers["content-type"] == "application/problem+json"
    for path in (*PAGES, "/"):
        answer = client.get(path, headers={"Authorization": f"Bearer {cookie}"}, follow_redirects=False)
        assert told(answer) == (401, "invalid_token")


@pytest.mark.parametrize("name", ["laptop", accounts.SESSION_NAME])
def test_an_api_token_is_no_cookie_whatever_it_is_called(client: TestClient, name: str) -> None:
    token = api_token(client, token_name=name, expires_in_days=accounts.SESSION_LIFE.days)
    assert me(client, token).status_code == 200
    assert all(is_asked_to_sign_in(by_cookie(client, path, token)) for path in PAGES)
    assert "Olga" not in by_cookie(client, "/", token).text
    assert told(by_cookie(client, f"{API}/me", token)) == (401, "not_signed_in")


def test_a_session_that_has_expired_reads_as_a_visitor(client: TestClient) -> None:
    cookie, other = browser_session(client, "Olga"), browser_session(client, "Olga")
    expire(cookie)
    assert all(is_asked_to_sign_in(by_cookie(client, path, cookie)) for path in PAGES)
    assert told(by_cookie(client, f"{API}/me", cookie)) == (401, "not_signed_in")
    assert by_cookie(client, "/account", other).status_code == 200


def test_an_api_token_that_has_expired_is_refused(client: TestClient) -> None:
    token, other = api_token(client), api_token(client)
    expire(token)
    assert told(me(client, token)) == (401, "invalid_token")
    assert me(client, other).status_code == 200


def test_a_session_ends_after_a_fortnight_by_itself(client: TestClient) -> None:
    cookie = browser_session(client, "Olga")
    with transaction() as session:
        kept = session.scalars(select(Token).where(Token.digest == accounts.digest(cookie))).one()
    assert abs(kept.expires_at - kept.created_at - timedelta(days=14)) < timedelta(seconds=1)


def test_the_page_of_the_account_tells_sessions_and_tokens_apart_by_their_kind(client: TestClient) -> None:
    cookie = browser_session(client, "Olga")
    token = api_token(client, token_name=accounts.SESSION_NAME)
    listed = client.get(f"{API}/tokens", headers={"Authorization": f"Bearer {token}"}).json()
    assert [(one["name"], one["kind"], one["current"]) for one in listed] == [
        ("browser", "api", True),
        ("browser", "session", False),
    ]
    tokens, sessions = by_cookie(client, "/account", cookie).text.split('id="sessions"')
    assert f"/account/tokens/{listed[0]['id']}/revoke" in tokens
    assert said("This browser") in sessions
    assert "/revoke" not in sessions
