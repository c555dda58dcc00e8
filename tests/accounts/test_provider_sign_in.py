"""Sign-in with an OpenID Connect provider that runs on a port, and with providers that answer wrongly."""

import base64
import gzip
import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from fastapi.testclient import TestClient
from limits import RateLimitItemPerMinute
from sqlalchemy import select, update

from app.accounts import sign_in_providers
from app.accounts.models import UserIdentity
from app.core.db.models import Token, User
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity.session_cookie import COOKIE
from app.core.identity.tokens import CONFIRMATION_LIFETIME
from tests.support.accounts import (
    create_invite,
    create_person,
    get_me,
    list_audit_entries,
    read_refusal,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.database_rows import execute
from tests.support.page_requests import SAME_ORIGIN, extract_text
from tests.support.provider_sign_in import (
    CLIENT_SECRET,
    PROVIDER,
    RunningProvider,
    begin_sign_in,
    follow,
    run_provider,
    sign_in,
)
from tests.support.setting_changes import change_settings
from tests.support.translations import translate_message

pytestmark = pytest.mark.full

FLOW_COOKIE = "anoncup_sign_in"
CALLBACK = f"/sign-in/{PROVIDER}/callback"


@pytest.fixture(scope="module")
def running_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningProvider]:
    with run_provider(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


@pytest.fixture
def provider(running_provider: RunningProvider, client: TestClient) -> Iterator[RunningProvider]:
    running_provider.forge()
    with change_settings(**running_provider.build_settings()):
        yield running_provider


def post(client: TestClient, path: str, **fields: str | list[str]) -> httpx2.Response:
    response: httpx2.Response = client.post(path, data=fields, headers=SAME_ORIGIN)
    return response


def sign_in_with_password(client: TestClient, name: str) -> None:
    assert post(client, "/sign-in", name=name, password=PASSWORD).status_code == 200


def sign_up(client: TestClient, provider: RunningProvider, arena: Arena, subject: str) -> httpx2.Response:
    """Create an account without a password and a team of the same name, and stay signed in."""
    invite = create_invite(arena)
    answer = sign_in(client, provider, subject, {"to": f"/join?invite={invite}"})
    fields = {"team": f"team {subject}", "name": subject}
    response: httpx2.Response = client.post(
        answer.headers["location"], data=fields, headers=SAME_ORIGIN, follow_redirects=False
    )
    assert response.status_code == 303, response.text
    return response


def link_new_person(
    client: TestClient, provider: RunningProvider, name: str, subject: str
) -> httpx2.Response:
    """Create a person with a password, sign in and link the account of the provider."""
    create_person(name)
    client.cookies.clear()
    sign_in_with_password(client, name)
    url = begin_sign_in(client, f"/account/identities/{PROVIDER}", {"password": PASSWORD})
    return follow(client, provider.authorize(url, subject))


def list_identities() -> list[tuple[str, str, str]]:
    with transaction() as session:
        rows = session.execute(
            select(UserIdentity.issuer, UserIdentity.subject, User.name).join(User).order_by(User.name)
        )
        return [(issuer, subject, name) for issuer, subject, name in rows]


def is_signed_in(client: TestClient) -> bool:
    response = client.get("/account", follow_redirects=False)
    return bool(response.status_code == 200)


def assert_problem(response: httpx2.Response, status: int, message: str) -> None:
    assert response.status_code == status
    assert translate_message(message) in extract_text(response)


def test_person_with_an_invite_signs_up_without_a_password(arena: Arena, provider: RunningProvider) -> None:
    client = arena.client
    response = sign_up(client, provider, arena, "hanako")
    assert response.headers["location"].endswith("?done=joined")
    assert FLOW_COOKIE not in client.cookies
    assert list_identities() == [(provider.url, "hanako", "hanako")]
    assert ("hanako", "user.identity_link", "hanako") in list_audit_entries()
    client.cookies.clear()
    assert post(client, "/sign-in", name="hanako", password="!").status_code == 401
    answer = sign_in(client, provider, "hanako", {"to": "/account#tokens"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account#tokens")
    assert is_signed_in(client)
    assert FLOW_COOKIE not in client.cookies


def test_refused_sign_up_can_be_corrected(arena: Arena, provider: RunningProvider) -> None:
    create_person("Hanako")
    answer = sign_in(arena.client, provider, "h", {"to": f"/join?invite={create_invite(arena)}"})
    form = arena.client.get(answer.headers["location"])
    assert 'name="password"' not in form.text
    assert "Lab &lt;ID&gt;" in form.text
    for name, status in (("hanako", 409), ("Hana", 200)):
        response = post(arena.client, answer.headers["location"], team="red", name=name)
        assert response.status_code == status
    assert list_identities() == [(provider.url, "h", "Hana")]


def test_unknown_account_without_an_invite_is_told_what_is_needed(
    arena: Arena, provider: RunningProvider
) -> None:
    create_person("known@example.org")  # an equal name or address links nobody
    answer = sign_in(arena.client, provider, "known@example.org")
    assert answer.headers["location"] == f"/sign-up?provider={PROVIDER}"
    page = arena.client.get(answer.headers["location"])
    assert "No account here is linked to this account of Lab <ID>." in extract_text(page)
    assert f'<input type="hidden" name="provider" value="{PROVIDER}">' in page.text
    assert not is_signed_in(arena.client)
    assert list_identities() == []


def test_sign_up_needs_the_answer_of_the_provider(arena: Arena, provider: RunningProvider) -> None:
    path = f"/sign-up?{urlencode({'invite': create_invite(arena), 'provider': PROVIDER})}"
    begin_sign_in(arena.client)  # has a cookie, but no answer
    assert post(arena.client, path, team="red", name="Hanako").status_code == 422
    assert list_identities() == []
    assert 'name="password"' in arena.client.get(path).text


def test_sign_in_begins_a_new_session_and_never_leads_to_another_site(
    arena: Arena, provider: RunningProvider
) -> None:
    sign_up(arena.client, provider, arena, "hanako")
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "/\tevil"):
        session = arena.client.cookies[COOKIE]
        assert sign_in(arena.client, provider, "hanako", {"to": target}).headers["location"] == "/"
        assert arena.client.cookies[COOKIE] != session


def test_wrong_state_and_other_browsers_are_refused(arena: Arena, provider: RunningProvider) -> None:
    sign_up(arena.client, provider, arena, "hanako")
    arena.client.cookies.clear()
    expired = "this sign-in began in another browser or more than 10 minutes ago: begin again"
    answer = provider.authorize(begin_sign_in(arena.client), "hanako")
    cookies = dict(arena.client.cookies)
    query = parse_qs(urlsplit(answer).query)
    for state in ("", "other"):
        arena.client.cookies.clear()
        begin_sign_in(arena.client)
        path = f"{CALLBACK}?{urlencode({'code': query['code'][0], 'state': state})}"
        assert_problem(arena.client.get(path), 422, expired)
    arena.client.cookies.clear()
    assert_problem(follow(arena.client, answer), 422, expired)  # login CSRF: the victim has no cookie
    arena.client.cookies.update(cookies)
    mixed_up_answer = answer.replace(f"/{PROVIDER}/", "/other/")
    assert_problem(follow(arena.client, mixed_up_answer), 422, expired)
    assert not is_signed_in(arena.client)


def test_answer_works_once(arena: Arena, provider: RunningProvider) -> None:
    sign_up(arena.client, provider, arena, "hanako")
    arena.client.cookies.clear()
    url = begin_sign_in(arena.client)
    cookies = dict(arena.client.cookies)
    answer = provider.authorize(url, "hanako")
    assert follow(arena.client, answer).status_code == 303
    arena.client.cookies.clear()
    arena.client.cookies.update(cookies)
    assert follow(arena.client, answer).status_code == 422
    # A thief of the code who begins a sign-in of their own lacks the verifier, and the code is used up.
    arena.client.cookies.clear()
    state = parse_qs(urlsplit(begin_sign_in(arena.client)).query)["state"][0]
    code = parse_qs(urlsplit(answer).query)["code"][0]
    stolen = arena.client.get(f"{CALLBACK}?{urlencode({'code': code, 'state': state})}")
    assert_problem(stolen, 422, "the provider’s answer is not valid: sign in again")
    assert not is_signed_in(arena.client)


FORGED_CLAIMS: tuple[dict[str, object], ...] = (
    {"nonce": "that of another sign-in"},
    {"nonce": None},
    {"aud": "another client"},
    {"aud": "another client", "azp": "anoncup"},
    {"aud": ["anoncup", "another client"]},
    {"iss": "https://evil.example"},
    {"exp": 1_700_000_000},
    {"exp": None},
    {"sub": ""},
    {"sub": None},
    {"sub": "x" * 256},
    {"sub": "a\0b"},
    {"sub": True},
    {"sub": ["hanako"]},
)


def test_forged_id_token_is_refused(arena: Arena, provider: RunningProvider) -> None:
    sign_up(arena.client, provider, arena, "hanako")
    for claims in FORGED_CLAIMS:
        arena.client.cookies.clear()
        provider.forge(**claims)
        response = sign_in(arena.client, provider, "hanako")
        assert_problem(response, 422, "the provider’s answer is not valid: sign in again")
        assert not is_signed_in(arena.client), claims
    provider.forge()
    assert sign_in(arena.client, provider, "hanako").status_code == 303


def test_provider_that_is_down_or_described_by_another_gives_a_clear_page(
    arena: Arena, provider: RunningProvider
) -> None:
    other_issuer = provider.url.replace("127.0.0.1", "localhost") + "/"
    text = "the provider cannot be reached or answers with an error: try again later"
    for issuer in (other_issuer, "http://127.0.0.1:9"):
        with change_settings(ANONCUP_SIGN_IN__LAB__ISSUER=issuer):
            response = post(arena.client, f"/sign-in/{PROVIDER}")
        assert_problem(response, 503, text)
        assert "Retry-After" in response.headers


def test_sign_ins_begin_on_this_site_can_be_cancelled_and_are_limited(
    arena: Arena, provider: RunningProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = provider.deny(begin_sign_in(arena.client))
    assert_problem(follow(arena.client, answer), 422, "you cancelled the sign-in with the provider")
    response = arena.client.post(f"/sign-in/{PROVIDER}", headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    monkeypatch.setattr(throttle, "PROVIDER_LIMIT", RateLimitItemPerMinute(1, 15, "throttle"))
    begin_sign_in(arena.client)
    assert post(arena.client, f"/sign-in/{PROVIDER}").status_code == 429


def test_linking_needs_the_password_and_gives_a_second_way_in(
    client: TestClient, provider: RunningProvider
) -> None:
    create_person("Mei")
    sign_in_with_password(client, "Mei")
    path = f"/account/identities/{PROVIDER}"
    for password, status in (("", 403), ("wrong", 422)):
        assert post(client, path, password=password).status_code == status
    url = begin_sign_in(client, path, {"password": PASSWORD})
    answer = follow(client, provider.authorize(url, "mei-at-lab"))
    assert answer.headers["location"] == "/account?done=identity_linked"
    client.cookies.clear()
    sign_in(client, provider, "mei-at-lab")
    assert "Mei" in client.get("/account").text


def test_link_needs_the_session_that_began_it(client: TestClient, provider: RunningProvider) -> None:
    create_person("Mei")
    create_person("Mallory")
    sign_in_with_password(client, "Mallory")
    url = begin_sign_in(client, f"/account/identities/{PROVIDER}", {"password": PASSWORD})
    sign_in_with_password(client, "Mei")
    assert follow(client, provider.authorize(url, "mallory")).status_code == 422
    assert list_identities() == []


def test_account_of_somebody_else_cannot_be_linked(client: TestClient, provider: RunningProvider) -> None:
    link_new_person(client, provider, "Mei", "shared")
    response = link_new_person(client, provider, "Rei", "shared")
    message = "this account of the provider is linked already, or you are linked to another one"
    assert_problem(response, 409, message)
    assert list_identities() == [(provider.url, "shared", "Mei")]


def test_cookie_of_a_sign_in_is_signed_short_lived_and_bound(
    client: TestClient, provider: RunningProvider
) -> None:
    response = post(client, f"/sign-in/{PROVIDER}")
    (cookie,) = [text for text in response.headers.get_list("set-cookie") if FLOW_COOKIE in text]
    assert {"httponly", "samesite=lax", "Max-Age=600"} <= set(cookie.split("; "))
    url = begin_sign_in(client)
    value = client.cookies[FLOW_COOKIE]
    content, _, signature = value.partition(".")
    flow = json.loads(base64.b64decode(content))
    forged = base64.b64encode(json.dumps({**flow, "flow": {**flow["flow"], "subject": "root"}}).encode())
    client.cookies.clear()
    client.cookies.set(FLOW_COOKIE, f"{forged.decode()}.{signature}")
    path = f"/sign-up?{urlencode({'provider': PROVIDER})}"
    assert 'name="provider"' not in client.get(path).text
    assert follow(client, provider.authorize(url, "hanako")).status_code == 422


def test_unlinking_ends_other_sessions_and_needs_the_password(
    client: TestClient, provider: RunningProvider
) -> None:
    link_new_person(client, provider, "Mei", "mei")
    client.cookies.clear()
    sign_in(client, provider, "mei")
    other_session = client.cookies[COOKIE]
    sign_in(client, provider, "mei")
    path = "/account/unlink"
    assert post(client, path).status_code == 403
    post(client, path, password=PASSWORD)
    assert list_identities() == []
    assert is_signed_in(client)
    client.cookies.clear()
    client.cookies[COOKIE] = other_session
    assert not is_signed_in(client)
    assert ("Mei", "user.identity_unlink", "Mei") in list_audit_entries()


def confirm(client: TestClient, provider: RunningProvider, subject: str) -> httpx2.Response:
    url = begin_sign_in(client, "/account/confirm")
    assert parse_qs(urlsplit(url).query)["max_age"] == ["0"]
    return follow(client, provider.authorize(url, subject))


def test_last_way_of_signing_in_cannot_be_unlinked(arena: Arena, provider: RunningProvider) -> None:
    client = arena.client
    sign_up(client, provider, arena, "hanako")
    path = "/account/unlink"
    assert post(client, path).status_code == 403
    confirm(client, provider, "hanako")
    message = "this is your only way to sign in: set a password first"
    assert_problem(post(client, path), 409, message)
    assert post(client, "/account/password", new=PASSWORD).status_code == 200
    assert post(client, path, password=PASSWORD).status_code == 200
    assert list_identities() == []


def test_person_without_password_confirms_by_signing_in_again(
    arena: Arena, provider: RunningProvider
) -> None:
    client = arena.client
    sign_up(client, provider, arena, "hanako")
    fields: dict[str, str | list[str]] = {"name": "laptop", "scopes": ["read", "submit"]}
    refusal = post(client, "/account/tokens", **fields)
    assert refusal.status_code == 403
    assert 'formaction="/account/confirm"' in refusal.text
    assert confirm(client, provider, "somebody else").status_code == 422
    assert confirm(client, provider, "hanako").headers["location"] == "/account?done=confirmed"
    page = post(client, "/account/tokens", **fields)
    assert page.status_code == 201
    check_token_of_person_without_password(
        arena, page.text.split('class="once"')[1].split(">")[1].split("<")[0]
    )
    execute(update(Token).values(confirmed_at=Token.confirmed_at - CONFIRMATION_LIFETIME))
    assert post(client, "/account/tokens", **fields).status_code == 403


def check_token_of_person_without_password(arena: Arena, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    assert get_me(arena.client, token).json()["scopes"] == ["read", "submit"]
    invites, password = f"{API}/competitions/{arena.slug}/team/invites", f"{API}/me/password"
    for refusal in (
        arena.client.post(invites, json={}, headers=headers),
        arena.client.put(password, json={"old": "!", "new": PASSWORD}, headers=headers),
    ):
        assert read_refusal(refusal) == (403, "no_password")


def test_confirmation_needs_a_fresh_sign_in_if_the_provider_tells(
    arena: Arena, provider: RunningProvider
) -> None:
    sign_up(arena.client, provider, arena, "hanako")
    message = "the provider did not ask you to sign in again: sign out there and try again"
    now = int(time.time())
    for auth_time in (now - 3600, 0, -1.5, now + 3600, 10**400):
        provider.forge(auth_time=auth_time)
        assert_problem(confirm(arena.client, provider, "hanako"), 422, message)
    for no_time in (str(now), True, [now]):
        provider.forge(auth_time=no_time)
        assert confirm(arena.client, provider, "hanako").status_code == 422
    provider.forge(auth_time=now)
    assert confirm(arena.client, provider, "hanako").status_code == 303


def test_oauth_provider_without_openid_connect(arena: Arena, provider: RunningProvider) -> None:
    prefix = "ANONCUP_SIGN_IN__LAB__"
    oauth_settings = {
        f"{prefix}AUTHORIZE_URL": f"{provider.url}/oauth2/authorize",
        f"{prefix}TOKEN_URL": f"{provider.url}/oauth2/token",
        f"{prefix}USER_URL": f"{provider.url}/userinfo",
        f"{prefix}SUBJECT": "sub",
        f"{prefix}ISSUER": "https://example.org",
    }
    with change_settings(**oauth_settings):
        sign_up(arena.client, provider, arena, "hanako")
    assert list_identities() == [("https://example.org", "hanako", "hanako")]


def test_logs_contain_no_secrets(
    arena: Arena,
    provider: RunningProvider,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.INFO)  # as in production
    answer = provider.authorize(begin_sign_in(arena.client), "hanako")
    provider.forge(nonce="wrong")
    assert follow(arena.client, answer).status_code == 422
    query = parse_qs(urlsplit(answer).query)
    captured = capfd.readouterr()
    own_records = [
        record.getMessage()
        for record in caplog.records
        # The client of this test and its requests to the provider are not the service's.
        if record.name != "httpx2" or "/oauth2/token" in record.getMessage()
    ]
    log_text = "".join(own_records) + captured.out + captured.err
    assert "sign_in_refused" in log_text
    for secret in (CLIENT_SECRET, query["code"][0], query["state"][0], "eyJ"):
        assert secret not in log_text


def test_without_providers_pages_offer_nothing(client: TestClient) -> None:
    create_person("Mei")
    sign_in_with_password(client, "Mei")
    for path in ("/sign-in", "/sign-up", "/account", "/password?code=x"):
        text, words = client.get(path).text, ("/sign-in/", "identities", 'confirm"', "Without a password")
        assert not any(word in text for word in words)
    assert post(client, "/sign-in/lab").status_code == 404


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


@pytest.fixture
def hostile_provider(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileProvider]:
    monkeypatch.setattr(sign_in_providers, "_STEP_TIMEOUT_S", 0.5)
    with HostileProvider() as server, change_settings(**RunningProvider(server.url).build_settings()):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.ended.set()
        server.shutdown()


DESCRIPTION = "/.well-known/openid-configuration"
PATHS = ((DESCRIPTION, False), ("/token", False), ("/jwks", False), ("/token", True), ("/user", True))
"""Addresses of the provider, and whether it has no OpenID Connect."""


@pytest.mark.parametrize(("path", "is_oauth"), PATHS)
@pytest.mark.parametrize("answer", KINDS)
def test_bad_answer_signs_nobody_in_and_gives_a_clear_page(
    client: TestClient, hostile_provider: HostileProvider, *, path: str, is_oauth: bool, answer: str
) -> None:
    oauth_settings = {
        f"ANONCUP_SIGN_IN__LAB__{name.upper()}_URL": f"{hostile_provider.url}/{name}"
        for name in ("authorize", "token", "user")
    }
    hostile_provider.hostile_path, hostile_provider.answer = path, answer
    if path == DESCRIPTION:
        response = client.post(f"/sign-in/{PROVIDER}", headers=SAME_ORIGIN)
        assert response.status_code == 503
        assert translate_message(UNAVAILABLE) in extract_text(response)
        return
    with change_settings(**oauth_settings if is_oauth else {}):
        state = parse_qs(urlsplit(begin_sign_in(client)).query)["state"][0]
        response = client.get(f"{CALLBACK}?{urlencode({'code': 'x', 'state': state})}")
    assert response.status_code in {422, 503}
    assert "Traceback" not in response.text


def test_provider_that_sends_a_byte_now_and_then_is_given_up(
    client: TestClient, hostile_provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time for all steps ends it, even if none of them takes long."""
    monkeypatch.setattr(sign_in_providers, "_STEP_TIMEOUT_S", None)
    monkeypatch.setattr(sign_in_providers, "_TOTAL_TIMEOUT_S", 0.2)
    hostile_provider.hostile_path, hostile_provider.answer = DESCRIPTION, SILENT
    assert client.post(f"/sign-in/{PROVIDER}", headers=SAME_ORIGIN).status_code == 503
