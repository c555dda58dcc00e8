"""Uploads that no worker can read."""

from sqlalchemy import func, update

from app.db.models import Evaluation
from app.db.transaction import transaction


def rested() -> None:
    """As if what was put aside had rested long enough."""
    with transaction() as session:
        session.execute(update(Evaluation).values(not_before=func.now()))
