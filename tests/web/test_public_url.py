"""Where the service says that it is reached: its own address, or the one that it is told."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from app.config import Settings, get_settings
from app.http.dependencies import COOKIE, ONLY_HTTPS
from app.http.middleware import strict_transport
from app.main import create_app
from tests.arena import API, Arena
from tests.web.reader import send

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
        assert "testserver" not in shown


def test_links_are_written_with_the_address_that_was_asked(arena: Arena) -> None:
    for shown in links_of(arena):
        assert "http://testserver/sign-up?invite=" in shown


def test_the_document_names_the_address_that_the_service_is_told(told: None) -> None:
    with TestClient(create_app(), base_url=OUTSIDE) as client:
        assert client.get(f"{API}/openapi.json").json()["servers"] == [{"url": OUTSIDE}]


def test_the_documented_paths_lead_from_where_the_document_lies(client: TestClient) -> None:
    where = f"http://testserver{API}/openapi.json"
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
    with TestClient(create_app()) as client:
        answer = client.get("/sign-in", headers={"Host": host})
        assert answer.status_code == status
        assert status == 200 or answer.json()["code"] == "other_host"
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_without_an_address_every_host_is_answered(client: TestClient) -> None:
    for host in ("testserver", "10.0.0.7", "["):
        assert client.get("/sign-in", headers={"Host": host}).status_code == 200


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


def test_a_session_of_the_open_name_opens_nothing_where_it_is_for_https(arena: Arena) -> None:
    """What somebody planted over http, or from another host of the domain, is not read."""
    near, far = ({"Cookie": f"{name}={arena.session(arena.organizer)}"} for name in (COOKIE, ONLY_HTTPS))
    outside = {"Host": "cup.example.org"}
    assert arena.client.get(f"{API}/me", headers=near | outside).status_code == 401
    assert arena.client.get(f"{API}/me", headers=far | outside).status_code == 200
    assert arena.client.get(f"{API}/me", headers=far).status_code == 401
