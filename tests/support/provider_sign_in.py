"""A running sign-in provider, and visitors who sign in with it without a browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from sys import executable
from urllib.parse import urlsplit

import httpx2
from fastapi.testclient import TestClient

from app.operations.supervisor import Program, wait_until_healthy
from tests.support.page_requests import SAME_ORIGIN
from tests.support.service_processes import find_free_port, require_running, run_program

CLIENT_SECRET = "a secret of the client"
PROVIDER = "lab"


@dataclass(frozen=True)
class RunningProvider:
    """A provider on a port, known to the service as ``lab``."""

    url: str

    def build_settings(self, name: str = PROVIDER) -> dict[str, str]:
        """Return the environment of a service that signs people in with the provider."""
        prefix = f"ANONCUP_SIGN_IN__{name.upper()}__"
        return {
            f"{prefix}LABEL": "Lab <ID>",
            f"{prefix}ISSUER": self.url,
            f"{prefix}CLIENT_ID": "anoncup",
            f"{prefix}CLIENT_SECRET": CLIENT_SECRET,
        }

    def forge(self, **claims: object) -> None:
        """Let the provider sign these claims from now on."""
        httpx2.put(f"{self.url}/forged", json=claims).raise_for_status()

    def authorize(self, url: str, subject: str) -> str:
        """Sign in at the provider and return the address that it sends the browser back to."""
        response = httpx2.post(url, data={"sub": subject})
        assert response.status_code == 302, response.text
        return str(response.headers["location"])

    def deny(self, url: str) -> str:
        return str(httpx2.post(url, data={"action": "deny"}).headers["location"])


@contextmanager
def run_provider(folder: Path) -> Iterator[RunningProvider]:
    port = find_free_port()
    log = folder / f"provider-{port}.log"
    command = [executable, "-W", "ignore", "-m", "tests.support.sign_in_provider", str(port)]
    with run_program(Program(name="provider", command=command, log=log)) as process:
        provider = RunningProvider(f"http://127.0.0.1:{port}")
        wait_until_healthy(f"{provider.url}/jwks", check=lambda: require_running(process, log))
        yield provider


def begin_sign_in(
    client: TestClient, path: str = f"/sign-in/{PROVIDER}", fields: dict[str, str] | None = None
) -> str:
    """Send a form that leads to the provider, and return the address there."""
    response = client.post(path, data=fields or {}, headers=SAME_ORIGIN)
    assert response.status_code == 200, response.text
    (url,) = re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', response.text)
    return str(unescape(url))


def follow(client: TestClient, address: str) -> httpx2.Response:
    """Open an address of the service as the browser does, without following redirects."""
    parts = urlsplit(address)
    response: httpx2.Response = client.get(f"{parts.path}?{parts.query}", follow_redirects=False)
    return response


def sign_in(
    client: TestClient, provider: RunningProvider, subject: str, fields: dict[str, str] | None = None
) -> httpx2.Response:
    """Sign in with the provider and return the service's answer."""
    return follow(client, provider.authorize(begin_sign_in(client, fields=fields), subject))
