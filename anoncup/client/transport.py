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
from typing import IO, Self, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx2
from pydantic import BaseModel, ValidationError

from anoncup.errors import DomainError, InvalidInput, Unavailable
from anoncup.messages import Heard
from anoncup.schemas import Problem

PAUSES_S = (0.5, 1.0, 2.0)
"""Before an upload whose connection broke is sent again."""
CONFIRM, PASSWORD_NEEDED = "X-Confirm-Password", "password_needed"
SLOWEST_POLL_S = 1.0
UPLOAD_TIMEOUT_S = 300.0
"""An upload is read and checked before it is answered."""
CONNECT_TIMEOUT_S = 10.0

Transferred = Callable[[int, int], None]
"""Told the bytes that have gone, and of how many."""


Told = TypeVar("Told", bound=BaseModel)
Files = Mapping[str, tuple[str, IO[bytes]]]
UNKNOWN = {"type": "about:blank", "title": "Error", "detail": "no detail"}
"""What a refusal says that leaves out why."""
NOT_IT = "what answers at this address is not the service"


class Sent(TypedDict, total=False):
    """What a request may have, as httpx2 calls it."""

    json: Mapping[str, object]
    content: bytes | Iterator[bytes]
    data: Mapping[str, str] | None
    files: Files
    headers: dict[str, str]
    timeout: float


class Refused(DomainError):
    """The service answered with a problem; ``retry_after`` in seconds if told."""

    def __init__(self, problem: Problem, *, retry_after: int | None = None) -> None:
        super().__init__(Heard(problem.detail, **problem.values), code=problem.code)
        self.status = problem.status
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

    def call(self, form: type[Told], method: str, path: str, **content: Unpack[Sent]) -> Told:
        """What is answered, as what it is; what the service says besides is kept."""
        return told(form, read(self.answer(method, path, **content)))

    def answer(self, method: str, path: str, **content: Unpack[Sent]) -> httpx2.Response:
        """Refused for an error, Unavailable if nobody answers."""
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
        return self.call(form, "GET", path)

    def several(self, form: type[Told], path: str, **query: str) -> list[Told]:
        """All entries of a list."""
        return [told(form, one) for one in self.pages(path, **query)]

    def text(self, path: str) -> str:
        return self.answer("GET", path).text

    def pages(self, path: str, **query: str) -> list[object]:
        """All entries of a list, page after page as the Link header leads."""
        entries: list[object] = []
        asked: str | None = str(httpx2.QueryParams(query))
        while asked is not None:
            answer = self.answer("GET", f"{path}?{asked}" if asked else path)
            entries += listed(read(answer))
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
        form: type[Told],
        path: str,
        contents: Mapping[str, bytes],
        *,
        texts: Mapping[str, str] | None = None,
        key: str = "",
        progress: Transferred = unwatched,
    ) -> Told:
        """POST files under one idempotency key; where the connection breaks, they are sent again under it.

        ``key``: what was sent under it before is answered with the receipt of then.
        """
        headers, of = {"Idempotency-Key": key or str(uuid4())}, sum(map(len, contents.values()))
        for pause in (*PAUSES_S, None):
            try:
                files = watched(contents, lambda sent: progress(sent, of))
                receipt = self.call(
                    form, "POST", path, files=files, data=texts, headers=headers, timeout=UPLOAD_TIMEOUT_S
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
    return answer.status_code == 403 and problem_of(answer).code == PASSWORD_NEEDED


def refuse(answer: httpx2.Response) -> None:
    """Raise what an answer that is none stands for."""
    status = answer.status_code
    if status < 300:
        return
    if status < 400:
        where = answer.headers.get("location", "elsewhere")
        raise Unavailable("the service answers from another address: {where}", where=where)
    problem = problem_of(answer)
    if status in {502, 503, 504}:
        raise Unavailable("the service is not available: {reason}", reason=problem.detail)
    wait = answer.headers.get("retry-after", "")
    raise Refused(problem, retry_after=int(wait) if wait.isdecimal() else None)


def problem_of(answer: httpx2.Response) -> Problem:
    """Why nothing was done; of who answers in the service's place, what it says."""
    status = answer.status_code
    said = json_of(answer) if is_json(answer) else {"detail": f"{status} {answer.text[:200]}".strip()}
    if not isinstance(said, dict):
        raise Unavailable(NOT_IT)
    return told(Problem, {**UNKNOWN, "code": str(status), **said, "status": status})


def read(answer: httpx2.Response) -> object:
    if not answer.content:
        return None
    if is_json(answer):
        return json_of(answer)
    if "html" in answer.headers.get("content-type", ""):
        raise Unavailable("a page of another kind answers at this address, not the service")
    return answer.text


def listed(content: object) -> list[object]:
    if not isinstance(content, list):
        raise Unavailable(NOT_IT)
    return content


def told(form: type[Told], content: object) -> Told:
    try:
        return form.model_validate(content, extra="allow")
    except ValidationError:
        raise Unavailable(NOT_IT) from None


def json_of(answer: httpx2.Response) -> object:
    try:
        content: object = answer.json()
    except ValueError:
        raise Unavailable(NOT_IT) from None
    return content


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


def watched(contents: Mapping[str, bytes], told: Callable[[int], None]) -> Files:
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
def appearing(path: Path) -> Iterator[IO[bytes]]:
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
