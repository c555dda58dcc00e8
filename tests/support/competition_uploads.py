"""Competition files and original data that an organizer uploads."""

from httpx2 import Response

from tests.support.arena import Arena


def put_file(arena: Arena, content: str | bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/competition.toml", content=content)


def put_original(arena: Arena, content: bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/original/original.csv", content=content)
