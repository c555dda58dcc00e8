"""A contest that allocates a secret to each team."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import source_from_secret
from anoncup.tracks.model import Draw
from app.db.models import AuditEntry, Drawn
from app.db.transaction import transaction
from tests.support.allocation_track import draws, labels
from tests.support.arena import ROWS, Arena
from tests.support.contest import Contest

PATH = "/competitions/small"


def opened(client: TestClient, patch: pytest.MonkeyPatch, draw: Draw, *, more: str = "") -> Contest:
    draws(patch, draw)
    return Contest.opened(client, more=more)


def given(arena: Arena, content: bytes | None = None, *, file: str = "hidden.csv") -> Any:
    return arena.put(f"{PATH}/truth/{file}", content=labels(ROWS) if content is None else content)


def own(arena: Arena, team: str, file: str = "") -> Any:
    return arena.get(f"{PATH}/own{file and '/' + file}", token=arena.team(team))


def rows() -> dict[str, Drawn]:
    with transaction() as session:
        return {one.team: one for one in session.scalars(select(Drawn))}


def acts(action: str) -> list[AuditEntry]:
    with transaction() as session:
        query = select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.number)
        return list(session.scalars(query))


def release(contest: Contest, team: str) -> bytes:
    """The rows in the order that was drawn for the team."""
    secret = own(contest.arena, team, "secret.csv").content
    order = source_from_secret(secret, originals=ROWS, anonymized=ROWS)
    return table_csv(contest.arena.table.iloc[order].reset_index(drop=True))


def submit(contest: Contest, team: str) -> Any:
    path, token = f"{PATH}/submissions", contest.arena.team(team)
    content = release(contest, team)
    return contest.arena.post(path, token=token, files={"anonymized": ("a.csv", content)})
