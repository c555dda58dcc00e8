"""A contest in which the service allocates a secret to each team."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.tables.csv_text import write_csv
from anoncup.tracks.capabilities import Allocation
from anoncup.tracks.linkage.permutation import parse_secret
from app.core.db.models import AuditEntry
from app.originals.models import AllocatedFiles
from tests.support.allocation_track import build_label_file, install_allocation
from tests.support.arena import ROWS, Arena
from tests.support.contest import Contest
from tests.support.database_rows import load_all

COMPETITION_PATH = "/competitions/small"


def create_contest(
    client: TestClient, patch: pytest.MonkeyPatch, allocation: Allocation[Any], *, extra_toml: str = ""
) -> Contest:
    install_allocation(patch, allocation)
    return Contest.create(client, extra_toml=extra_toml)


def upload_organizer_file(arena: Arena, content: bytes | None = None, *, file: str = "hidden.csv") -> Any:
    return arena.put(
        f"{COMPETITION_PATH}/truth/{file}", content=build_label_file(ROWS) if content is None else content
    )


def get_team_file(arena: Arena, team: str, file: str = "") -> Any:
    return arena.get(f"{COMPETITION_PATH}/own{file and '/' + file}", team=team)


def load_allocations() -> dict[str, AllocatedFiles]:
    query = select(AllocatedFiles).order_by(AllocatedFiles.created_at)
    return {row.team: row for row in load_all(query)}


def load_audit_entries(action: str) -> list[AuditEntry]:
    query = select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.number)
    return load_all(query)


def build_release(contest: Contest, team: str) -> bytes:
    """Return the original's rows in the order that was allocated to the team."""
    secret = get_team_file(contest.arena, team, "secret.csv").content
    order = parse_secret(secret, original_count=ROWS, anonymized_count=ROWS)
    return write_csv(contest.arena.table.iloc[order].reset_index(drop=True))


def submit_release(contest: Contest, team: str) -> Any:
    path, token = f"{COMPETITION_PATH}/submissions", contest.arena.get_team_token(team)
    content = build_release(contest, team)
    return contest.arena.post(path, token=token, files={"anonymized": ("a.csv", content)})
