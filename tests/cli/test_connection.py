"""What the command line does when the way to the service is broken."""

import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from anoncup.client import transport
from tests.support.arena import Arena, noisy_release
from tests.support.command_line import Anoncup

pytestmark = pytest.mark.full

KEY = re.compile(rb"idempotency-key: ([^\r]+)", re.IGNORECASE)


class Cutter:
    """A TCP proxy that loses the first ``cuts`` answers to uploads after the service has given them."""

    def __init__(self, url: str, *, cuts: int) -> None:
        self.origin = (urlsplit(url).hostname or "", urlsplit(url).port or 80)
        self.cuts = cuts
        self.keys: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                thread = threading.Thread(target=self.forward, args=(self.listener.accept()[0],))
                self.threads.append(thread)
                thread.start()

    def forward(self, near: socket.socket) -> None:
        """Pass both ways until an answer to an upload is due, then hang up without it."""
        with near, socket.create_connection(self.origin) as far, suppress(OSError):
            back = threading.Thread(target=self.answer, args=(far, near, sent := bytearray()))
            back.start()
            while chunk := near.recv(65536):
                sent += chunk
                far.sendall(chunk)
            far.shutdown(socket.SHUT_RDWR)
            back.join()

    def answer(self, far: socket.socket, near: socket.socket, sent: bytearray) -> None:
        with suppress(OSError):
            while chunk := far.recv(65536):
                keys = KEY.findall(sent)
                sent.clear()
                self.keys += keys
                if keys and self.cuts > 0:
                    self.cuts -= 1
                    near.shutdown(socket.SHUT_RDWR)
                    return
                near.sendall(chunk)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(5)


@contextmanager
def cutting(url: str, *, cuts: int) -> Iterator[Cutter]:
    cutter = Cutter(url, cuts=cuts)
    try:
        yield cutter
    finally:
        cutter.close()


@pytest.fixture
def submit(arena: Arena, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str | Path]:
    """The words of an upload by the team red, at whatever service ANONCUP_URL names."""
    monkeypatch.setenv("ANONCUP_TOKEN", arena.team("red"))
    monkeypatch.setattr(transport, "PAUSES_S", (0.01, 0.01, 0.01))
    table, secret = noisy_release(1, arena.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    files: list[str | Path] = ["--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]
    return ["submit", "small", *files, "--no-check", "--json"]


def test_a_receipt_that_was_lost_on_the_way_is_asked_for_again_under_the_same_key(
    anoncup: Anoncup, arena: Arena, url: str, submit: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with cutting(url, cuts=2) as cutter:
        monkeypatch.setenv("ANONCUP_URL", cutter.url)
        done = anoncup(*submit)
    assert (done.status, done.err) == (0, "")
    assert (len(cutter.keys), len(set(cutter.keys))) == (3, 1)
    listed = arena.get("/competitions/small/submissions", token=arena.team("red")).json()
    assert [each["id"] for each in listed] == [done.json["id"]]


def test_two_uploads_are_two_submissions(
    anoncup: Anoncup, arena: Arena, url: str, submit: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with cutting(url, cuts=0) as cutter:
        monkeypatch.setenv("ANONCUP_URL", cutter.url)
        identifiers = {anoncup(*submit).json["id"] for _ in range(2)}
    assert (len(identifiers), len(set(cutter.keys))) == (2, 2)


def test_an_upload_whose_connection_always_breaks_exits_with_three(
    anoncup: Anoncup, url: str, submit: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with cutting(url, cuts=99) as cutter:
        monkeypatch.setenv("ANONCUP_URL", cutter.url)
        done = anoncup(*submit)
    assert done.status == 3
    assert "the service cannot be reached" in done.json["detail"]
    assert "the service cannot be reached" in done.err
    assert len(cutter.keys) == 4


def test_a_service_that_is_not_there_exits_with_three(
    anoncup: Anoncup, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("ANONCUP_URL", f"http://127.0.0.1:{port}")
    done = anoncup("competitions")
    assert (done.status, done.out) == (3, "")
    assert "the service cannot be reached" in done.err


def test_a_host_that_has_no_address_exits_with_three(
    anoncup: Anoncup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", "http://cup.invalid")
    assert anoncup("competitions").status == 3


def test_a_certificate_that_nobody_vouches_for_exits_with_three(
    anoncup: Anoncup, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server(folder) as address:
        monkeypatch.setenv("ANONCUP_URL", address)
        done = anoncup("competitions")
    assert (done.status, done.out) == (3, "")
    assert "its certificate is not trusted" in done.err
    assert "SSL_CERT_FILE" in done.err


@contextmanager
def tls_server(folder: Path) -> Iterator[str]:
    """Somebody who signed their certificate themselves."""
    request = (
        "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    made = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *request.split(), *made], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    listener = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        with suppress(OSError), context.wrap_socket(listener.accept()[0], server_side=True) as met:
            met.recv(1)

    thread = threading.Thread(target=greet)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        thread.join(5)


@pytest.mark.parametrize(
    ("answer", "said"),
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
def test_an_answer_that_is_not_the_services_exits_with_three(
    anoncup: Anoncup, monkeypatch: pytest.MonkeyPatch, answer: str, said: str
) -> None:
    with saying(answer) as address:
        monkeypatch.setenv("ANONCUP_URL", address)
        done = anoncup("competitions")
    assert (done.status, done.out) == (3, "")
    assert said in done.err


def test_who_refuses_in_the_services_place_is_heard(
    anoncup: Anoncup, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = '{"detail": "no entry", "status": "closed"}'
    kind = f"Content-Type: application/problem+json\r\nContent-Length: {len(said)}"
    with saying(f"403 Forbidden\r\n{kind}\r\n\r\n{said}") as address:
        monkeypatch.setenv("ANONCUP_URL", address)
        done = anoncup("competitions")
    assert (done.status, done.out) == (2, "")
    assert "no entry (403)" in done.err


@contextmanager
def saying(answer: str) -> Iterator[str]:
    """Somebody who answers one request, whatever it is."""
    listener = socket.create_server(("127.0.0.1", 0))

    def speak() -> None:
        with suppress(OSError), listener.accept()[0] as met:
            met.recv(65536)
            met.sendall(f"HTTP/1.1 {answer}".encode())

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        thread.join(5)


def test_json_repeats_the_values_that_the_service_has_told(
    anoncup: Anoncup, arena: Arena, url: str, submit: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    table, secret = Path(submit[3]), Path(submit[5])
    secret.write_bytes(b"\n".join([*secret.read_bytes().splitlines()[:-1], b"9999\n"]))
    told = arena.submit("red", anonymized=table.read_bytes(), secret=secret.read_bytes())
    done, answer = anoncup(*submit).json, told.json()
    assert (done["values"], done["detail"]) == (answer["values"], answer["detail"])
    assert [each["values"] for each in done["errors"]] == [each["values"] for each in answer["errors"]]
    inside = {"what": "is outside 1 to 40", "lowest": 1, "highest": 40}
    assert done["errors"][0]["values"] == {"row": 40, "file": "secret", **inside}
    found = anoncup("submissions", "nowhere", "--json")
    answer = arena.get("/competitions/nowhere/submissions", token=arena.team("red")).json()
    assert found.json["values"] == answer["values"]
    assert answer["values"]
