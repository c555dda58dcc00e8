"""HTTP client of the contest's people, which retries under the same idempotency key."""

import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

import httpx2

from tests.faults.canaries import Canaries
from tests.support.arena import PASSWORD

PATIENCE_S = 900.0
"""Upper bound of every wait, also on a busy machine; what has not happened by then will not happen."""
TIMEOUT_S, MAX_TIMEOUT_S = 20.0, 300.0
"""First and longest timeout of a try. It doubles after each, so that a slow answer is waited for at last."""
SHORT_TIMEOUT_S = (0.02, 0.4)
"""Timeouts of impatient clients, which hang up almost at once."""
RETRY_PAUSE_S = (0.1, 1.5)


class NoResponse(Exception):
    """No final response within ``PATIENCE_S``."""


@dataclass(frozen=True, slots=True)
class RetriedResponse:
    """The final response, after ``failed_tries`` without a response or with a 503."""

    response: httpx2.Response
    failed_tries: int

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def code(self) -> str:
        return str(self.json().get("code", ""))

    def json(self) -> Any:
        return self.response.json() if self.response.content else {}


@dataclass
class CallRecorder:
    """State shared by all people: address, canaries, and problems found in responses."""

    url: str
    canaries: Canaries
    problems: list[str] = field(default_factory=list)
    status_counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, response: httpx2.Response, route: str) -> None:
        """Count a response and record whether it is malformed or leaks a secret."""
        status, kind = response.status_code, response.headers.get("content-type", "")
        problem = find_problem(status, kind, response.content)
        leaked = self.canaries.find_leak(response.content)
        with self.lock:
            self.status_counts[str(status)] += 1
            if problem:
                self.problems.append(f"{route}: {problem}")
            if leaked:
                self.problems.append(f"{route}: the answer holds {leaked}")


def find_problem(status: int, kind: str, content: bytes) -> str | None:
    """Return what is wrong with an error response: a fault must be a 503 problem with a code."""
    if status < 500:
        return None
    if status != 503:
        return f"answered {status}: {content[:300]!r}"
    try:
        body = json.loads(content)
    except ValueError:
        return f"a 503 that is no JSON: {content[:300]!r}"
    if not kind.startswith("application/problem+json") or not body.get("code"):
        return f"a 503 that is no problem: {kind} {content[:300]!r}"
    return None


def may_be_repeated(response: httpx2.Response) -> bool:
    """Return whether nothing was done because of a fault, or of another request, perhaps an own lost one."""
    return response.status_code == 503 or (
        response.status_code == 409 and response.json().get("code") == "changed_meanwhile"
    )


class Caller:
    """The connection of one person."""

    def __init__(self, calls: CallRecorder, random: Random, token: str | None) -> None:
        self.calls, self.random, self.token = calls, random, token
        self.client = httpx2.Client(base_url=f"{calls.url}/api/v1", trust_env=False)

    def request(
        self, method: str, path: str, *, key: str | None = None, hang_up_rate: float = 0.0, **content: Any
    ) -> RetriedResponse:
        """Repeat a request while it gets no response, 503, or the request to send it again.

        ``hang_up_rate``: share of tries that end early.
        """
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"Idempotency-Key": key} if key else {}
        headers["X-Confirm-Password"] = quote(PASSWORD)
        failed_tries, longest_s, deadline = 0, TIMEOUT_S, time.monotonic() + PATIENCE_S
        while (started_at := time.monotonic()) < deadline:
            hangs_up = failed_tries < 3 and self.random.random() < hang_up_rate
            timeout = self.random.uniform(*SHORT_TIMEOUT_S) if hangs_up else longest_s
            response = self.try_request(method, path, headers, timeout=timeout, content=content)
            if response is not None and not may_be_repeated(response):
                return RetriedResponse(response, failed_tries)
            if time.monotonic() >= started_at + longest_s:
                longest_s = min(2 * longest_s, MAX_TIMEOUT_S)
            failed_tries += 1
            time.sleep(self.random.uniform(*RETRY_PAUSE_S))
        raise NoResponse(f"{method} {path}: {failed_tries} tries")

    def try_request(
        self, method: str, path: str, headers: dict[str, str], *, timeout: float, content: dict[str, Any]
    ) -> httpx2.Response | None:
        try:
            response = self.client.request(method, path, headers=headers, timeout=timeout, **content)
        except httpx2.RequestError:
            with self.calls.lock:
                self.calls.status_counts["no answer"] += 1
            return None
        self.calls.record(response, f"{method} {IDENTIFIER.sub('…', path)}")
        return response


IDENTIFIER = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
