"""The HTTP API as Python calls."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import httpx2

from app.errors import DomainError, Unavailable

FINAL = {"SCORED", "REJECTED", "ERROR", "CANCELLED"}


class Refused(DomainError):
    """The service answered with a problem; ``problem`` is its body."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail", "no detail")), code=str(problem.get("code", status)))
        self.status = status
        self.problem = problem


class Client:
    """Calls on behalf of one token; use as a context manager."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 60) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx2.Client(base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=timeout_s)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def call(self, method: str, path: str, **content: Any) -> Any:
        """The answer's JSON (or text); Refused for an error, Unavailable if nobody answers."""
        try:
            answer = self.http.request(method, path, **content)
        except httpx2.TransportError as problem:
            raise Unavailable(f"the service cannot be reached: {problem}") from problem
        is_json = "json" in answer.headers.get("content-type", "")
        if answer.status_code >= 400:
            raise Refused(answer.status_code, answer.json() if is_json else {"detail": answer.text[:200]})
        return answer.json() if is_json else answer.text

    def token(self, name: str, password: str) -> str:
        made = self.call("POST", "/tokens", json={"name": name, "password": password})
        return str(made["token"])

    def competitions(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.call("GET", "/competitions")
        return listed

    def create_competition(self, file: str) -> dict[str, Any]:
        headers = {"Content-Type": "application/toml"}
        made: dict[str, Any] = self.call("POST", "/competitions", content=file.encode(), headers=headers)
        return made

    def put_original(self, slug: str, content: bytes, *, file: str = "original.csv") -> dict[str, Any]:
        path, headers = f"/competitions/{slug}/original/{file}", {"Content-Type": "text/csv"}
        stored: dict[str, Any] = self.call("PUT", path, content=content, headers=headers)
        return stored

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return str(self.call("POST", f"/competitions/{slug}/invites", json={"uses": uses})["code"])

    def sign_up(self, *, invite: str, team: str, name: str, password: str) -> str:
        """Sign up a new team; returns its member's token."""
        body = {"invite": invite, "team": team, "name": name, "password": password}
        return str(self.call("POST", "/signup", json=body)["token"])

    def submit(
        self, slug: str, release: Mapping[str, bytes], *, secret: bytes, comment: str = ""
    ) -> dict[str, Any]:
        """Hand in a release, its files by name (``anonymized``, or ``customers`` and ``transactions``)."""
        contents = {**release, "secret": secret}
        files = {name: (f"{name}.csv", content) for name, content in contents.items()}
        path = f"/competitions/{slug}/submissions"
        receipt: dict[str, Any] = self.call("POST", path, files=files, data={"comment": comment})
        return receipt

    def submissions(self, slug: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.call("GET", f"/competitions/{slug}/submissions")
        return listed

    def submission(self, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/submissions/{identifier}")
        return found

    def wait(
        self, identifier: str, *, timeout_s: float, meanwhile: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """The submission once its scoring has ended; Unavailable after ``timeout_s``."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            found = self.submission(identifier)
            if found["status"] in FINAL:
                return found
            meanwhile()
            time.sleep(0.1)
        raise Unavailable(f"submission {identifier} was not scored within {timeout_s:.0f} s")

    def board(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/competitions/{slug}/boards/anonymization")
        return found
