"""The board within other sites: what a visitor sees, the same for everybody, and framed only there."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.http.authentication import COOKIE
from tests.support.arena import Arena, competition_file
from tests.support.contest import Contest
from tests.support.uploads import score_everything
from tests.web.reader import words_of

pytestmark = pytest.mark.full


@pytest.fixture
def played(arena: Arena) -> Arena:
    for seed, team in enumerate(("red", "blue", "green"), 1):
        arena.submit(team, seed=seed)
    score_everything()
    return arena


def embed(arena: Arena, query: str = "", **headers: str) -> tuple[str, dict[str, str]]:
    answer = arena.client.get(f"/competitions/{arena.slug}/embed{query}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text, dict(answer.headers)


def test_everybody_gets_the_same_bytes_and_no_cookie(played: Arena) -> None:
    visitor, headers = embed(played)
    for token in (played.team("red"), played.organizer):
        session = {"Cookie": f"{COOKIE}={played.session(token)}"}
        assert embed(played, **session)[0] == visitor
        assert embed(played, Authorization=f"Bearer {token}")[0] == visitor
    assert "set-cookie" not in headers
    assert "set-cookie" not in embed(played, "?lang=ja")[1]
    assert 'class="own"' not in visitor
    assert "Sign out" not in visitor


def test_it_shows_what_a_visitor_sees_of_the_first_ten(played: Arena) -> None:
    shown, _ = embed(played)
    board = Contest(played).board()
    words = unescape(" ".join(words_of(shown)))
    for row in board["rows"]:
        assert f"{row['rank']} {row['team']} {row['overall']:.4f} {row['utility']:.2f}" in words
    exact = played.get(f"/competitions/{played.slug}/boards/anonymization").json()["rows"]
    assert all(f"{row['utility']:.4f}" not in shown for row in exact)
    assert 'id="scatter"' in shown


def test_only_this_page_may_be_framed(played: Arena) -> None:
    _, headers = embed(played)
    assert "frame-ancestors *" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    for path in ("", "/boards/anonymization", "/rules", "/embed/", "/announcements.atom", "/nothing"):
        answer = played.client.get(f"/competitions/{played.slug}{path}", follow_redirects=False)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], path
    missing = played.client.get("/competitions/none/embed")
    assert (missing.status_code, "frame-ancestors 'none'" in missing.headers["content-security-policy"]) == (
        404,
        True,
    )


def test_it_has_no_form_no_script_and_leads_out_of_its_frame(played: Arena) -> None:
    shown, _ = embed(played)
    assert "<form" not in shown
    assert "<script" not in shown
    for link in re.findall(r"<a [^>]*>", shown):
        assert 'target="_blank" rel="noopener"' in link
        assert 'href="http' in link


def test_a_closed_board_names_nobody_here_either(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "teams"'))
    arena.submit("crimson")
    score_everything()
    session = {"Cookie": f"{COOKIE}={arena.session(arena.team('crimson'))}"}
    assert "crimson" not in embed(arena, **session)[0]
    assert (
        "Show this board on your own site"
        not in arena.client.get(f"/competitions/{arena.slug}/boards/anonymization", headers=session).text
    )


def test_its_scheme_and_language_are_asked_for_in_the_address(played: Arena) -> None:
    assert '<html lang="ja" class="dark">' in embed(played, "?lang=ja&theme=dark")[0]
    assert '<html lang="en">' in embed(played, "?lang=en")[0]
    refused = played.client.get(f"/competitions/{played.slug}/embed?theme=x")
    assert refused.status_code == 422


def test_the_board_has_a_line_to_copy_that_leads_here(played: Arena) -> None:
    shown = played.client.get(f"/competitions/{played.slug}/boards/anonymization?lang=en").text
    (line,) = re.findall(r"<pre>(&lt;iframe .*?)</pre>", shown)
    (address,) = re.findall(r'src="([^"]*)"', unescape(line))
    assert played.client.get(address).status_code == 200
