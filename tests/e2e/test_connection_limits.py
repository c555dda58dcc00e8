"""Slow and idle connections to a real web server with short timeouts."""

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

from app.config import Settings
from app.db.models import Attempt
from app.db.transaction import transaction
from tests.support.raw_connection import RawConnection, open_connection
from tests.support.service_processes import (
    ServedContest,
    open_small_contest,
    read_command_line,
    run_web_server,
)
from tests.support.translations import translate
from tests.support.wait import TIMEOUT_S

pytestmark = pytest.mark.full

IMPATIENT_SETTINGS = {"ANONCUP_HEAD_TIMEOUT_S": "2", "ANONCUP_BODY_PATIENCE_S": "4"}
PARTIAL_HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Unfin"


@pytest.fixture(scope="module")
def impatient_server(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_web_server(tmp_path_factory.mktemp("web"), IMPATIENT_SETTINGS) as url:
        yield url


def wait_for_timeout(url: str) -> None:
    """Wait until the server has closed a new idle connection."""
    with open_connection(url) as connection:
        connection.receive_until_closed()


def test_request_with_two_lengths_is_refused_and_ends_its_connection(impatient_server: str) -> None:
    head = "POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with open_connection(impatient_server) as connection:
        connection.send(f"{head}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answers = connection.receive_until_closed()
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1
    assert b"either Content-Length or Transfer-Encoding" in answers


@contextmanager
def begin_upload(contest: ServedContest, *, size: int) -> Iterator[RawConnection]:
    """Begin an upload of ``size`` bytes: only its head and that of the first part are sent."""
    with open_connection(contest.url) as connection:
        head = [
            f"POST /api/v1/competitions/{contest.slug}/submissions HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {contest.token}",
            "Content-Type: multipart/form-data; boundary=edge",
            f"Content-Length: {size}",
        ]
        part = ["--edge", 'Content-Disposition: form-data; name="anonymized"; filename="Y.csv"']
        connection.send("\r\n".join([*head, "", *part, "", ""]).encode())
        yield connection


def load_attempts() -> list[Attempt]:
    with transaction() as session:
        rows = list(session.scalars(select(Attempt)))
        session.expunge_all()
        return rows


def list_open_files(url: str, folder: Path) -> list[str]:
    """Return the files in the folder that the web server has open, including deleted ones."""
    (server,) = (
        child
        for child in psutil.Process().children(recursive=True)
        if {"app.cli.web_server", str(urlsplit(url).port)} <= {*read_command_line(child)}
    )
    paths = []
    for handle in Path(f"/proc/{server.pid}/fd").iterdir():
        with suppress(OSError):
            paths.append(os.readlink(handle))
    return [name for name in paths if name.startswith(str(folder))]


@pytest.mark.parametrize("partial_head", [b"", PARTIAL_HEAD])
def test_connection_with_an_incomplete_head_is_closed(impatient_server: str, partial_head: bytes) -> None:
    with open_connection(impatient_server) as connection:
        connection.send(partial_head)
        assert connection.receive_until_closed() == b""


@pytest.mark.full
def test_trickling_head_does_not_extend_the_timeout(impatient_server: str) -> None:
    with open_connection(impatient_server) as connection:
        connection.send(PARTIAL_HEAD)
        while not connection.receive(timeout_s=0.2):
            connection.send(b"i")
        assert connection.is_closed


@pytest.mark.full
def test_incomplete_second_head_closes_the_connection(impatient_server: str) -> None:
    with open_connection(impatient_server) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.receive_until(b'"ok"}')
        connection.send(PARTIAL_HEAD)
        assert connection.receive_until_closed().count(b"HTTP/1.1 ") == 1


def test_connection_is_closed_after_an_early_response(impatient_server: str) -> None:
    with open_connection(impatient_server) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        connection.receive_until(b'"ok"}')
        connection.send(b"x")
        assert connection.receive_until_closed().startswith(b"HTTP/1.1 200")


def test_trickling_form_gets_a_page(impatient_server: str) -> None:
    head = ["POST /sign-in HTTP/1.1", "Host: localhost", "Accept: text/html", "Accept-Language: ja"]
    content_type = "Content-Type: application/x-www-form-urlencoded"
    with open_connection(impatient_server) as connection:
        connection.send("\r\n".join([*head, content_type, "Content-Length: 1000000", "", "name="]).encode())
        response = connection.receive_until_closed()
    assert response.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in response.lower()
    assert translate("problem_too_slow", "ja").encode() in response


def test_trickling_upload_gets_a_response_and_counts_as_attempt(
    settings: Settings, impatient_server: str
) -> None:
    folder = settings.data / "incoming"
    with begin_upload(open_small_contest(impatient_server), size=9_000_000) as connection:
        connection.send(b"x" * 2_500_000)
        while not connection.receive(timeout_s=0.2):
            connection.send(b"x")
        head, _, body = connection.receive_until_closed().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in head.lower()
    problem: dict[str, Any] = json.loads(body)
    assert (problem["status"], problem["code"], problem["title"]) == (408, "too_slow", "Too slow")
    assert problem["values"] == {"least": 1000}
    (attempt,) = load_attempts()
    assert attempt.ended_at is not None
    assert [
        file for file in list_open_files(impatient_server, folder) if "anoncup-child-" not in file
    ] == []  # a parser's own folder


@pytest.mark.full
def test_steady_upload_may_take_long(settings: Settings, impatient_server: str) -> None:
    with begin_upload(open_small_contest(impatient_server), size=9_000_000) as connection:
        for _ in range(3):
            with open_connection(impatient_server) as idle_connection:
                while not idle_connection.receive(timeout_s=0.2):
                    connection.send(b"x" * 2000)
        assert not connection.receive(timeout_s=0.2), connection.received
        (attempt,) = load_attempts()
        assert attempt.ended_at is None


def test_longest_idle_connection_is_closed_at_the_cap(session_settings: Settings, tmp_path: Path) -> None:
    env = {"ANONCUP_CONNECTIONS": "3", "ANONCUP_HEAD_TIMEOUT_S": "3600"}
    with (
        run_web_server(tmp_path, env) as url,
        open_connection(url) as first,
        open_connection(url) as second,
        open_connection(url) as third,
    ):
        assert httpx2.get(f"{url}/healthz", timeout=TIMEOUT_S).status_code == 200
        assert first.receive_until_closed() == b""
        third.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        third.receive_until(b'"ok"}')
        second.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        second.receive_until(b'"ok"}')


def test_unauthenticated_uploads_are_closed_at_the_cap(session_settings: Settings, tmp_path: Path) -> None:
    env = {"ANONCUP_CONNECTIONS": "3", "ANONCUP_BODY_PATIENCE_S": "3600"}
    head = b"POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with (
        run_web_server(tmp_path, env) as url,
        open_connection(url) as first,
        open_connection(url) as second,
        open_connection(url) as third,
    ):
        for connection in (first, second, third):
            connection.send(head + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")
            connection.receive_until(b"100 Continue")
        assert httpx2.get(f"{url}/healthz", timeout=TIMEOUT_S).status_code == 200
        first.receive_until_closed()
        third.send(b"x" * 100)
        third.receive_until(b" 422 ")
