"""The board for other sites: the visitor's view for everybody, on the only page that may be framed."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.http.session_cookie import COOKIE
from tests.support.arena import Arena
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


@pytest.fixture
def scored_arena(arena: Arena) -> Arena:
    for seed, team in enumerate(("red", "blue", "green"), 1):
        arena.submit(team, seed=seed)
    score_everything()
    return arena


def get_embed(arena: Arena, query: str = "", **headers: str) -> tuple[str, dict[str, str]]:
    response = arena.client.get(f"/competitions/{arena.slug}/embed{query}", headers=headers)
    assert response.status_code == 200, response.text
    return response.text, dict(response.headers)


def test_embed_has_the_same_bytes_for_everybody_and_no_cookie(scored_arena: Arena) -> None:
    visitor, headers = get_embed(scored_arena)
    for token in (scored_arena.get_team_token("red"), scored_arena.organizer_token):
        session = {"Cookie": f"{COOKIE}={scored_arena.get_session(token)}"}
        assert get_embed(scored_arena, **session)[0] == visitor
        assert get_embed(scored_arena, Authorization=f"Bearer {token}")[0] == visitor
    assert "set-cookie" not in headers
    assert "set-cookie" not in get_embed(scored_arena, "?lang=ja")[1]
    assert 'class="own"' not in visitor
    assert 'id="scatter"' in visitor
    assert "Sign out" not in visitor


def test_only_the_embed_page_may_be_framed(scored_arena: Arena) -> None:
    _, headers = get_embed(scored_arena)
    assert "frame-ancestors *" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    for path in ("", "/boards/anonymization", "/rules", "/embed/", "/announcements.atom", "/nothing"):
        response = scored_arena.client.get(f"/competitions/{scored_arena.slug}{path}", follow_redirects=False)
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"], path
    missing_response = scored_arena.client.get("/competitions/none/embed")
    assert missing_response.status_code == 404
    assert "frame-ancestors 'none'" in missing_response.headers["content-security-policy"]


def test_board_offers_a_page_without_forms_or_scripts_whose_links_open_outside(scored_arena: Arena) -> None:
    board = scored_arena.client.get(f"/competitions/{scored_arena.slug}/boards/anonymization?lang=en").text
    (line,) = re.findall(r"<pre>(&lt;iframe .*?)</pre>", board)
    (address,) = re.findall(r'src="([^"]*)"', unescape(line))
    html = scored_arena.client.get(address).text
    assert "<form" not in html
    assert "<script" not in html
    links = re.findall(r"<a [^>]*>", html)
    assert links
    assert all('target="_blank" rel="noopener"' in link and 'href="http' in link for link in links)


def test_embed_of_a_closed_board_names_no_team(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml='[publication]\nboard = "teams"')
    arena.submit("crimson")
    score_everything()
    session = {"Cookie": f"{COOKIE}={arena.get_session(arena.get_team_token('crimson'))}"}
    assert "crimson" not in get_embed(arena, **session)[0]
    board = arena.client.get(f"/competitions/{arena.slug}/boards/anonymization", headers=session).text
    assert "Show this board on your own site" not in board


def test_embed_theme_and_language_are_set_in_the_address(scored_arena: Arena) -> None:
    assert '<html lang="ja" class="dark">' in get_embed(scored_arena, "?lang=ja&theme=dark")[0]
    assert '<html lang="en">' in get_embed(scored_arena, "?lang=en")[0]
    refusal = scored_arena.client.get(f"/competitions/{scored_arena.slug}/embed?theme=x")
    assert refusal.status_code == 422
