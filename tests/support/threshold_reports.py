"""Reports that are not finished."""

from sqlalchemy import select

from app.db.models import ThresholdReport
from app.db.transaction import transaction


def unfinished(number: int) -> None:
    """So many reports of the competition that wait."""
    with transaction() as session:
        first = session.scalars(select(ThresholdReport)).one()
        shared = {"competition_id": first.competition_id, "user_id": first.user_id, "file": first.file}
        session.add_all(
            ThresholdReport(**shared, original=first.original, question=first.question)
            for _ in range(number - 1)
        )
