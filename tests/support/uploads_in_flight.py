"""Uploads that are being received while a phase ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import select

from app.db.models import Attempt, Submission
from app.db.transaction import transaction
from tests.support.arena import noisy_release
from tests.support.contest import Contest
from tests.support.raw_asgi import Sending, process, sending


@contextmanager
def uploading(contest: Contest, team: str, *, seed: int = 1, key: str | None = None) -> Iterator[Sending]:
    """A release that has entered, and of whose body the first half has come."""
    with entering(contest, team, seed=seed, key=key) as sent:
        sent.entered()
        sent.piece(len(sent.body) // 2)
        yield sent


@contextmanager
def entering(contest: Contest, team: str, *, seed: int = 1, key: str | None = None) -> Iterator[Sending]:
    table, secret = noisy_release(seed, contest.arena.table)
    path, token = f"/api/v1{contest.path}/submissions", contest.arena.team(team)
    files = {"anonymized": table, "secret": secret}
    with process() as web, sending(web, path, token=token, files=files, key=key) as sent:
        yield sent


def end_the_first_phase(contest: Contest) -> None:
    contest.move(anonymization=(-3, 0), reidentification=(1, 2))


def under_way() -> list[Attempt]:
    with transaction() as session:
        return list(session.scalars(select(Attempt).where(Attempt.ended_at.is_(None))))


def received() -> list[tuple[datetime, str]]:
    with transaction() as session:
        rows = session.scalars(select(Submission).order_by(Submission.received_at))
        return [(one.received_at, str(one.id)) for one in rows]
