"""The command line when the connection to the service fails."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from anoncup.cli.connection import read_password
from anoncup.client import transport
from tests.support.arena import PASSWORD, Arena, build_noisy_release
from tests.support.command_line import CommandRunner

pytestmark = pytest.mark.full

KEY = re.compile(rb"idempotency-key: ([^\r]+)", re.IGNORECASE)


class LossyProxy:
    """A TCP proxy that drops the first ``lost_answers`` answers of the service to uploads."""

    def __init__(self, url: str, *, lost_answers: int) -> None:
        self.origin = (urlsplit(url).hostname or "", urlsplit(url).port or 80)
        self.lost_answers = lost_answers
        self.keys: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                thread = threading.Thread(target=self.forward_request, args=(self.listener.accept()[0],))
                self.threads.append(thread)
                thread.start()

    def forward_request(self, client_socket: socket.socket) -> None:
        """Forward both directions. Close the connection instead of forwarding an answer that must be lost."""
        with client_socket, socket.create_connection(self.origin) as service_socket, suppress(OSError):
            answer_thread = threading.Thread(
                target=self.forward_answer, args=(service_socket, client_socket, request_bytes := bytearray())
            )
            answer_thread.start()
            while chunk := client_socket.recv(65536):
                request_bytes += chunk
                service_socket.sendall(chunk)
            service_socket.shutdown(socket.SHUT_RDWR)
            answer_thread.join()

    def forward_answer(
        self, service_socket: socket.socket, client_socket: socket.socket, request_bytes: bytearray
    ) -> None:
        with suppress(OSError):
            while chunk := service_socket.recv(65536):
                keys = KEY.findall(request_bytes)
                request_bytes.clear()
                self.keys += keys
                if keys and self.lost_answers > 0:
                    self.lost_answers -= 1
                    client_socket.shutdown(socket.SHUT_RDWR)
                    return
                client_socket.sendall(chunk)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(5)


@contextmanager
def run_lossy_proxy(url: str, *, lost_answers: int) -> Iterator[LossyProxy]:
    proxy = LossyProxy(url, lost_answers=lost_answers)
    try:
        yield proxy
    finally:
        proxy.close()


@pytest.fixture
def submit_arguments(arena: Arena, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str | Path]:
    """The arguments of an upload by the team red to the service that ANONCUP_URL names."""
    monkeypatch.setenv("ANONCUP_TOKEN", arena.get_team_token("red"))
    monkeypatch.setattr(transport, "RETRY_DELAYS_S", (0.01, 0.01, 0.01))
    table, secret = build_noisy_release(1, arena.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    files: list[str | Path] = ["--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]
    return ["submit", "small", *files, "--no-check", "--json"]


def test_upload_is_repeated_with_the_same_key_after_a_lost_receipt(
    anoncup: CommandRunner,
    arena: Arena,
    url: str,
    submit_arguments: list[str | Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with run_lossy_proxy(url, lost_answers=2) as proxy:
        monkeypatch.setenv("ANONCUP_URL", proxy.url)
        result = anoncup(*submit_arguments)
    assert (result.status, result.stderr) == (0, "")
    assert (len(proxy.keys), len(set(proxy.keys))) == (3, 1)
    submissions = arena.get("/competitions/small/submissions", team="red").json()
    assert [submission["id"] for submission in submissions] == [result.json["id"]]


def test_unreachable_service_exits_with_3(anoncup: CommandRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("ANONCUP_URL", f"http://127.0.0.1:{port}")
    result = anoncup("competitions")
    assert (result.status, result.stdout) == (3, "")
    assert "the service cannot be reached" in result.stderr


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello", "not the service"),
        ("200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello", "not the service"),
        ("403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]", "not the service"),
        ("301 Moved\r\nLocation: https://b.example\r\nContent-Length: 0\r\n\r\n", "https://b.example"),
        ("502 Bad Gateway\r\nContent-Length: 3\r\n\r\nnow", "not available"),
        ("200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[", "cannot be reached"),
    ],
    ids=["page", "no json", "no problem", "moved", "gateway", "cut short"],
)
def test_response_of_another_server_exits_with_3(
    anoncup: CommandRunner, monkeypatch: pytest.MonkeyPatch, answer: str, message: str
) -> None:
    with serve_answer(answer) as address:
        monkeypatch.setenv("ANONCUP_URL", address)
        result = anoncup("competitions")
    assert (result.status, result.stdout) == (3, "")
    assert message in result.stderr


def test_refusal_by_a_proxy_is_shown(anoncup: CommandRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    body = '{"detail": "no entry", "status": "closed"}'
    headers = f"Content-Type: application/problem+json\r\nContent-Length: {len(body)}"
    with serve_answer(f"403 Forbidden\r\n{headers}\r\n\r\n{body}") as address:
        monkeypatch.setenv("ANONCUP_URL", address)
        result = anoncup("competitions")
    assert (result.status, result.stdout) == (2, "")
    assert "no entry (403)" in result.stderr


@contextmanager
def serve_answer(answer: str) -> Iterator[str]:
    """Serve one fixed answer to a single request and yield the address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def send_answer() -> None:
        with suppress(OSError), listener.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(f"HTTP/1.1 {answer}".encode())

    thread = threading.Thread(target=send_answer)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        thread.join(5)


def test_new_password_is_asked_for_with_its_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda _: PASSWORD)  # needs a terminal
    assert read_password(from_stdin=False, confirm=True) == PASSWORD
    assert capsys.readouterr().err.startswith("Password of 8 to 256 characters:")
