"""Gzip compression, except where the size would reveal a secret."""

import pytest

from app.core.identity.session_cookie import COOKIE
from tests.support.arena import API, Arena
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

GZIP_HEADERS = {"accept-encoding": "gzip"}


def is_compressed(arena: Arena, path: str, *, signed_in: bool = False) -> bool:
    session = {"cookie": f"{COOKIE}={arena.get_session(arena.get_team_token('red'))}"} if signed_in else {}
    response = arena.client.get(path, headers=GZIP_HEADERS | session)
    assert response.status_code == 200
    return response.headers.get("content-encoding") == "gzip"


def test_pages_files_and_the_api_are_compressed(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    path = f"/competitions/{arena.slug}"
    for url in ("/", path, "/static/site.css", f"{API}/openapi.json"):
        assert is_compressed(arena, url), url
        plain = arena.client.get(url, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert "accept-encoding" in plain.headers["vary"].lower()


def test_query_with_a_cookie_is_not_compressed(arena: Arena) -> None:
    """The length of the response would tell an attacker whether the query occurs in the page (BREACH)."""
    path = f"/competitions/{arena.slug}"
    assert not is_compressed(arena, f"{path}?find=0.49", signed_in=True)
    assert is_compressed(arena, path, signed_in=True)
    assert is_compressed(arena, f"{path}?find=0.49")


def test_answer_to_a_form_is_not_compressed(arena: Arena) -> None:
    fields = {"name": "nobody", "password": "seven quiet foxes"}
    headers = GZIP_HEADERS | {"sec-fetch-site": "same-origin"}
    response = arena.client.post("/sign-in", data=fields, headers=headers)
    assert len(response.content) > 1024
    assert "content-encoding" not in response.headers
