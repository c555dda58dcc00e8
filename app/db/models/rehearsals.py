"""Actions of the sample teams in rehearsals."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.db.models.declarations import UNFINISHED, Base, LeasedJob
from app.db.models.people import Team


class RehearsalMove(LeasedJob, Base):
    """One action of a sample team in a rehearsal: a release, or a guess on another team's target."""

    __tablename__ = "rehearsal_moves"
    __table_args__ = (
        Index("ix_rehearsal_moves_unfinished", "created_at", postgresql_where=UNFINISHED),
        # One at a time, so that a rehearsal does not occupy every process for reports.
        Index(
            "uq_rehearsal_moves_scoring_competition_id",
            "competition_id",
            unique=True,
            postgresql_where=sql("state = 'SCORING'"),
        ),
        Index(None, "competition_id", "team_id", "started_at"),
        UniqueConstraint("team_id", "phase", "number"),
    )

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    """The organizer who started the rehearsal, recorded as the sender."""
    phase: Mapped[str]
    """Phase of the action: releases are made in the first, guesses in the second."""
    number: Mapped[int]
    """Number of the team's release, or of the target among the others' targets ordered by name."""
    method: Mapped[str]
    """The sample method or built-in attacker to use."""
    share: Mapped[float]
    """Share of the phase after which the action is due. ``not_before`` is adjusted if the phase moves."""

    team: Mapped[Team] = relationship(lazy="raise", viewonly=True)
