"""How the service is called: requests and uploads sent, pages and files fetched, refusals raised."""

import hashlib
import io
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx2
from pydantic import ValidationError

from app.errors import DomainError, InvalidInput, Unavailable
from app.messages import Message
from app.wire import Form

PAUSES_S = (0.5, 1.0, 2.0)
"""Before an upload whose connection broke is sent again."""
CONFIRM, PASSWORD_NEEDED = "X-Confirm-Password", "password_needed"
SLOWEST_POLL_S = 1.0
UPLOAD_TIMEOUT_S = 300.0
"""An upload is read and checked before it is answered."""
CONNECT_TIMEOUT_S = 10.0

Transferred = Callable[[int, int], None]
"""Told the bytes that have gone, and of how many."""


Told = TypeVar("Told", bound=Form)
NOT_IT = "what answers at this address is not the service"


class Refused(DomainError):
    """The service answered with a problem; ``problem`` is its body, ``retry_after`` in seconds if told."""

    def __init__(self, status: int, problem: dict[str, Any], *, retry_after: int | None = None) -> None:
        super().__init__(
            Message(str(problem.get("detail", "no detail"))), code=str(problem.get("code", status))
        )
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


class Watched(io.BytesIO):
    """Bytes that tell how many of them have been read."""

    def __init__(self, content: bytes, told: Callable[[int], None]) -> None:
        super().__init__(content)
        self.told = told

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        self.told(len(chunk))
        return chunk


def unseen(found: object) -> None:
    """A state that nobody watches."""


def unwatched(sent: int, of: int) -> None:
    """A transfer that nobody watches."""


class Transport:
    """One service and one token; use as a context manager."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60,
        password: Callable[[], str] | None = None,
    ) -> None:
        """``password``: asked when the service wants it, for what cannot be undone or opens a way in."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
        self.url = checked_url(url)
        self.password = password
        self.http = httpx2.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def call(self, method: str, path: str, **content: Any) -> Any:
        """The answer's JSON (or text); Refused for an error, Unavailable if nobody answers."""
        return read(self.answer(method, path, **content))

    def answer(self, method: str, path: str, **content: Any) -> httpx2.Response:
        with reaching():
            answer = self.http.request(method, path, **content)
        if self.password is not None and needs_password(answer):
            confirming = {CONFIRM: quote(self.password(), safe="")}
            content["headers"] = {**content.get("headers", {}), **confirming}
            with reaching():
                answer = self.http.request(method, path, **content)
        refuse(answer)
        return answer

    def read(self, form: type[Told], path: str) -> Told:
        """What is at a path, as what it is; what the service says besides is kept."""
        return told(form, self.call("GET", path))

    def several(self, form: type[Told], path: str, **query: Any) -> list[Told]:
        """All entries of a list."""
        return [told(form, one) for one in self.pages(path, **query)]

    def text(self, path: str) -> str:
        return self.answer("GET", path).text

    def pages(self, path: str, **query: Any) -> list[Any]:
        """All entries of a list, page after page as the Link header leads."""
        entries: list[Any] = []
        asked: str | None = str(httpx2.QueryParams(query))
        while asked is not None:
            answer = self.answer("GET", f"{path}?{asked}" if asked else path)
            entries += read(answer)
            following = answer.links.get("next", {}).get("url")
            # Only the query is taken: behind a proxy the path may be another, and no link may lead elsewhere.
            asked = urlsplit(following).query if following else None
        return entries

    def save(self, path: str, into: Path, *, progress: Transferred = unwatched) -> str:
        """Stream an answer into a file, which appears whole or not at all; returns its SHA-256."""
        digest, received = hashlib.sha256(), 0
        with appearing(into) as file, reaching(), self.http.stream("GET", path) as answer:
            if answer.status_code >= 300:
                answer.read()
                refuse(answer)
            of = int(answer.headers.get("content-length", 0))
            for chunk in answer.iter_bytes():
                file.write(chunk)
                digest.update(chunk)
                received += len(chunk)
                progress(received, of)
        return digest.hexdigest()

    def deliver(
        self,
        path: str,
        contents: Mapping[str, bytes],
        *,
        texts: Mapping[str, str] | None = None,
        progress: Transferred = unwatched,
    ) -> dict[str, Any]:
        """POST files under one idempotency key; where the connection breaks, they are sent again under it."""
        headers, of = {"Idempotency-Key": str(uuid4())}, sum(map(len, contents.values()))
        for pause in (*PAUSES_S, None):
            try:
                files = watched(contents, lambda sent: progress(sent, of))
                receipt: dict[str, Any] = self.call(
                    "POST", path, files=files, data=texts, headers=headers, timeout=UPLOAD_TIMEOUT_S
                )
            except Unavailable:
                if pause is None:
                    raise
                time.sleep(pause)
            else:
                return receipt
        raise AssertionError("the last pause is None")

    def until(
        self,
        form: type[Told],
        path: str,
        ended: Callable[[Told], bool],
        *,
        timeout_s: float,
        patience_s: float = 0.0,
        watch: Callable[[Told], None] = unseen,
    ) -> Told:
        """What is at ``path`` once it has ``ended``."""
        now = time.monotonic()
        deadline, answered, pause = now + timeout_s, now, 0.1
        while time.monotonic() < deadline:
            try:
                found = self.read(form, path)
            except Unavailable:
                if time.monotonic() - answered >= patience_s:
                    raise
            else:
                answered = time.monotonic()
                watch(found)
                if ended(found):
                    return found
            time.sleep(pause)
            pause = min(pause * 1.2, SLOWEST_POLL_S)
        raise Unavailable(
            "{what} did not end within {timeout_s:.0f} s", what=path.rpartition("/")[2], timeout_s=timeout_s
        )


def at(slug: str, *parts: str) -> str:
    """The path of something that belongs to a competition."""
    return "/".join(["/competitions", *map(part, (slug, *parts))])


def part(name: str) -> str:
    """A name as one part of a path, whatever it is made of."""
    if name in {"", ".", ".."}:
        raise InvalidInput("{name!r} names nothing", code="invalid_name", name=name)
    return quote(name, safe="")


def checked_url(url: str) -> str:
    """The service's address without its last slash."""
    try:
        found = urlsplit(url)
        usable = found.scheme in {"http", "https"} and bool(found.hostname) and (found.port or 1) > 0
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable:
        raise InvalidInput(
            "{url!r} is not an address like https://cup.example.org", code="invalid_url", url=url
        )
    return url.rstrip("/")


def needs_password(answer: httpx2.Response) -> bool:
    return answer.status_code == 403 and is_json(answer) and json_of(answer).get("code") == PASSWORD_NEEDED


def refuse(answer: httpx2.Response) -> None:
    """Raise what an answer that is none stands for."""
    status = answer.status_code
    if status < 300:
        return
    if status < 400:
        where = answer.headers.get("location", "elsewhere")
        raise Unavailable("the service answers from another address: {where}", where=where)
    problem = json_of(answer) if is_json(answer) else {"detail": f"{status} {answer.text[:200]}".strip()}
    if status in {502, 503, 504}:
        raise Unavailable("the service is not available: {reason}", reason=str(problem.get("detail", status)))
    wait = answer.headers.get("retry-after", "")
    raise Refused(status, problem, retry_after=int(wait) if wait.isdecimal() else None)


def read(answer: httpx2.Response) -> Any:
    if not answer.content:
        return None
    if is_json(answer):
        return json_of(answer)
    if "html" in answer.headers.get("content-type", ""):
        raise Unavailable("a page of another kind answers at this address, not the service")
    return answer.text


def told(form: type[Told], content: Any) -> Told:
    try:
        return form.model_validate(content, extra="allow")
    except ValidationError:
        raise Unavailable(NOT_IT) from None


def json_of(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise Unavailable(NOT_IT) from None


def is_json(answer: httpx2.Response) -> bool:
    return "json" in answer.headers.get("content-type", "")


@contextmanager
def reaching() -> Iterator[None]:
    """Say why nobody answers."""
    try:
        yield
    except httpx2.RequestError as problem:
        raise Unavailable("the service cannot be reached: {reason}", reason=reason(problem)) from problem


def reason(problem: BaseException) -> str:
    """The innermost cause that people can do something about."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            said = cause.verify_message or str(cause)
            return f"its certificate is not trusted ({said}); SSL_CERT_FILE names further authorities"
        cause = cause.__cause__ or cause.__context__
    if isinstance(problem, httpx2.TimeoutException):
        return "it does not answer in time"
    return str(problem) or type(problem).__name__


def watched(contents: Mapping[str, bytes], told: Callable[[int], None]) -> dict[str, Any]:
    """The parts of a multipart request that tell how much of all of them has been read."""
    sent = 0

    def count(more: int) -> None:
        nonlocal sent
        sent += more
        told(sent)

    return {name: (f"{name}.csv", Watched(content, count)) for name, content in contents.items()}


def chunks(content: bytes, progress: Transferred, *, size: int = 1 << 16) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]
        progress(min(start + size, len(content)), len(content))


@contextmanager
def appearing(path: Path) -> Iterator[Any]:
    """A file that gets its name once all of it is there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o666 & ~umask())
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
