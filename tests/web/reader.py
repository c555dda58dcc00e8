"""Somebody who reads pages and sends their forms, as a browser would without its scripts."""

import re

from httpx2 import Response

from app.http.authentication import COOKIE, ONLY_HTTPS
from tests.support.arena import PASSWORD, Arena

IRREVOCABLE = ("/extend", "/disqualify", "/withdraw", "/remove", "/basics", "/file", "/apply", "/publication")
OPENING = (
    "/teams/organizers",
    "/password-link",
    "/account/tokens",
    "/teams/invites",
    "/grants",
    "/team/invites",
    "/reinstate",
)
"""Forms that may ask for the password; here it is sent along."""
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def as_reader(arena: Arena, token: str | None, language: str) -> dict[str, str]:
    kept = arena.session(token) if token else None
    cookies = {"Cookie": f"{COOKIE}={kept}; {ONLY_HTTPS}={kept}"} if kept else {}
    return cookies | {"Accept-Language": language}


def page(
    arena: Arena, path: str, *, team: str | None = None, organizer: bool = False, language: str = "en"
) -> Response:
    """The page as a visitor, a team's member or the organizer gets it; redirects are not followed."""
    token = arena.organizer if organizer else arena.team(team) if team else None
    answer: Response = arena.client.get(
        path, headers=as_reader(arena, token, language), follow_redirects=False
    )
    return answer


def send(
    arena: Arena,
    path: str,
    fields: dict[str, str] | None = None,
    *,
    files: dict[str, tuple[str, bytes]] | None = None,
    team: str | None = None,
    organizer: bool = False,
    language: str = "en",
) -> Response:
    """The answer to a form; redirects are not followed."""
    token = arena.organizer if organizer else arena.team(team) if team else None
    headers = as_reader(arena, token, language) | SAME_ORIGIN
    sure = {"password": PASSWORD} if path.endswith(IRREVOCABLE + OPENING) else {}
    answer: Response = arena.client.post(
        path, data=sure | (fields or {}), files=files, headers=headers, follow_redirects=False
    )
    return answer


def words_of(shown: str) -> list[str]:
    """What a reader sees of a page, without its tags."""
    return re.sub(r"<[^>]*>", " ", shown).split()
