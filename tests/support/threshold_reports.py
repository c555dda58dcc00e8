"""Waiting threshold reports."""

from sqlalchemy import select

from app.core.db.models import ThresholdReport
from app.core.db.transaction import transaction


def add_waiting_reports(total: int) -> None:
    """Add waiting reports of the competition until there are ``total``."""
    with transaction() as session:
        first_report = session.scalars(select(ThresholdReport)).one()
        shared_columns = {
            "round_id": first_report.round_id,
            "user_id": first_report.user_id,
            "file": first_report.file,
        }
        session.add_all(
            ThresholdReport(**shared_columns, original=first_report.original, question=first_report.question)
            for _ in range(total - 1)
        )
