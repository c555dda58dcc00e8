"""Text goes out compressed to who reads it so; streams, archives and what a stranger could probe do not."""

import asyncio
import gzip
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from app.http.authentication import COOKIE
from app.http.compression import Compressed, packed, reads_gzip
from tests.support.arena import API, Arena
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

LONG = b"the same words, " * 200


@pytest.mark.parametrize(
    ("accepted", "reads"),
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
def test_who_reads_gzip_says_so(accepted: str, reads: bool) -> None:
    assert reads_gzip(Headers({"accept-encoding": accepted})) is reads


def answered(
    *bodies: bytes, method: str = "GET", query: bytes = b"", asked: dict[str, str], **sent: str
) -> tuple[Headers, list[Message]]:
    """What becomes of an answer of these headers, sent in these parts."""
    out: list[Message] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": 200, "headers": named})
        for place, body in enumerate(bodies):
            await send({"type": "http.response.body", "body": body, "more_body": place + 1 < len(bodies)})

    async def send(message: Message) -> None:
        out.append(message)

    async def receive() -> Message:
        raise AssertionError

    headers = [(name.encode(), value.encode()) for name, value in asked.items()]
    scope = {"type": "http", "method": method, "query_string": query, "headers": headers}
    asyncio.run(Compressed(app)(scope, receive, send))
    return Headers(raw=out[0]["headers"]), out[1:]


ASKED = {"accept-encoding": "gzip"}


def test_a_whole_text_is_compressed_and_its_tag_is_weak() -> None:
    headers, (body,) = answered(LONG, asked=ASKED, content_type="text/html; charset=utf-8", etag='"x"')
    assert gzip.decompress(body["body"]) == LONG
    assert headers["content-encoding"] == "gzip"
    assert headers["content-length"] == str(len(body["body"]))
    assert (headers["etag"], headers["vary"]) == ('W/"x"', "Accept-Encoding")


def test_who_does_not_ask_gets_it_as_it_is_and_caches_are_told() -> None:
    headers, (body,) = answered(LONG, asked={}, content_type="text/html", etag='"x"', vary="Cookie")
    assert body["body"] == LONG
    assert (headers["etag"], headers["vary"]) == ('"x"', "Cookie, Accept-Encoding")
    assert "content-encoding" not in headers


@pytest.mark.parametrize(
    "kind", ["application/zip", "text/event-stream", "image/png", "application/octet-stream"]
)
def test_archives_pictures_and_events_stay_as_they_are(kind: str) -> None:
    headers, (body,) = answered(LONG, asked=ASKED, content_type=kind)
    assert body["body"] == LONG
    assert "vary" not in headers


def test_what_comes_in_parts_goes_out_in_the_same_parts() -> None:
    headers, parts = answered(LONG, LONG, b"", asked=ASKED, content_type="text/csv")
    assert [part["body"] for part in parts] == [LONG, LONG, b""]
    assert "content-encoding" not in headers


def test_what_is_short_compressed_already_or_no_answer_to_get_stays_as_it_is() -> None:
    assert "content-encoding" not in answered(b"short", asked=ASKED, content_type="text/html")[0]
    _, (body,) = answered(packed(LONG), asked=ASKED, content_type="application/json", content_encoding="gzip")
    assert body["body"] == packed(LONG)
    assert "content-encoding" not in answered(LONG, asked=ASKED, method="POST", content_type="text/html")[0]


def test_a_query_with_a_cookie_is_not_compressed() -> None:
    """It could be a stranger's guess at what else stands in the page."""
    given: dict[str, Any] = {"content_type": "text/html", "asked": {**ASKED, "cookie": "a=b"}}
    assert "content-encoding" not in answered(LONG, query=b"find=0.49", **given)[0]
    assert answered(LONG, **given)[0]["content-encoding"] == "gzip"
    open_to_all = {**given, "asked": ASKED}
    assert answered(LONG, query=b"find=0.49", **open_to_all)[0]["content-encoding"] == "gzip"


def test_pages_files_and_the_api_are_compressed(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    for asked in ("/", path, f"{path}/rules", "/static/site.css", "/static/vendor/d3-7.9.2.min.js"):
        answer = arena.client.get(asked, headers=ASKED)
        assert answer.headers["content-encoding"] == "gzip", asked
        plain = arena.client.get(asked, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers, asked
        assert "accept-encoding" in plain.headers["vary"].lower()
        if asked.startswith("/static"):
            assert answer.content == plain.content
    session = {"cookie": f"{COOKIE}={arena.session(arena.team('red'))}"}
    assert (
        arena.client.get(f"{path}?lang=en", headers=ASKED | session).headers.get("content-encoding") is None
    )
    assert arena.client.get(path, headers=ASKED | session).headers["content-encoding"] == "gzip"


def test_a_kit_is_no_text(arena: Arena) -> None:
    answer = arena.client.get(f"{API}/competitions/{arena.slug}/kit.zip", headers=ASKED)
    assert answer.status_code == 200
    assert "content-encoding" not in answer.headers


def test_a_file_that_one_has_is_not_sent_again_in_either_form(arena: Arena) -> None:
    for accepted in ("gzip", "identity"):
        asked = {"accept-encoding": accepted}
        tag = arena.client.get("/static/site.css", headers=asked).headers["etag"]
        assert tag.startswith("W/") is (accepted == "gzip")
        known = arena.client.get("/static/site.css", headers={**asked, "if-none-match": tag})
        assert (known.status_code, known.headers["etag"], known.content) == (304, tag, b"")


def test_a_board_is_the_same_in_either_form_and_known_by_either_tag(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    path = f"{API}/competitions/{arena.slug}/boards/anonymization"
    short = arena.client.get(path, headers=ASKED)
    plain = arena.client.get(path, headers={"accept-encoding": "identity"})
    assert short.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert short.content == plain.content
    assert short.headers["etag"] == f"W/{plain.headers['etag']}"
    for tag in (short.headers["etag"], plain.headers["etag"]):
        for asked in (ASKED, {"accept-encoding": "identity"}):
            assert arena.client.get(path, headers={**asked, "if-none-match": tag}).status_code == 304
