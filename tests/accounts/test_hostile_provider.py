"""Providers that answer too much, nothing, or something else than they should."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.accounts import sign_in_providers
from app.config import get_settings
from tests.support.page_requests import SAME_ORIGIN, extract_text
from tests.support.provider_sign_in import PROVIDER, RunningProvider, begin_sign_in
from tests.support.translations import translate_message

pytestmark = pytest.mark.full

UNAVAILABLE = "the provider cannot be reached or answers with an error: try again later"
ANSWERS = {
    "list": b"[]",
    "text": b'"text"',
    "number": b"1",
    "nested": b"[" * 100_000,
    "no JSON": b"<html>",
    "nothing": b"",
    "NUL": b'{"sub": "a\\u0000b"}',
    "surrogate": b'{"sub": "\\ud800"}',
    "infinite": b'{"access_token": "a", "token_type": "Bearer", "expires_in": 1e999}',
}
LARGE, COMPRESSED = "large", "compressed"
"""The right answer with a megabyte more, plain and compressed."""
SILENT = "silent"
"""The answer never comes."""
KINDS = [*ANSWERS, LARGE, COMPRESSED, SILENT]


class HostileProvider(ThreadingHTTPServer):
    """A provider whose answer at ``hostile_path`` is ``answer``; all others are right."""

    daemon_threads = True
    hostile_path, answer = "", ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.ended = threading.Event()

    def get_answer(self, path: str) -> dict[str, object]:
        answers: dict[str, dict[str, object]] = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
            },
            "/token": {"access_token": "a", "token_type": "Bearer", "id_token": "e30.e30.e30"},
            "/jwks": {"keys": []},
            "/user": {"sub": "hanako"},
        }
        return answers[path]


class _Handler(BaseHTTPRequestHandler):
    server: HostileProvider

    def do_GET(self) -> None:
        self.answer_request()

    def do_POST(self) -> None:
        self.answer_request()

    def answer_request(self) -> None:
        provider, right_answer = self.server, self.server.get_answer(self.path)
        is_hostile = self.path == provider.hostile_path
        if is_hostile and provider.answer == SILENT:
            provider.ended.wait()
            return
        if is_hostile and provider.answer in {LARGE, COMPRESSED}:
            right_answer["padding"] = "x" * (1 << 20)
        body = json.dumps(right_answer).encode()
        if is_hostile:
            body = ANSWERS.get(provider.answer, body)
        encoding = "gzip" if is_hostile and provider.answer == COMPRESSED else "identity"
        body = gzip.compress(body) if encoding == "gzip" else body
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:  # no noise in the tests
        pass


@contextmanager
def run_hostile_provider() -> Iterator[HostileProvider]:
    with HostileProvider() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()


@pytest.fixture
def hostile_provider(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileProvider]:
    monkeypatch.setattr(sign_in_providers, "_STEP_TIMEOUT_S", 0.5)
    with run_hostile_provider() as server:
        RunningProvider(server.url).configure(monkeypatch)
        yield server
    monkeypatch.undo()
    get_settings.cache_clear()


def finish(client: TestClient, url: str) -> Response:
    """Return the page after the provider has sent the browser back with a code."""
    state = parse_qs(urlsplit(url).query)["state"][0]
    response: Response = client.get(
        f"/sign-in/{PROVIDER}/callback?{urlencode({'code': 'x', 'state': state})}"
    )
    return response


def assert_refused(response: Response, *statuses: int) -> None:
    assert response.status_code in statuses, response.text
    assert "Traceback" not in response.text


@pytest.mark.parametrize("answer", KINDS)
def test_bad_description_gives_a_clear_page(
    client: TestClient, hostile_provider: HostileProvider, answer: str
) -> None:
    hostile_provider.hostile_path, hostile_provider.answer = "/.well-known/openid-configuration", answer
    response = client.post(f"/sign-in/{PROVIDER}", headers=SAME_ORIGIN)
    assert response.status_code == 503
    assert translate_message(UNAVAILABLE) in extract_text(response)


@pytest.mark.parametrize("path", ["/token", "/jwks"])
@pytest.mark.parametrize("answer", KINDS)
def test_bad_token_or_keys_sign_nobody_in(
    client: TestClient, hostile_provider: HostileProvider, path: str, answer: str
) -> None:
    hostile_provider.hostile_path, hostile_provider.answer = path, answer
    assert_refused(finish(client, begin_sign_in(client)), 422, 503)


@pytest.mark.parametrize("path", ["/token", "/user"])
@pytest.mark.parametrize("answer", KINDS)
def test_bad_answer_of_an_oauth_provider_signs_nobody_in(
    client: TestClient,
    hostile_provider: HostileProvider,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    answer: str,
) -> None:
    prefix, url = "ANONCUP_SIGN_IN__LAB__", hostile_provider.url
    settings = {"AUTHORIZE_URL": f"{url}/authorize", "TOKEN_URL": f"{url}/token", "USER_URL": f"{url}/user"}
    RunningProvider(url).configure(monkeypatch, **{prefix + name: text for name, text in settings.items()})
    hostile_provider.hostile_path, hostile_provider.answer = path, answer
    assert_refused(finish(client, begin_sign_in(client)), 422, 503)


def test_provider_that_sends_a_byte_now_and_then_is_given_up(
    client: TestClient, hostile_provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time for all steps ends it, even if none of them takes long."""
    monkeypatch.setattr(sign_in_providers, "_STEP_TIMEOUT_S", None)
    monkeypatch.setattr(sign_in_providers, "_TOTAL_TIMEOUT_S", 0.2)
    hostile_provider.hostile_path, hostile_provider.answer = "/.well-known/openid-configuration", SILENT
    assert client.post(f"/sign-in/{PROVIDER}", headers=SAME_ORIGIN).status_code == 503
