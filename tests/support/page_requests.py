"""Requests of pages and forms as a browser without scripts sends them."""

import re
from html import unescape

from httpx2 import Response

from app.core.identity.session_cookie import COOKIE, SECURE_COOKIE
from tests.support.arena import PASSWORD, Arena

IRREVERSIBLE_FORMS = ("/extend", "/reset", "/disqualify", "/withdraw", "/remove", "/file", "/apply")
ACCESS_GRANTING_FORMS = (
    *("/teams/organizers", "/password-link", "/account/tokens", "/teams/invites", "/grants"),
    *("/team/invites", "/reinstate", "/people", "/role", "/move", "/account/close"),
)
"""Forms that may ask for the password; ``post_form`` always sends it with them."""
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def build_headers(arena: Arena, token: str | None, language: str) -> dict[str, str]:
    session = arena.get_session(token) if token else None
    cookies = {"Cookie": f"{COOKIE}={session}; {SECURE_COOKIE}={session}"} if session else {}
    return cookies | {"Accept-Language": language}


def get_page(
    arena: Arena, path: str, *, team: str | None = None, organizer: bool = False, language: str = "en"
) -> Response:
    """Request a page as a visitor, a member of a team or the organizer, without following redirects."""
    token = arena.organizer_token if organizer else arena.get_team_token(team) if team else None
    response: Response = arena.client.get(
        path, headers=build_headers(arena, token, language), follow_redirects=False
    )
    return response


def post_form(
    arena: Arena,
    path: str,
    fields: dict[str, str] | None = None,
    *,
    files: dict[str, tuple[str, bytes]] | None = None,
    team: str | None = None,
    organizer: bool = False,
    language: str = "en",
) -> Response:
    """Send a form and return the response, without following redirects."""
    token = arena.organizer_token if organizer else arena.get_team_token(team) if team else None
    headers = build_headers(arena, token, language) | SAME_ORIGIN
    confirmation = {"password": PASSWORD} if path.endswith(IRREVERSIBLE_FORMS + ACCESS_GRANTING_FORMS) else {}
    response: Response = arena.client.post(
        path, data=confirmation | (fields or {}), files=files, headers=headers, follow_redirects=False
    )
    return response


def send_form(
    arena: Arena,
    path: str,
    fields: dict[str, str] | None = None,
    *,
    files: dict[str, tuple[str, bytes]] | None = None,
    team: str | None = None,
    organizer: bool = False,
    language: str = "en",
) -> Response:
    """Send a form that must be accepted, and return the redirect."""
    response = post_form(arena, path, fields, files=files, team=team, organizer=organizer, language=language)
    assert response.status_code == 303, response.text
    return response


def assert_refused(response: Response, status: int, text: str) -> None:
    """Require this status, and this text on the page."""
    assert response.status_code == status
    assert text in extract_text(response)


def extract_text(response: Response) -> str:
    """Return the text of a page without its tags."""
    return unescape(re.sub(r"<[^>]*>", "", response.text))


def extract_words(html: str) -> list[str]:
    """Return the words of a page without its tags."""
    return re.sub(r"<[^>]*>", " ", html).split()
