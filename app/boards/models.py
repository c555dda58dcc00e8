"""Tables that only boards use."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.models import Base, Series
from app.core.db.privileges import ALL


class TeamStanding:
    """Columns of a team's standing from a moment on, until its next row in the same series.

    The rank is no column: it depends on the rows of the other teams, and is computed from the newest of each.
    There are no foreign keys: their checks would wait for the locks of those who wait to write standings.
    """

    round_id: Mapped[UUID] = mapped_column(primary_key=True)
    series: Mapped[Series] = mapped_column(Text, primary_key=True)
    team_id: Mapped[UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    score: Mapped[float | None]
    """What ranks the team; None while nothing of it counts."""
    parts: Mapped[str | None]
    """How a ranking function of a package says that the score came about."""


class Standing(TeamStanding, Base):
    """A team's standing on the anonymization board: its best release."""

    __tablename__ = "standings"
    privileges = ALL, ALL

    submission_id: Mapped[UUID]
    entries: Mapped[int]
    """Number of submissions that have been scored."""
    utility: Mapped[float | None]
    security: Mapped[float | None]
    overall: Mapped[float | None]
    rival_risk: Mapped[float | None]
    """The risk that guesses of other teams found; None if no guess counts."""


class AttackStanding(TeamStanding, Base):
    """A team's standing on the re-identification board: the sums over the targets that it attacked."""

    __tablename__ = "attack_standings"
    privileges = ALL, ALL

    targets: Mapped[int]
    rate: Mapped[float]
    identified: Mapped[int | None]
    tried: Mapped[int | None]
    by_question: Mapped[dict[str, Any] | None]
    first_guess_at: Mapped[datetime]
    """When the first of these guesses was received, which decides ties."""
