"""The public URL of the service: links, accepted hosts, HTTPS cookies and warnings."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from anoncup.errors import InvalidInput
from app.config import Settings, get_settings
from app.core.http.middleware import build_hsts_headers
from app.core.identity.session_cookie import COOKIE, SECURE_COOKIE
from app.main import create_app
from app.operations import local_service
from tests.support.arena import API, Arena
from tests.support.page_requests import post_form
from tests.support.setting_changes import change_settings

pytestmark = pytest.mark.full

PUBLIC_URL = "https://cup.example.org"


@pytest.fixture
def public_url(settings: Settings) -> Iterator[None]:
    with change_settings(ANONCUP_PUBLIC_URL=f"{PUBLIC_URL}/"):
        yield


def test_links_use_the_configured_address(arena: Arena, public_url: None) -> None:
    pages = (
        post_form(arena, "/competitions/small/team/invites", {"uses": "1"}, team="red").text,
        post_form(arena, "/competitions/small/organize/teams/invites", {"uses": "1"}, organizer=True).text,
    )
    for html in pages:
        assert f"{PUBLIC_URL}/sign-up?invite=" in html
        assert "localhost" not in html


def test_openapi_document_has_the_configured_address(public_url: None) -> None:
    with TestClient(create_app(), base_url=PUBLIC_URL) as client:
        assert client.get(f"{API}/openapi.json").json()["servers"] == [{"url": PUBLIC_URL}]


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("ANONCUP_PUBLIC_URL", "cup.example.org", "must be an address such as https://cup.example.org"),
        ("ANONCUP_PUBLIC_URL", "https://a.org/?b", "must be an address such as .*"),
        ("ANONCUP_PUBLIC_URL", "https://a.org:99999", "Port out of range .*"),
        ("ANONCUP_PUBLIC_URL", "https://a.org/cup", "must have no path: .*"),
        ("ANONCUP_GRACE_S", "soon", "Input should be a valid integer.*"),
        ("ANONCUP_SMTP__PORT", "many", "Input should be a valid integer.*"),
    ],
)
def test_invalid_setting_is_refused_in_one_sentence(
    settings: Settings, variable: str, value: str, reason: str
) -> None:
    variables = {
        "ANONCUP_SMTP__HOST": "mail.example.org",
        "ANONCUP_SMTP__SENDER": "cup@example.org",
        "ANONCUP_PUBLIC_URL": PUBLIC_URL,
    }
    with (
        change_settings(**variables | {variable: value}),
        pytest.raises(InvalidInput, match=f"^{variable}: {reason}$"),
    ):
        get_settings()


LOCAL_HOSTS = (
    "localhost",
    "localhost:8000",
    "cup.localhost:8000",
    "127.0.0.1:8000",
    "127.255.0.3",
    "[::1]:8000",
)
FOREIGN_HOSTS = (
    *(
        "evil.example",
        "evil.example:cup.example.org",
        "cup.example.org@evil.example",
        "10.0.0.7:8000",
        "[::]",
    ),
    *("localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:localhost"),
    *("[", ""),
)


@pytest.mark.parametrize("address", ["", PUBLIC_URL])
def test_only_the_public_and_local_hosts_are_accepted(settings: Settings, address: str) -> None:
    expected = dict.fromkeys(LOCAL_HOSTS, 200) | dict.fromkeys(FOREIGN_HOSTS, 421)
    expected["CUP.example.org:443"] = 200 if address else 421
    with (
        change_settings(ANONCUP_PUBLIC_URL=address),
        TestClient(create_app(), base_url="http://localhost") as client,
    ):
        for host, status in expected.items():
            response = client.get("/sign-in", headers={"Host": host})
            assert response.status_code == status, host
            if status == 421:
                assert response.json()["code"] == "other_host"
                assert ("ANONCUP_PUBLIC_URL" in response.json()["detail"]) is not bool(address)
            for path in ("/healthz", "/readyz", "/metrics"):  # orchestrators use an IP address
                assert client.get(path, headers={"Host": host}).status_code != 421


def test_hsts_is_sent_if_the_public_url_is_https(public_url: None) -> None:
    with TestClient(create_app(), base_url=PUBLIC_URL) as client:
        for path in ("/sign-in", "/static/site.css", "/nowhere"):
            assert client.get(path).headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize("address", ["", "http://cup.example.org", "https://localhost:8443"])
def test_hsts_is_not_sent_for_other_addresses(address: str) -> None:
    assert build_hsts_headers(Settings(public_url=address)) == {}


@pytest.mark.parametrize(
    ("address", "host", "is_configured", "is_secure"),
    [
        ("", "localhost", None, False),
        ("", "127.0.0.1", None, False),
        ("", "::1", None, False),
        ("", "cup.localhost", None, False),
        ("", "intranet", None, False),
        ("", "192.168.1.5", None, True),
        ("", "2001:db8::1", None, True),
        ("", "cup.example.org", None, True),
        ("", "cup.example.org", False, False),
        ("", "localhost", True, True),
        (PUBLIC_URL, "127.0.0.1", None, True),
        ("http://localhost:8000", "10.0.0.7", None, False),
    ],
)
def test_sessions_require_https_except_on_local_hosts(
    address: str, host: str, is_configured: bool | None, is_secure: bool
) -> None:
    assert Settings(public_url=address, secure_cookies=is_configured).requires_https(host) is is_secure


def get_session_status(client: TestClient, arena: Arena, cookie: str) -> int:
    headers = {"Cookie": f"{cookie}={arena.get_session(arena.organizer_token)}"}
    return client.get(f"{API}/me", headers=headers).status_code


def test_plain_http_session_cookie_is_ignored_behind_https(arena: Arena, public_url: None) -> None:
    """A cookie set over HTTP or by another host of the domain could be an attacker's."""
    with TestClient(create_app(), base_url=PUBLIC_URL) as client:
        assert get_session_status(client, arena, COOKIE) == 401
        assert get_session_status(client, arena, SECURE_COOKIE) == 200


def test_https_session_cookie_is_ignored_on_localhost(arena: Arena) -> None:
    assert get_session_status(arena.client, arena, COOKIE) == 200
    assert get_session_status(arena.client, arena, SECURE_COOKIE) == 401


@pytest.mark.parametrize(
    ("host", "url", "is_warned"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", False),
        ("localhost", "http://localhost:8000", False),
        ("::1", "http://[::1]:8000", False),
        ("0.0.0.0", "http://127.0.0.1:8000", True),
        ("::", "http://[::1]:8000", True),
        ("192.0.2.7", "http://192.0.2.7:8000", True),
    ],
)
def test_server_without_public_url_warns_and_has_a_local_url(
    host: str, url: str, is_warned: bool, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    assert local_service.build_local_url(host, 8000) == url
    local_service.warn_if_no_public_url(host)
    assert ("ANONCUP_PUBLIC_URL" in caplog.text) is is_warned
