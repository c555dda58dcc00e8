"""Uploads of organizers, for tests of files that are refused or cannot be read."""

from typing import Any

from httpx2 import Response
from sqlalchemy import func, update

from app.core.db.models import Evaluation
from tests.support.arena import Arena, build_noisy_release
from tests.support.contest import Contest
from tests.support.database_rows import execute


def add_baseline(contest: Contest, name: str = "add_noise", *, seed: int = 77) -> Any:
    table, secret = build_noisy_release(seed, contest.arena.table)
    files = {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}
    return contest.arena.post(f"{contest.path}/baselines", files=files, data={"name": name})


def upload_competition_file(arena: Arena, content: str | bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/competition.toml", content=content)


def upload_original(arena: Arena, content: bytes) -> Response:
    return arena.put(f"/competitions/{arena.slug}/original/original.csv", content=content)


def clear_not_before() -> None:
    """End the delay before postponed evaluations are tried again."""
    execute(update(Evaluation).values(not_before=func.now()))
