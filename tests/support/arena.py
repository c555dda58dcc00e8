"""A small contest to test in: an organizer, teams, a table, releases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from app.db.models import TokenKind, User
from app.db.transaction import transaction
from app.services.accounts import accounts

API = "/api/v1"
ROWS = 40
PASSWORD = "correct horse"
numbers = count()

FILE = """
format = 1
slug = "{slug}"
title = {{ en = "Small cup", ja = "小さな杯" }}
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = ["sex", "age"]
sensitive = ["income", "rent"]
[measures.mean_mae]
weight = 1.0
[measures.cross_count]
weight = 1.0
[measures.information_loss]
weight = 2.0
[excessive]
threshold = {threshold}
{more}
[[phases]]
name = "anonymization"
start = {start}
end = {end}
"""


def competition_file(
    slug: str = "small",
    *,
    threshold: float = 0.2,
    more: str = "",
    opens: float = -1,
    closes: float = 1,
    notice: int | None = None,
) -> str:
    """The file of a competition that is open from ``opens`` to ``closes`` days from now.

    ``notice``: the hours that a reveal waits for an end that was moved nearer.
    """
    more = more if notice is None else with_notice(more, notice)
    now = datetime.now(UTC)
    start, end = ((now + timedelta(days=days)).isoformat() for days in (opens, closes))
    return FILE.format(slug=slug, threshold=threshold, more=more, start=start, end=end)


def with_notice(more: str, hours: int) -> str:
    """What is added to a competition's file, with that notice in its ``[publication]``."""
    told = f"[publication]\nreveal_notice_hours = {hours}\n"
    return more.replace("[publication]\n", told) if "[publication]" in more else f"{more}\n{told}"


def original_table(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "age": rng.choice(["20", "30", "40", ""], rows),
            "income": rng.integers(0, 1000, rows).astype(float),
            "rent": rng.integers(0, 100, rows).astype(float),
        }
    )


def noisy_release(seed: int, table: pd.DataFrame) -> tuple[bytes, bytes]:
    """A shuffled copy with a little noise, and its secret."""
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(table))
    released = table.iloc[source].reset_index(drop=True)
    released["income"] += rng.integers(-20, 21, len(table))
    return table_csv(released), secret_csv(source)


def session_of(token: str) -> str:
    """A browser's new session of whoever has that API token, with its rights: the value of the cookie."""
    with transaction() as session:
        person = accounts.authenticate(session, token)
        user = session.get_one(User, person.user_id)
        scopes = tuple(person.scopes)
        return accounts.issue_token(
            session, user, name=accounts.SESSION_NAME, scopes=scopes, kind=TokenKind.SESSION
        )


@dataclass
class Arena:
    client: TestClient
    organizer: str
    slug: str
    table: pd.DataFrame
    tokens: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def opened(
        cls,
        client: TestClient,
        *,
        slug: str = "small",
        file: str | None = None,
        original: Mapping[str, bytes] | None = None,
    ) -> "Arena":
        """Create the organizer, the competition and its data through the API."""
        name = f"organizer {next(numbers)}"
        with transaction() as session:
            user = accounts.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
            token = accounts.issue_token(session, user, name="arena")
        arena = cls(client, token, slug, original_table())
        answer = arena.post("/competitions", content=file or competition_file(slug))
        assert answer.status_code == 201, answer.text
        for part, content in (original or {"original": table_csv(arena.table)}).items():
            answer = arena.put(f"/competitions/{slug}/original/{part}.csv", content=content)
            assert answer.status_code == 200, answer.text
        return arena

    def call(self, method: str, path: str, *, token: str | None = None, **content: Any) -> Response:
        headers = {"Authorization": f"Bearer {token or self.organizer}"}
        if method != "GET":
            headers["X-Confirm-Password"] = quote(PASSWORD)
        answer: Response = self.client.request(method, API + path, headers=headers, **content)
        return answer

    def get(self, path: str, *, token: str | None = None) -> Response:
        return self.call("GET", path, token=token)

    def post(self, path: str, *, token: str | None = None, **content: Any) -> Response:
        return self.call("POST", path, token=token, **content)

    def put(self, path: str, *, token: str | None = None, **content: Any) -> Response:
        return self.call("PUT", path, token=token, **content)

    def team(self, name: str) -> str:
        """The token of a team's member, signed up by invite on first use."""
        if name not in self.tokens:
            code = self.post(f"/competitions/{self.slug}/invites", json={}).json()["code"]
            body = {"invite": code, "team": name, "name": f"member {next(numbers)}", "password": PASSWORD}
            answer = self.client.post(f"{API}/signup", json=body)
            assert answer.status_code == 201, answer.text
            self.tokens[name] = answer.json()["token"]
        return self.tokens[name]

    def session(self, token: str) -> str:
        """The session in a browser of whoever has that token, with its rights, begun on first use."""
        if token not in self.sessions:
            self.sessions[token] = session_of(token)
        return self.sessions[token]

    def submit(
        self, team: str, *, anonymized: bytes | None = None, secret: bytes | None = None, seed: int = 1
    ) -> Response:
        good = noisy_release(seed, self.table)
        files = {
            "anonymized": ("a.csv", good[0] if anonymized is None else anonymized),
            "secret": ("s.csv", good[1] if secret is None else secret),
        }
        return self.post(f"/competitions/{self.slug}/submissions", token=self.team(team), files=files)

    def submission(self, identifier: str, team: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/submissions/{identifier}", token=self.team(team)).json()
        return found

    def board(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"{API}/competitions/{self.slug}/boards/anonymization").json()
        return found
