"""A small competition with an organizer, teams, a table and releases."""

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
from sqlalchemy.orm import Session

from anoncup.schemas import TokenKind
from anoncup.schemas.fields import Role
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from app.core.db.models import User
from app.core.db.transaction import transaction
from app.core.identity import tokens, users
from app.core.identity.principal import Principal

API = "/api/v1"
ROWS = 40
PASSWORD = "correct horse"
serial_numbers = count()

COMPETITION_TEMPLATE = """
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


def build_competition_toml(
    slug: str = "small",
    *,
    threshold: float = 0.2,
    extra_toml: str = "",
    opens: float = -1,
    closes: float = 1,
    notice_hours: int | None = None,
) -> str:
    """Return the file of a competition that is open from ``opens`` to ``closes`` days from now.

    ``notice_hours`` is how long a reveal waits after a deadline was moved nearer.
    """
    extra_toml = extra_toml if notice_hours is None else add_reveal_notice(extra_toml, notice_hours)
    now = datetime.now(UTC)
    start, end = ((now + timedelta(days=days)).isoformat() for days in (opens, closes))
    return COMPETITION_TEMPLATE.format(slug=slug, threshold=threshold, more=extra_toml, start=start, end=end)


def add_reveal_notice(extra_toml: str, hours: int) -> str:
    """Return the extra TOML with this reveal notice in its ``[publication]`` table."""
    section = f"[publication]\nreveal_notice_hours = {hours}\n"
    return (
        extra_toml.replace("[publication]\n", section)
        if "[publication]" in extra_toml
        else f"{extra_toml}\n{section}"
    )


def build_original_table(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "age": rng.choice(["20", "30", "40", ""], rows),
            "income": rng.integers(0, 1000, rows).astype(float),
            "rent": rng.integers(0, 100, rows).astype(float),
        }
    )


def build_noisy_release(seed: int, table: pd.DataFrame, column: str = "income") -> tuple[bytes, bytes]:
    """Return a shuffled copy with a little noise in a column, and its secret."""
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(table))
    release_table = table.iloc[source].reset_index(drop=True)
    release_table[column] += rng.integers(-20, 21, len(table))
    return write_csv(release_table), write_secret(source)


def load_principal(session: Session, token: str) -> Principal:
    """Return the principal of a token of the API."""
    return tokens.resolve_credential(session, tokens.Credential(tokens.hash_token(token), TokenKind.API))


def create_browser_session(token: str) -> str:
    """Create a browser session with the rights of an API token. Return the cookie's value."""
    with transaction() as session:
        principal = load_principal(session, token)
        user = session.get_one(User, principal.user_id)
        scopes = tuple(principal.scopes)
        return tokens.issue_token(
            session, user, name=tokens.SESSION_NAME, scopes=scopes, kind=TokenKind.SESSION
        )


@dataclass
class Arena:
    client: TestClient
    organizer_token: str
    slug: str
    table: pd.DataFrame
    team_tokens: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(
        cls,
        client: TestClient,
        *,
        slug: str = "small",
        file: str | None = None,
        original: Mapping[str, bytes] | None = None,
        is_draft: bool = False,
        **settings: Any,
    ) -> "Arena":
        """Create organizer, competition and data; ``settings`` are those of ``build_competition_toml``."""
        name = f"organizer {next(serial_numbers)}"
        with transaction() as session:
            user = users.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
            token = tokens.issue_token(session, user, name="arena")
        arena = cls(client, token, slug, build_original_table())
        response = arena.post("/competitions", content=file or build_competition_toml(slug, **settings))
        assert response.status_code == 201, response.text
        for file_stem, content in (original or {"original": write_csv(arena.table)}).items():
            response = arena.put(f"/competitions/{slug}/original/{file_stem}.csv", content=content)
            assert response.status_code == 200, response.text
        return arena if is_draft else arena.publish()

    def publish(self) -> "Arena":
        response = self.post(f"/competitions/{self.slug}/publish")
        assert response.status_code == 200, response.text
        return self

    def call(
        self, method: str, path: str, *, token: str | None = None, team: str | None = None, **content: Any
    ) -> Response:
        """Call the API as a member of the team or with the token; otherwise as the organizer."""
        bearer = token or (self.get_team_token(team) if team else self.organizer_token)
        headers = {"Authorization": f"Bearer {bearer}"}
        if method != "GET":
            headers["X-Confirm-Password"] = quote(PASSWORD)
        response: Response = self.client.request(method, API + path, headers=headers, **content)
        return response

    def get(self, path: str, **reader: str | None) -> Response:
        return self.call("GET", path, **reader)

    def post(self, path: str, **content: Any) -> Response:
        return self.call("POST", path, **content)

    def put(self, path: str, **content: Any) -> Response:
        return self.call("PUT", path, **content)

    def get_team_token(self, name: str) -> str:
        """Return the API token of a member of the team. The first call signs the member up."""
        if name not in self.team_tokens:
            code = self.post(f"/competitions/{self.slug}/invites", json={}).json()["code"]
            body = {
                "invite": code,
                "team": name,
                "name": f"member {next(serial_numbers)}",
                "password": PASSWORD,
            }
            response = self.client.post(f"{API}/signup", json=body)
            assert response.status_code == 201, response.text
            self.team_tokens[name] = response.json()["token"]
        return self.team_tokens[name]

    def get_session(self, token: str) -> str:
        """Return the browser session for a token. The first call creates it."""
        if token not in self.sessions:
            self.sessions[token] = create_browser_session(token)
        return self.sessions[token]

    def submit(
        self, team: str, *, anonymized: bytes | None = None, secret: bytes | None = None, seed: int = 1
    ) -> Response:
        release = build_noisy_release(seed, self.table)
        files = {
            "anonymized": ("a.csv", release[0] if anonymized is None else anonymized),
            "secret": ("s.csv", release[1] if secret is None else secret),
        }
        return self.post(f"/competitions/{self.slug}/submissions", team=team, files=files)

    def submit_excessive(self, team: str) -> Response:
        """Submit a release that is rejected: its secret assigns the rows to other individuals."""
        reversed_table = self.table.iloc[::-1].reset_index(drop=True)
        secret = write_secret(np.arange(len(reversed_table)))
        return self.submit(team, anonymized=write_csv(reversed_table), secret=secret)

    def get_submission(self, identifier: str, team: str) -> dict[str, Any]:
        submission: dict[str, Any] = self.get(f"/submissions/{identifier}", team=team).json()
        return submission

    def get_board(self) -> dict[str, Any]:
        board: dict[str, Any] = self.client.get(f"{API}/competitions/{self.slug}/boards/anonymization").json()
        return board
