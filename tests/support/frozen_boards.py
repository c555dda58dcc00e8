"""Contests with frozen boards."""

from datetime import UTC, datetime

from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.rules.toml_text import replace_tables
from app.db.models import Competition
from app.db.transaction import transaction
from tests.support.contest import Contest


def create_contest(client: TestClient, *, rule: str = "score", feedback: str = "immediate") -> Contest:
    extra_toml = f'[ranking]\nrule = "{rule}"\n[publication]\nfeedback = "{feedback}"'
    return Contest.create(client, extra_toml=extra_toml)


def freeze(contest: Contest, *, feedback: str = "immediate", start: datetime | None = None) -> None:
    """Freeze the boards from this moment on (default: now)."""
    moment = start or datetime.now(UTC)
    publication = f'[publication]\nfeedback = "{feedback}"\nfrozen_from = {moment.isoformat()}\n'
    publication += "reveal_notice_hours = 0\n"
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == contest.arena.slug)).one()
        row.file = replace_tables(row.file, "publication", publication)
