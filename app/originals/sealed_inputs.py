"""Inputs of allocations that only workers can open: the seed and the organizers' own files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from app.core.db.models import OrganizerFile, Round, Secret, Submission
from app.originals.models import AllocatedFiles, SealedOrganizerFile, Seed

NO_TEAM = ""
"""Team name of allocations for all teams together or for the baselines."""


@dataclass(frozen=True, slots=True)
class SealedBox:
    """A value sealed with the workers' public key; it opens only together with ``bound_to``."""

    bound_to: UUID
    key_id: str
    sealed: bytes
    commitment: str = ""


@dataclass(frozen=True, slots=True)
class AllocationInputs:
    """The inputs that determine an allocation for one team.

    ``own_files``: SHA-256 of the files that were allocated to the team, by name.
    """

    seed: SealedBox | None
    organizer_files: Mapping[str, SealedBox]
    team: str
    attempt: int
    own_files: Mapping[str, str] = field(default_factory=dict)


def load_allocation_inputs(session: Session, round_id: UUID, team_id: UUID | None) -> AllocationInputs:
    """Load the inputs of a team's own allocation, or of the common one if the team has none."""
    allocation = find_allocation(session, round_id, team_id) or find_allocation(session, round_id, None)
    seed, organizer_files = load_seed(session, round_id), load_organizer_files(session, round_id)
    if allocation is None:
        return AllocationInputs(seed, organizer_files, NO_TEAM, attempt=0)
    return AllocationInputs(seed, organizer_files, allocation.team, allocation.attempt, allocation.files)


def find_allocation(session: Session, round_id: UUID, team_id: UUID | None) -> AllocatedFiles | None:
    """Find the allocation of a team; without ``team_id``, that of all teams together or the baselines."""
    is_owner = AllocatedFiles.team_id == team_id if team_id else AllocatedFiles.team == NO_TEAM
    return session.scalar(select(AllocatedFiles).where(AllocatedFiles.round_id == round_id, is_owner))


def load_inputs_for_submission(
    session: Session, round_: Round, submission_id: UUID
) -> AllocationInputs | None:
    """Load the inputs for the team of a submission; None if the track has no allocation."""
    if not round_.allocation:
        return None
    team_query = select(Submission.team_id).where(Submission.id == submission_id)
    return load_allocation_inputs(session, round_.id, session.scalar(team_query))


def load_secret(session: Session, submission_id: UUID) -> SealedBox:
    secret = session.get_one(Secret, submission_id)
    return SealedBox(submission_id, secret.key_id, secret.sealed)


def load_seed(session: Session, round_id: UUID) -> SealedBox | None:
    seed, commitment = session.get(Seed, round_id), session.get_one(Round, round_id).seed_commitment
    if seed is None or commitment is None:
        return None
    return SealedBox(round_id, seed.key_id, seed.sealed, commitment)


def load_organizer_files(session: Session, round_id: UUID) -> dict[str, SealedBox]:
    """Load the organizers' sealed files by name."""
    query = (
        select(OrganizerFile, SealedOrganizerFile)
        .join(
            SealedOrganizerFile,
            and_(
                SealedOrganizerFile.round_id == OrganizerFile.round_id,
                SealedOrganizerFile.name == OrganizerFile.name,
            ),
        )
        .where(OrganizerFile.round_id == round_id)
        .order_by(OrganizerFile.name)
    )
    return {
        file.name: SealedBox(
            compute_binding_id(round_id, file.name), sealed.key_id, sealed.sealed, file.commitment
        )
        for file, sealed in session.execute(query)
    }


def compute_binding_id(round_id: UUID, name: str) -> UUID:
    """Return the id that binds a sealed organizer file to its competition and name."""
    return uuid5(round_id, name)


def load_commitments(session: Session, round_id: UUID) -> dict[str, str]:
    """Load the commitments of the uploaded organizer files by name."""
    query = select(OrganizerFile.name, OrganizerFile.commitment).where(OrganizerFile.round_id == round_id)
    return dict(iter(session.execute(query.order_by(OrganizerFile.name))))


def list_missing_files(session: Session, round_: Round) -> tuple[str, ...]:
    """Return the names of missing organizer files, without which nothing is allocated to teams."""
    required = round_.allocation.get("truth", ())
    available = load_commitments(session, round_.id) if required else {}
    return tuple(name for name in required if name not in available)
