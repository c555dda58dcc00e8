"""Read the stored standings: a board is the newest row of each team before a moment."""

from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from app.boards.models import AttackStanding, Standing
from app.core.db.models import Series

TeamStandingT = TypeVar("TeamStandingT", Standing, AttackStanding)


def load(
    session: Session, table: type[TeamStandingT], round_id: UUID, series: Series, *, before: datetime
) -> list[TeamStandingT]:
    return list(session.scalars(build_query(table, round_id, series, before=before)))


def build_query(
    table: type[TeamStandingT], round_id: UUID, series: Series, *, before: datetime
) -> Select[TeamStandingT]:
    """Select the standing of each team just before a moment."""
    return (
        select(table)
        .where(table.round_id == round_id, table.series == series, table.at < before)
        .ext(distinct_on(table.team_id))
        .order_by(table.team_id, table.at.desc())
    )
