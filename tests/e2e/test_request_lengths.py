"""A request that a proxy may see to end elsewhere, at a real web server."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.config import Settings
from tests.support.service_processes import run_web_server
from tests.support.wait import TIMEOUT_S

pytestmark = pytest.mark.full


def test_request_with_two_lengths_is_refused_and_ends_its_connection(
    settings: Settings, tmp_path: Path
) -> None:
    head = "POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with run_web_server(tmp_path) as url:
        address = (urlsplit(url).hostname, urlsplit(url).port)
        with socket.create_connection(address, timeout=TIMEOUT_S) as connection:
            connection.sendall(f"{head}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answers = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1
    assert b"either Content-Length or Transfer-Encoding" in answers
