"""Identifiers of teams."""

from uuid import UUID

from sqlalchemy import select

from app.db.models import Team
from app.db.transaction import transaction


def load_team_id(name: str) -> UUID:
    with transaction() as session:
        return session.scalars(select(Team.id).where(Team.name == name)).one()
