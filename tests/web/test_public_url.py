"""Where the service says that it is reached: its own address, or the one that it is told."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from app.config import Settings, get_settings
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


def test_links_are_written_with_the_address_that_the_service_is_told(told: None, arena: Arena) -> None:
    for shown in links_of(arena):
        assert f"{OUTSIDE}/sign-up?invite=" in shown
        assert "testserver" not in shown


def test_links_are_written_with_the_address_that_was_asked(arena: Arena) -> None:
    for shown in links_of(arena):
        assert "http://testserver/sign-up?invite=" in shown


def test_the_document_names_the_address_that_the_service_is_told(told: None) -> None:
    with TestClient(create_app()) as client:
        assert client.get(f"{API}/openapi.json").json()["servers"] == [{"url": OUTSIDE}]


def test_the_documented_paths_lead_from_where_the_document_lies(client: TestClient) -> None:
    where = f"http://testserver{API}/openapi.json"
    document = client.get(where).json()
    (server,) = document["servers"]
    root = urljoin(where, server["url"]).rstrip("/")
    plain = [path for path, known in document["paths"].items() if "get" in known and "{" not in path]
    assert len(plain) > 5
    for path in plain:
        assert client.get(root + path).status_code in {200, 401, 403, 503}, path


@pytest.mark.parametrize(
    "wrong", ["cup.example.org", "ftp://cup.example.org", "https://", "https://a.org/?b"]
)
def test_what_is_no_address_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValidationError, match="an address such as"):
        Settings(public_url=wrong)
