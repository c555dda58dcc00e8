"""Retries of uploads that no worker can read."""

from sqlalchemy import func, update

from app.db.models import Evaluation
from app.db.transaction import transaction


def clear_not_before() -> None:
    """End the delay before postponed evaluations are tried again."""
    with transaction() as session:
        session.execute(update(Evaluation).values(not_before=func.now()))
