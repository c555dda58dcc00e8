"""What the sample teams of a rehearsal do."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.db.models.declarations import UNFINISHED, Base, Work
from app.db.models.people import Team


class RehearsalMove(Work, Base):
    """One act of a sample team in a rehearsal: a release, or a guess on another team's target."""

    __tablename__ = "rehearsal_moves"
    __table_args__ = (
        Index("ix_rehearsal_moves_unfinished", "created_at", postgresql_where=UNFINISHED),
        # One at a time: a rehearsal must not take every process that makes reports.
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
    """The organizer who rehearses: what is sent needs a sender."""
    phase: Mapped[str]
    """In which it is made: a release in the first, a guess in the second."""
    number: Mapped[int]
    """Which of the team's releases, or which of the others' targets in the order of their names."""
    method: Mapped[str]
    """The sample method, or the built-in attacker, that it is made with."""
    share: Mapped[float]
    """Of its phase that has passed when it is due: ``not_before`` follows the phase where that moves."""

    team: Mapped[Team] = relationship(lazy="raise", viewonly=True)
