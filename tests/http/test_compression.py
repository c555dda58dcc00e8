"""Gzip compression of text responses, except streams, archives and pages open to compression attacks."""

import asyncio
import gzip
import zlib
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from app.http.compression import GzipMiddleware, accepts_gzip, compress
from app.http.session_cookie import COOKIE
from tests.support.arena import API, Arena
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

LONG_TEXT = b"the same words, " * 200


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", False),
        ("gzip", True),
        ("br, GZip ;q=0.5, *", True),
        ("deflate, gzip;q=1.0", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000, identity", False),
        ("x-gzip", False),
        ("gzipped", False),
        ("identity", False),
    ],
)
def test_gzip_requires_accept_encoding(accepted: str, expected: bool) -> None:
    assert accepts_gzip(Headers({"accept-encoding": accepted})) is expected


def compress_response(
    *bodies: bytes,
    method: str = "GET",
    query: bytes = b"",
    request_headers: dict[str, str],
    **response_headers: str,
) -> tuple[Headers, list[Message]]:
    """Send a response with these parts through the middleware; return its headers and messages."""
    messages: list[Message] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        raw_headers = [
            (name.replace("_", "-").encode(), value.encode()) for name, value in response_headers.items()
        ]
        await send({"type": "http.response.start", "status": 200, "headers": raw_headers})
        for index, body in enumerate(bodies):
            await send({"type": "http.response.body", "body": body, "more_body": index + 1 < len(bodies)})

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        raise AssertionError

    headers = [(name.encode(), value.encode()) for name, value in request_headers.items()]
    scope = {"type": "http", "method": method, "query_string": query, "headers": headers}
    asyncio.run(GzipMiddleware(app)(scope, receive, send))
    return Headers(raw=messages[0]["headers"]), messages[1:]


GZIP_HEADERS = {"accept-encoding": "gzip"}


def test_compressed_text_has_a_weak_etag() -> None:
    headers, (body,) = compress_response(
        LONG_TEXT, request_headers=GZIP_HEADERS, content_type="text/html; charset=utf-8", etag='"x"'
    )
    assert gzip.decompress(body["body"]) == LONG_TEXT
    assert headers["content-encoding"] == "gzip"
    assert headers["content-length"] == str(len(body["body"]))
    assert (headers["etag"], headers["vary"]) == ('W/"x"', "Accept-Encoding")


def test_response_without_accept_encoding_is_plain_and_varies() -> None:
    headers, (body,) = compress_response(
        LONG_TEXT, request_headers={}, content_type="text/html", etag='"x"', vary="Cookie"
    )
    assert body["body"] == LONG_TEXT
    assert (headers["etag"], headers["vary"]) == ('"x"', "Cookie, Accept-Encoding")
    assert "content-encoding" not in headers


@pytest.mark.parametrize(
    "kind", ["application/zip", "text/event-stream", "image/png", "application/octet-stream"]
)
def test_archives_pictures_and_events_are_not_compressed(kind: str) -> None:
    headers, (body,) = compress_response(LONG_TEXT, request_headers=GZIP_HEADERS, content_type=kind)
    assert body["body"] == LONG_TEXT
    assert "vary" not in headers


def test_streamed_chunks_are_sent_as_they_come() -> None:
    headers, parts = compress_response(
        LONG_TEXT, LONG_TEXT, b"", request_headers=GZIP_HEADERS, content_type="text/csv"
    )
    decompressor = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    assert [decompressor.decompress(part["body"]) for part in parts] == [LONG_TEXT, LONG_TEXT, b""]
    assert headers["content-encoding"] == "gzip"


def test_events_are_sent_as_they_come_and_uncompressed() -> None:
    headers, parts = compress_response(
        b"data: 1\n\n", LONG_TEXT, b"", request_headers=GZIP_HEADERS, content_type="text/event-stream"
    )
    assert [part["body"] for part in parts] == [b"data: 1\n\n", LONG_TEXT, b""]
    assert "content-encoding" not in headers


def test_short_compressed_and_post_responses_are_unchanged() -> None:
    assert (
        "content-encoding"
        not in compress_response(b"short", request_headers=GZIP_HEADERS, content_type="text/html")[0]
    )
    _, (body,) = compress_response(
        compress(LONG_TEXT),
        request_headers=GZIP_HEADERS,
        content_type="application/json",
        content_encoding="gzip",
    )
    assert body["body"] == compress(LONG_TEXT)
    assert (
        "content-encoding"
        not in compress_response(
            LONG_TEXT, request_headers=GZIP_HEADERS, method="POST", content_type="text/html"
        )[0]
    )


def test_query_with_a_cookie_is_not_compressed() -> None:
    """The length of the response would tell an attacker whether the query occurs in the page (BREACH)."""
    options: dict[str, Any] = {
        "content_type": "text/html",
        "request_headers": {**GZIP_HEADERS, "cookie": "a=b"},
    }
    assert "content-encoding" not in compress_response(LONG_TEXT, query=b"find=0.49", **options)[0]
    assert compress_response(LONG_TEXT, **options)[0]["content-encoding"] == "gzip"
    open_to_all = {**options, "request_headers": GZIP_HEADERS}
    assert compress_response(LONG_TEXT, query=b"find=0.49", **open_to_all)[0]["content-encoding"] == "gzip"


def test_pages_files_and_the_api_are_compressed(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    for url in ("/", path, f"{path}/rules", "/static/site.css", "/static/vendor/d3-7.9.2.min.js"):
        response = arena.client.get(url, headers=GZIP_HEADERS)
        assert response.headers["content-encoding"] == "gzip", url
        plain = arena.client.get(url, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers, url
        assert "accept-encoding" in plain.headers["vary"].lower()
        if url.startswith("/static"):
            assert response.content == plain.content
    session = {"cookie": f"{COOKIE}={arena.get_session(arena.get_team_token('red'))}"}
    assert (
        arena.client.get(f"{path}?lang=en", headers=GZIP_HEADERS | session).headers.get("content-encoding")
        is None
    )
    assert arena.client.get(path, headers=GZIP_HEADERS | session).headers["content-encoding"] == "gzip"


def test_kit_is_not_compressed(arena: Arena) -> None:
    response = arena.client.get(f"{API}/competitions/{arena.slug}/kit.zip", headers=GZIP_HEADERS)
    assert response.status_code == 200
    assert "content-encoding" not in response.headers


def test_cached_file_is_not_sent_again_in_either_encoding(arena: Arena) -> None:
    for encoding in ("gzip", "identity"):
        headers = {"accept-encoding": encoding}
        etag = arena.client.get("/static/site.css", headers=headers).headers["etag"]
        assert etag.startswith("W/") is (encoding == "gzip")
        cached = arena.client.get("/static/site.css", headers={**headers, "if-none-match": etag})
        assert (cached.status_code, cached.headers["etag"], cached.content) == (304, etag, b"")


def test_board_matches_its_etag_in_either_encoding(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    path = f"{API}/competitions/{arena.slug}/boards/anonymization"
    compressed = arena.client.get(path, headers=GZIP_HEADERS)
    plain = arena.client.get(path, headers={"accept-encoding": "identity"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert compressed.content == plain.content
    assert compressed.headers["etag"] == f"W/{plain.headers['etag']}"
    for etag in (compressed.headers["etag"], plain.headers["etag"]):
        for headers in (GZIP_HEADERS, {"accept-encoding": "identity"}):
            assert arena.client.get(path, headers={**headers, "if-none-match": etag}).status_code == 304
