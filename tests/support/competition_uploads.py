"""Upload of competition files and original data as an organizer."""

from httpx2 import Response

from tests.support.arena import Arena


def upload_competition_file(arena: Arena, content: str | bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/competition.toml", content=content)


def upload_original(arena: Arena, content: bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/original/original.csv", content=content)
