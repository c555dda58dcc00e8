"""Threshold reports that wait."""

from sqlalchemy import select

from app.db.models import ThresholdReport
from app.db.transaction import transaction


def add_waiting_reports(total: int) -> None:
    """Add waiting reports of the competition until there are ``total``."""
    with transaction() as session:
        first = session.scalars(select(ThresholdReport)).one()
        shared = {"competition_id": first.competition_id, "user_id": first.user_id, "file": first.file}
        session.add_all(
            ThresholdReport(**shared, original=first.original, question=first.question)
            for _ in range(total - 1)
        )
