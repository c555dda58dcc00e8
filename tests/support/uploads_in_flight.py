"""Uploads that are still being received while a phase ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import select

from app.core.db.models import Submission
from app.submissions.models import Attempt
from tests.support.arena import build_noisy_release
from tests.support.contest import Contest
from tests.support.database_rows import load_all
from tests.support.raw_asgi import StreamedRequest, open_request, start_web_process


@contextmanager
def start_upload(
    contest: Contest, team: str, *, seed: int = 1, key: str | None = None
) -> Iterator[StreamedRequest]:
    """Yield an upload of which the application has read the first half."""
    with open_upload(contest, team, seed=seed, key=key) as upload:
        upload.wait_for_body_read()
        upload.send_part(len(upload.body) // 2)
        yield upload


@contextmanager
def open_upload(
    contest: Contest, team: str, *, seed: int = 1, key: str | None = None
) -> Iterator[StreamedRequest]:
    table, secret = build_noisy_release(seed, contest.arena.table)
    path, token = f"/api/v1{contest.path}/submissions", contest.arena.get_team_token(team)
    files = {"anonymized": table, "secret": secret}
    with start_web_process() as web, open_request(web, path, token=token, files=files, key=key) as upload:
        yield upload


def end_first_phase(contest: Contest) -> None:
    contest.move_phases(anonymization=(-3, 0), reidentification=(1, 2))


def list_open_attempts() -> list[Attempt]:
    return load_all(select(Attempt).where(Attempt.ended_at.is_(None)))


def list_received_submissions() -> list[tuple[datetime, str]]:
    rows = load_all(select(Submission).order_by(Submission.received_at))
    return [(submission.received_at, str(submission.id)) for submission in rows]
