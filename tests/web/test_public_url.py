"""Where the service says that it is reached: its own address, or the one that it is told."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from app.cli import local_service
from app.config import Settings, get_settings
from app.http.authentication import COOKIE, ONLY_HTTPS
from app.http.middleware import strict_transport
from app.main import create_app
from tests.support.arena import API, Arena
from tests.web.reader import send

pytestmark = pytest.mark.full

OUTSIDE = "https://cup.example.org"


@pytest.fixture
def told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ANONCUP_PUBLIC_URL", f"{OUTSIDE}/")
    get_settings.cache_clear()
    yield
    monkeypatch.undo()
    get_settings.cache_clear()


def links_of(arena: Arena) -> list[str]:
    """The page of each link that is handed over, right after it was made."""
    return [
        send(arena, "/competitions/small/team/invites", {"uses": "1"}, team="red").text,
        send(arena, "/competitions/small/organize/teams/invites", {"uses": "1"}, organizer=True).text,
    ]


def test_links_are_written_with_the_address_that_the_service_is_told(arena: Arena, told: None) -> None:
    for shown in links_of(arena):
        assert f"{OUTSIDE}/sign-up?invite=" in shown
        assert "localhost" not in shown


def test_links_are_written_with_the_address_that_was_asked(arena: Arena) -> None:
    for shown in links_of(arena):
        assert "http://localhost/sign-up?invite=" in shown


def test_the_document_names_the_address_that_the_service_is_told(told: None) -> None:
    with TestClient(create_app(), base_url=OUTSIDE) as client:
        assert client.get(f"{API}/openapi.json").json()["servers"] == [{"url": OUTSIDE}]


def test_the_documented_paths_lead_from_where_the_document_lies(client: TestClient) -> None:
    where = f"http://localhost{API}/openapi.json"
    document = client.get(where).json()
    (server,) = document["servers"]
    root = urljoin(where, server["url"]).rstrip("/")
    gets = [path for path, known in document["paths"].items() if "get" in known and "{" not in path]
    plain = [path for path in gets if path != "/metrics"]  # for operators only
    assert len(plain) >= 5
    for path in plain:
        assert client.get(root + path).status_code in {200, 401, 403, 503}, path


@pytest.mark.parametrize(
    "wrong", ["cup.example.org", "ftp://cup.example.org", "https://", "https://a.org/?b"]
)
def test_what_is_no_address_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValidationError, match="an address such as"):
        Settings(public_url=wrong)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("cup.example.org", 200),
        ("cup.example.org:443", 200),
        ("CUP.example.org", 200),
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("cup.example.org.evil.example", 421),
        ("evil.example:cup.example.org", 421),
        ("cup.example.org@evil.example", 421),
        ("10.0.0.7", 421),
        ("[", 421),
        ("", 421),
    ],
)
def test_no_other_host_is_answered_than_the_one_it_is_told(told: None, host: str, status: int) -> None:
    with TestClient(create_app(), base_url="http://localhost") as client:
        answer = client.get("/sign-in", headers={"Host": host})
        assert answer.status_code == status
        assert status == 200 or answer.json()["code"] == "other_host"
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8000", 200),
        ("LOCALHOST", 200),
        ("cup.localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("127.255.0.3", 200),
        ("[::1]", 200),
        ("[::1]:8000", 200),
        ("10.0.0.7:8000", 421),
        ("0.0.0.0", 421),
        ("[::]", 421),
        ("[fe80::1]", 421),
        ("cup.example.org", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("evil.example:localhost", 421),
        ("[", 421),
        ("", 421),
    ],
)
def test_without_an_address_only_loopback_names_are_answered(
    client: TestClient, host: str, status: int
) -> None:
    answer = client.get("/sign-in", headers={"Host": host})
    assert answer.status_code == status
    if status == 421:
        assert answer.json()["code"] == "other_host"
        assert "ANONCUP_PUBLIC_URL" in answer.json()["detail"]
    assert client.get("/healthz", headers={"Host": host}).status_code == 200
    for path in ("/readyz", "/metrics"):  # orchestrators ask by an address
        assert client.get(path, headers={"Host": host}).status_code != 421


def test_browsers_are_told_to_keep_to_https_where_it_is_the_address(told: None) -> None:
    with TestClient(create_app(), base_url=OUTSIDE) as client:
        for path in ("/sign-in", "/static/site.css", "/nowhere"):
            assert client.get(path).headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize("address", ["", "http://cup.example.org", "https://localhost:8443"])
def test_browsers_are_told_nothing_of_https_elsewhere(address: str) -> None:
    assert strict_transport(Settings(public_url=address)) == {}


@pytest.mark.parametrize(
    ("address", "host", "chosen", "secure"),
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
        (OUTSIDE, "127.0.0.1", None, True),
        ("http://localhost:8000", "10.0.0.7", None, False),
    ],
)
def test_a_session_is_for_https_only_unless_the_host_is_near_or_somebody_says_otherwise(
    address: str, host: str, chosen: bool | None, secure: bool
) -> None:
    assert Settings(public_url=address, secure_cookies=chosen).only_https(host) is secure


def status_of_session(client: TestClient, arena: Arena, cookie: str) -> int:
    headers = {"Cookie": f"{cookie}={arena.session(arena.organizer)}"}
    return client.get(f"{API}/me", headers=headers).status_code


def test_a_session_of_the_open_name_opens_nothing_where_it_is_for_https(arena: Arena, told: None) -> None:
    """What somebody planted over http, or from another host of the domain, is not read."""
    with TestClient(create_app(), base_url=OUTSIDE) as client:
        assert status_of_session(client, arena, COOKIE) == 401
        assert status_of_session(client, arena, ONLY_HTTPS) == 200


def test_a_session_for_https_opens_nothing_on_this_machine(arena: Arena) -> None:
    assert status_of_session(arena.client, arena, COOKIE) == 200
    assert status_of_session(arena.client, arena, ONLY_HTTPS) == 401


@pytest.mark.parametrize(
    ("host", "url", "warned"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", False),
        ("localhost", "http://localhost:8000", False),
        ("::1", "http://[::1]:8000", False),
        ("0.0.0.0", "http://127.0.0.1:8000", True),
        ("::", "http://[::1]:8000", True),
        ("192.0.2.7", "http://192.0.2.7:8000", True),
    ],
)
def test_a_server_that_others_cannot_reach_says_so_and_is_reached_from_its_own_machine(
    host: str, url: str, warned: bool, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    assert local_service.local_url(host, 8000) == url
    local_service.warn_if_unnamed(host)
    assert ("ANONCUP_PUBLIC_URL" in caplog.text) is warned


def test_a_server_with_a_public_address_warns_of_nothing(
    told: None, caplog: pytest.LogCaptureFixture
) -> None:
    local_service.warn_if_unnamed("0.0.0.0")
    assert caplog.text == ""
