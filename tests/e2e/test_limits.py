"""Connections on which too little comes, at a real web server that has little patience."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from sqlalchemy import select

from anoncup.client import Client
from app.config import Settings
from app.db.models import Attempt
from app.db.transaction import transaction
from tests.e2e.lines import Line, line, watching
from tests.e2e.stack import Contest, command_line, small_contest, web
from tests.support.wait import PATIENCE_S
from tests.web.spoken import said

pytestmark = pytest.mark.full

HASTY = {"ANONCUP_HEAD_TIMEOUT_S": "2", "ANONCUP_BODY_PATIENCE_S": "4"}
HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Unfin"


@pytest.fixture(scope="module")
def hasty(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with web(tmp_path_factory.mktemp("web"), HASTY) as url:
        yield url


def wait_out(url: str) -> None:
    """Until somebody else, who began now, has lost the server's patience."""
    with line(url) as other:
        other.until_closed()


@contextmanager
def uploading(contest: Contest, *, size: int) -> Iterator[Line]:
    """An upload of ``size`` bytes, of which nothing has been sent but the heads of it and its first file."""
    with line(contest.url) as made:
        head = [
            f"POST /api/v1/competitions/{contest.slug}/submissions HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {contest.token}",
            "Content-Type: multipart/form-data; boundary=edge",
            f"Content-Length: {size}",
        ]
        part = ["--edge", 'Content-Disposition: form-data; name="anonymized"; filename="Y.csv"']
        made.send("\r\n".join([*head, "", *part, "", ""]).encode())
        yield made


def attempts() -> list[Attempt]:
    with transaction() as session:
        found = list(session.scalars(select(Attempt)))
        session.expunge_all()
        return found


def incoming(url: str, folder: Path) -> list[str]:
    """The files in the folder that the web server has open, with a name or without."""
    (server,) = (
        child
        for child in psutil.Process().children(recursive=True)
        if {"app.cli.web_server", str(urlsplit(url).port)} <= {*command_line(child)}
    )
    found = []
    for handle in Path(f"/proc/{server.pid}/fd").iterdir():
        with suppress(OSError):
            found.append(os.readlink(handle))
    return [name for name in found if name.startswith(str(folder))]


@pytest.mark.parametrize("begun", [b"", HALF])
def test_a_connection_without_a_whole_head_is_closed(hasty: str, begun: bytes) -> None:
    with line(hasty) as silent:
        silent.send(begun)
        assert silent.until_closed() == b""


@pytest.mark.full
def test_more_of_a_head_wins_no_time(hasty: str) -> None:
    with line(hasty) as slow:
        slow.send(HALF)
        while not slow.hear(within_s=0.2):
            slow.send(b"i")
        assert slow.closed


@pytest.mark.full
def test_half_a_second_head_is_closed_too(hasty: str) -> None:
    with line(hasty) as again:
        again.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        again.until(b'"ok"}')
        again.send(HALF)
        assert again.until_closed().count(b"HTTP/1.1 ") == 1


def test_the_rest_of_a_body_that_was_answered_early_is_not_waited_for(hasty: str) -> None:
    with line(hasty) as early:
        early.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        early.until(b'"ok"}')
        early.send(b"x")
        assert early.until_closed().startswith(b"HTTP/1.1 200")


def test_a_form_that_trickles_is_answered_by_a_page(hasty: str) -> None:
    head = ["POST /sign-in HTTP/1.1", "Host: localhost", "Accept: text/html", "Accept-Language: ja"]
    kind = "Content-Type: application/x-www-form-urlencoded"
    with line(hasty) as slow:
        slow.send("\r\n".join([*head, kind, "Content-Length: 1000000", "", "name="]).encode())
        answer = slow.until_closed()
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in answer.lower()
    assert said("problem_too_slow", "ja").encode() in answer


def test_a_body_that_trickles_is_answered_and_its_attempt_counts(settings: Settings, hasty: str) -> None:
    folder = settings.data / "incoming"
    with uploading(small_contest(hasty), size=9_000_000) as slow:
        slow.send(b"x" * 2_500_000)
        while not slow.hear(within_s=0.2):
            slow.send(b"x")
        head, _, body = slow.until_closed().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in head.lower()
    told: dict[str, Any] = json.loads(body)
    assert (told["status"], told["code"], told["title"]) == (408, "too_slow", "Too slow")
    assert told["values"] == {"least": 1000}
    (attempt,) = attempts()
    assert attempt.ended_at is not None
    assert [
        file for file in incoming(hasty, folder) if "anoncup-child-" not in file
    ] == []  # a parser's own folder


@pytest.mark.full
def test_a_body_that_comes_fast_enough_may_take_long(settings: Settings, hasty: str) -> None:
    with uploading(small_contest(hasty), size=9_000_000) as steady:
        for _ in range(3):
            with line(hasty) as other:
                while not other.hear(within_s=0.2):
                    steady.send(b"x" * 2000)
        assert not steady.hear(within_s=0.2), steady.heard
        (attempt,) = attempts()
        assert attempt.ended_at is None


@pytest.mark.full
def test_a_stream_of_events_outlives_the_limits(settings: Settings, hasty: str) -> None:
    contest = small_contest(hasty)
    identifier = contest.submit()
    with watching(contest, identifier) as watcher:
        for _ in range(3):
            wait_out(hasty)
        with Client(hasty, contest.token) as client:
            client.cancel(identifier)
        watcher.until(b"CANCELLED")


def test_beyond_the_cap_the_longest_idle_makes_room(session_settings: Settings, tmp_path: Path) -> None:
    few = {"ANONCUP_CONNECTIONS": "3", "ANONCUP_HEAD_TIMEOUT_S": "3600"}
    with web(tmp_path, few) as url, line(url) as first, line(url) as second, line(url) as third:
        assert httpx2.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
        assert first.until_closed() == b""
        third.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        third.until(b'"ok"}')
        second.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        second.until(b'"ok"}')


def test_beyond_the_cap_bodies_of_strangers_make_room(session_settings: Settings, tmp_path: Path) -> None:
    few = {"ANONCUP_CONNECTIONS": "3", "ANONCUP_BODY_PATIENCE_S": "3600"}
    head = b"POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with web(tmp_path, few) as url, line(url) as first, line(url) as second, line(url) as third:
        for one in (first, second, third):
            one.send(head + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")
            one.until(b"100 Continue")
        assert httpx2.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
        first.until_closed()
        third.send(b"x" * 100)
        third.until(b" 422 ")
