"""What is sealed of a competition to the workers: the seed of what is drawn, and what its organizers hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Competition, Drawn, Seed, Submission, Truth

NOBODY = ""
"""The name that is drawn for where no team is meant: for all, or for the baselines."""


@dataclass(frozen=True, slots=True)
class Box:
    """Something sealed to the workers' key, and what it is bound to."""

    bound_to: UUID
    key_id: str
    sealed: bytes
    commitment: str


@dataclass(frozen=True, slots=True)
class Means:
    """What draws for one team follow from."""

    seed: Box | None
    truth: Mapping[str, Box]
    team: str
    attempt: int


def means(session: Session, competition_id: UUID, team_id: UUID | None) -> Means:
    """Those of a team's own draw; where teams have none, those of what is drawn for all."""
    owner = select(Drawn.team, Drawn.attempt).where(Drawn.competition_id == competition_id)
    found = session.execute(owner.where(Drawn.team_id == team_id)).one_or_none() if team_id else None
    team, attempt = found or (NOBODY, 0)
    return Means(seed_of(session, competition_id), truth_of(session, competition_id), team, attempt)


def means_for(session: Session, row: Competition, submission_id: UUID) -> Means | None:
    """Those of the team that a submission is of, if the service draws in this track."""
    if not row.drawing:
        return None
    owner = select(Submission.team_id).where(Submission.id == submission_id)
    return means(session, row.id, session.scalar(owner))


def seed_of(session: Session, competition_id: UUID) -> Box | None:
    # By column: a worker may not read all of a row.
    query = select(Seed.key_id, Seed.sealed, Seed.commitment)
    found = session.execute(query.where(Seed.competition_id == competition_id)).one_or_none()
    return Box(competition_id, *found) if found else None


def truth_of(session: Session, competition_id: UUID) -> dict[str, Box]:
    """What the organizers hold, by the names of the files."""
    query = select(Truth.name, Truth.key_id, Truth.sealed, Truth.commitment)
    rows = session.execute(query.where(Truth.competition_id == competition_id).order_by(Truth.name))
    return {
        name: Box(bound_to(competition_id, name), key_id, sealed, commitment)
        for name, key_id, sealed, commitment in rows
    }


def bound_to(competition_id: UUID, name: str) -> UUID:
    """What a file of truth is sealed with, so that it opens in its own place only."""
    return uuid5(competition_id, name)


def commitments(session: Session, competition_id: UUID) -> dict[str, str]:
    """The commitment to each file of truth that is there, by name."""
    query = select(Truth.name, Truth.commitment).where(Truth.competition_id == competition_id)
    return dict(iter(session.execute(query.order_by(Truth.name))))


def lacking(session: Session, row: Competition) -> tuple[str, ...]:
    """The files that the organizers have still to give; without them nothing is drawn for teams."""
    wanted = row.drawing.get("truth", ())
    there = commitments(session, row.id) if wanted else {}
    return tuple(name for name in wanted if name not in there)


def commitment_of(session: Session, competition_id: UUID) -> str | None:
    """SHA-256 of the seed; None until the clock has made it."""
    return session.scalar(select(Seed.commitment).where(Seed.competition_id == competition_id))
