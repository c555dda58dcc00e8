"""Boards that are frozen."""

from datetime import UTC, datetime

from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.rules.toml_text import with_tables
from app.db.models import Competition
from app.db.transaction import transaction
from tests.support.contest import Contest


def opened(client: TestClient, *, rule: str = "score", feedback: str = "immediate") -> Contest:
    more = f'[ranking]\nrule = "{rule}"\n[publication]\nfeedback = "{feedback}"'
    return Contest.opened(client, more=more)


def freeze(contest: Contest, *, feedback: str = "immediate", at: datetime | None = None) -> None:
    """Let the boards be frozen from this moment on."""
    moment = at or datetime.now(UTC)
    publication = f'[publication]\nfeedback = "{feedback}"\nfrozen_from = {moment.isoformat()}\n'
    publication += "reveal_notice_hours = 0\n"
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == contest.arena.slug)).one()
        row.file = with_tables(row.file, "publication", publication)
