"""HTTP transport of the client: requests, uploads, paging, downloads and error handling."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx2
from pydantic import BaseModel, ValidationError

from anoncup.errors import DomainError, InvalidInput, Unavailable
from anoncup.messages import RemoteMessage
from anoncup.schemas import Problem

RETRY_DELAYS_S = (0.5, 1.0, 2.0)
"""Delays before each retry of an upload whose connection broke."""
_PASSWORD_HEADER, _PASSWORD_NEEDED = "X-Confirm-Password", "password_needed"
_MAX_POLL_INTERVAL_S = 1.0
UPLOAD_TIMEOUT_S = 300.0
"""Longer than for other requests: the service reads and checks an upload before it answers."""
_CONNECT_TIMEOUT_S = 10.0


ModelT = TypeVar("ModelT", bound=BaseModel)
_DEFAULT_PROBLEM = {"type": "about:blank", "title": "Error", "detail": "no detail"}
"""Defaults for an error response without these fields."""
_NOT_THE_SERVICE = "what answers at this address is not the service"


class RequestOptions(TypedDict, total=False):
    """Keyword arguments of an httpx2 request."""

    json: Mapping[str, object]
    content: bytes
    data: Mapping[str, str] | None
    files: Mapping[str, tuple[str, bytes]]
    headers: dict[str, str]
    timeout: float


class ApiError(DomainError):
    """An error response of the service, with its problem document.

    ``retry_after`` is in seconds; None if the response does not give it.
    """

    def __init__(self, problem: Problem, *, retry_after: int | None = None) -> None:
        super().__init__(RemoteMessage(problem.detail, **problem.values), code=problem.code)
        self.status = problem.status
        self.problem = problem
        self.retry_after = retry_after


def ignore_state(state: object) -> None:
    """Default for ``watch``: do nothing."""


class Transport:
    """A connection to one service with one token. Use as a context manager."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60,
        password: Callable[[], str] | None = None,
    ) -> None:
        """``password`` is called if the service requires step-up authentication for a request."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx2.Timeout(timeout_s, connect=min(_CONNECT_TIMEOUT_S, timeout_s))
        self.url = validate_url(url)
        self.password = password
        self.http = httpx2.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def call(self, model: type[ModelT], method: str, path: str, **options: Unpack[RequestOptions]) -> ModelT:
        """Send a request and parse the response. Fields that the model does not know are kept."""
        return parse_model(model, _parse_json(self.send(method, path, **options)))

    def send(self, method: str, path: str, **options: Unpack[RequestOptions]) -> httpx2.Response:
        """Send a request; raise ApiError for an error response, Unavailable if the service is unreachable."""
        with _handle_connection_errors():
            response = self.http.request(method, path, **options)
        if self.password is not None and _needs_password(response):
            password_header = {_PASSWORD_HEADER: quote(self.password(), safe="")}
            options["headers"] = {**options.get("headers", {}), **password_header}
            with _handle_connection_errors():
                response = self.http.request(method, path, **options)
        _raise_for_problem(response)
        return response

    def get(self, model: type[ModelT], path: str) -> ModelT:
        return self.call(model, "GET", path)

    def get_list(self, model: type[ModelT], path: str, **query: str) -> list[ModelT]:
        """Return all entries of a list as models."""
        return [parse_model(model, entry) for entry in self.get_pages(path, **query)]

    def get_text(self, path: str) -> str:
        return self.send("GET", path).text

    def get_pages(self, path: str, **query: str) -> list[object]:
        """Return all entries of a list, following the Link headers from page to page."""
        entries: list[object] = []
        query_string: str | None = str(httpx2.QueryParams(query))
        while query_string is not None:
            response = self.send("GET", f"{path}?{query_string}" if query_string else path)
            entries += _require_list(_parse_json(response))
            next_url = response.links.get("next", {}).get("url")
            # Use only the query: behind a proxy the path may differ, and no link may lead to another server.
            query_string = urlsplit(next_url).query if next_url else None
        return entries

    def download(self, path: str, destination: Path) -> str:
        """Download a file and return its SHA-256. ``destination`` is only written once it is complete."""
        digest, partial = hashlib.sha256(), destination.with_name(f".{destination.name}.part")
        try:
            with (
                _handle_connection_errors(),
                self.http.stream("GET", path) as response,
                partial.open("wb") as file,
            ):
                if response.status_code >= 300:
                    response.read()
                    _raise_for_problem(response)
                for chunk in response.iter_bytes():
                    file.write(chunk)
                    digest.update(chunk)
            partial.replace(destination)
        finally:
            partial.unlink(missing_ok=True)
        return digest.hexdigest()

    def post_files(
        self,
        model: type[ModelT],
        path: str,
        contents: Mapping[str, bytes],
        *,
        texts: Mapping[str, str] | None = None,
        key: str = "",
    ) -> ModelT:
        """Upload files with an idempotency key; if the connection breaks, retry with the same key.

        If ``key`` was used before, the service returns the earlier receipt. Without ``key``, a random one is
        used.
        """
        options: RequestOptions = {
            "files": {name: (f"{name}.csv", content) for name, content in contents.items()},
            "data": texts,
            "headers": {"Idempotency-Key": key or str(uuid4())},
            "timeout": UPLOAD_TIMEOUT_S,
        }
        for delay in RETRY_DELAYS_S:
            try:
                return self.call(model, "POST", path, **options)
            except Unavailable:
                time.sleep(delay)
        return self.call(model, "POST", path, **options)

    def poll(
        self,
        model: type[ModelT],
        path: str,
        is_final: Callable[[ModelT], bool],
        *,
        timeout_s: float,
        max_outage_s: float = 0.0,
        watch: Callable[[ModelT], None] = ignore_state,
    ) -> ModelT:
        """Poll ``path`` until ``is_final`` holds and return the last state.

        The pauses grow up to what the service asks for in ``Retry-After``.
        """
        now = time.monotonic()
        deadline, last_answer_at, interval = now + timeout_s, now, 0.1
        max_interval = _MAX_POLL_INTERVAL_S
        while time.monotonic() < deadline:
            try:
                response = self.send("GET", path)
                state = parse_model(model, _parse_json(response))
            except Unavailable:
                if time.monotonic() - last_answer_at >= max_outage_s:
                    raise
            else:
                last_answer_at = time.monotonic()
                watch(state)
                if is_final(state):
                    return state
                max_interval = _parse_retry_after(response) or _MAX_POLL_INTERVAL_S
            time.sleep(interval)
            interval = min(interval * 1.2, max_interval)
        raise Unavailable(
            "{what} did not end within {timeout_s:.0f} s", what=path.rpartition("/")[2], timeout_s=timeout_s
        )


def competition_path(slug: str, *parts: str) -> str:
    """Return the API path of a resource of a competition."""
    return "/".join(["/competitions", *map(quote_segment, (slug, *parts))])


def quote_segment(name: str) -> str:
    """Quote a name for use as one path segment."""
    if name in {"", ".", ".."}:
        raise InvalidInput("{name!r} names nothing", code="invalid_name", name=name)
    return quote(name, safe="")


def validate_url(url: str) -> str:
    """Return the service's address without a trailing slash; raise InvalidInput if it is not an HTTP URL."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        is_usable = False
    if not is_usable:
        raise InvalidInput(
            "{url!r} is not an address like https://cup.example.org", code="invalid_url", url=url
        )
    return url.rstrip("/")


def _needs_password(response: httpx2.Response) -> bool:
    return response.status_code == 403 and _parse_problem(response).code == _PASSWORD_NEEDED


def _raise_for_problem(response: httpx2.Response) -> None:
    """Raise ApiError or Unavailable for a response other than success."""
    status = response.status_code
    if status < 300:
        return
    if status < 400:
        location = response.headers.get("location", "elsewhere")
        raise Unavailable("the service answers from another address: {where}", where=location)
    problem = _parse_problem(response)
    if status in {502, 503, 504}:
        raise Unavailable("the service is not available: {reason}", reason=problem.detail)
    raise ApiError(problem, retry_after=_parse_retry_after(response))


def _parse_retry_after(response: httpx2.Response) -> int | None:
    retry_after = response.headers.get("retry-after", "")
    return int(retry_after) if retry_after.isdecimal() else None


def _parse_problem(response: httpx2.Response) -> Problem:
    """Parse a problem document. For other responses, such as a proxy's, the text becomes the detail."""
    status = response.status_code
    content = (
        _parse_json(response) if _is_json(response) else {"detail": f"{status} {response.text[:200]}".strip()}
    )
    if not isinstance(content, dict):
        raise Unavailable(_NOT_THE_SERVICE)
    return parse_model(Problem, {**_DEFAULT_PROBLEM, "code": str(status), **content, "status": status})


def _require_list(content: object) -> list[object]:
    if not isinstance(content, list):
        raise Unavailable(_NOT_THE_SERVICE)
    return content


def parse_model(model: type[ModelT], content: object) -> ModelT:
    """Validate a response; fields that the model does not know are kept."""
    try:
        return model.model_validate(content, extra="allow")
    except ValidationError as error:
        fields = dict.fromkeys(".".join(map(str, entry["loc"])) for entry in error.errors())
        raise Unavailable(
            "what answers at this address is not the service, or not of the version of this program: {name} "
            "without a valid {fields}",
            name=model.__name__,
            fields=tuple(fields)[:3],
        ) from None


def _parse_json(response: httpx2.Response) -> object:
    try:
        content: object = response.json()
    except ValueError:
        raise Unavailable(_NOT_THE_SERVICE) from None
    return content


def _is_json(response: httpx2.Response) -> bool:
    return "json" in response.headers.get("content-type", "")


@contextmanager
def _handle_connection_errors() -> Iterator[None]:
    """Raise Unavailable with the reason if the service cannot be reached."""
    try:
        yield
    except httpx2.RequestError as problem:
        raise Unavailable(
            "the service cannot be reached: {reason}", reason=str(problem) or type(problem).__name__
        ) from problem
