"""How the contest's people speak to a service that keeps breaking: again and again, under the same key."""

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

PATIENCE_S = 400.0
"""A guard: whoever gets no answer for so long has found that the service does not come back."""
TIMEOUT_S = 20.0
HASTY_S = (0.02, 0.4)
"""Some clients hang up at once."""


class GivenUp(Exception):
    """No answer within all patience."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The one that came in the end. ``lost``: tries before it that nobody answered; ``put_off``: 503s."""

    response: httpx2.Response
    lost: int
    put_off: int

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def code(self) -> str:
        return str(self.json().get("code", ""))

    def json(self) -> Any:
        return self.response.json() if self.response.content else {}


@dataclass
class Calls:
    """What all people share: the address, what nobody may be told, and what went wrong in answers."""

    url: str
    canaries: Canaries
    wrong: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def caller(self, random: Random, token: str | None = None) -> "Caller":
        return Caller(self, random, token)

    def note(self, response: httpx2.Response, what: str) -> None:
        """Count an answer, and look at what no answer may be."""
        status, kind = response.status_code, response.headers.get("content-type", "")
        told = wrong_in(status, kind, response.content)
        leaked = self.canaries.seen_in(response.content)
        with self.lock:
            self.answers[f"{status}"] += 1
            if told:
                self.wrong.append(f"{what}: {told}")
            if leaked:
                self.wrong.append(f"{what}: the answer holds {leaked}")


def wrong_in(status: int, kind: str, content: bytes) -> str | None:
    """What is wrong with an error's form; a fault shows as 503 and nothing else."""
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


class Caller:
    """One person's connection."""

    def __init__(self, calls: Calls, random: Random, token: str | None) -> None:
        self.calls, self.random, self.token = calls, random, token
        self.client = httpx2.Client(base_url=f"{calls.url}/api/v1", trust_env=False)

    def close(self) -> None:
        self.client.close()

    def ask(
        self, method: str, path: str, *, key: str | None = None, hasty: float = 0.0, **content: Any
    ) -> Answer:
        """Until there is an answer other than 503. ``hasty``: how often this person hangs up early."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"Idempotency-Key": key} if key else {}
        headers["X-Confirm-Password"] = quote(PASSWORD)
        deadline, lost, put_off = time.monotonic() + PATIENCE_S, 0, 0
        while time.monotonic() < deadline:
            response = self.once(method, path, headers, hasty=hasty, content=content)
            if response is not None and response.status_code != 503:
                return Answer(response, lost, put_off)
            lost, put_off = lost + (response is None), put_off + (response is not None)
            hasty = hasty if lost < 3 else 0.0
            time.sleep(self.random.uniform(0.1, 1.5))
        raise GivenUp(f"{method} {path}: {lost} tries without an answer, {put_off} with 503")

    def once(
        self, method: str, path: str, headers: dict[str, str], *, hasty: float, content: dict[str, Any]
    ) -> httpx2.Response | None:
        timeout = self.random.uniform(*HASTY_S) if self.random.random() < hasty else TIMEOUT_S
        try:
            response = self.client.request(method, path, headers=headers, timeout=timeout, **content)
        except httpx2.RequestError:
            with self.calls.lock:
                self.calls.lost += 1
            return None
        self.calls.note(response, f"{method} {identified.sub('…', path)}")
        return response


identified = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
