"""Allocation of data by lot: commit to a seed, allocate for all and for each team, reveal the seed.

As in ``contest_lifecycle``, each step runs once, under the competition's lock. Between the steps a worker
loads the pending ``AllocationRequest``, computes the files and records them if the inputs have not changed.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy import Text, cast, delete, exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.tracks import seeds
from app.competitions import competitions, phases
from app.config import get_settings
from app.core import audit, sealing
from app.core.db.models import OrganizerFile, Round, Team
from app.core.db.transaction import read_clock
from app.originals import sealed_inputs
from app.originals.models import AllocatedFiles, Seed, SeedOpening
from app.originals.sealed_inputs import NO_TEAM, AllocationInputs, SealedBox

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """Files that are to be allocated, with their inputs. ``team_id`` is None if they are not for one team."""

    round_id: UUID
    competition_file: str
    original: dict[str, str]
    file_names: tuple[str, ...]
    allocation_inputs: AllocationInputs
    team_id: UUID | None


def is_due(session: Session, round_: Round, now: datetime) -> bool:
    """Return whether a seed must be committed to or an allocation is pending."""
    return _is_uncommitted(round_) or find_pending(session, round_, now) is not None


def _is_uncommitted(round_: Round) -> bool:
    return bool(round_.allocation) and round_.frozen_at is None and round_.seed_commitment is None


def commit_seed(session: Session, round_: Round) -> bool:
    """Create and seal the competition's seed; return False if it needs none or has one already.

    The round's competition must be locked. Raises Unavailable without the private key: a process that could
    not open the seed must not create it.
    """
    if not _is_uncommitted(round_):
        return False
    seed = secrets.token_bytes(seeds.SEED_BYTES)
    sealed = sealing.seal_to_newest_key(get_settings().opening_keys_dir, bound_to=round_.id, secret=seed)
    commitment = seeds.commit_to_seed(seed)
    session.add(Seed(round_id=round_.id, key_id=sealed.key_id, sealed=sealed.box))
    round_.seed_commitment = commitment
    audit.record_by_clock(session, round_, "seed.commit", sha256=commitment)
    return True


def find_pending(session: Session, round_: Round, now: datetime) -> AllocationRequest | None:
    """Return the next pending allocation; None if there is none or it must wait."""
    is_ready = bool(round_.allocation) and round_.original_rows is not None and round_.frozen_at is None
    if not is_ready or round_.seed_commitment is None:
        return None
    if not round_.allocation["each_team"]:
        file_names = round_.unallocated_files
        return _build_request(session, round_, file_names) if file_names else None
    if not phases.has_phase_begun(round_, phases.ANONYMIZATION, now) or sealed_inputs.list_missing_files(
        session, round_
    ):
        return None
    file_names = tuple(round_.allocation["files"])
    in_round = AllocatedFiles.round_id == round_.id
    if not session.scalar(select(exists().where(in_round, AllocatedFiles.team == NO_TEAM))):
        return _build_request(session, round_, file_names)
    waiting_teams = select(Team.name, Team.id).where(
        Team.competition_id == round_.competition_id, ~Team.baseline
    )
    # A team for which there were no files gets some if the organizers have replaced theirs since then.
    is_outdated = exists(
        select(OrganizerFile.name).where(
            cast(AllocatedFiles.files, Text) == "{}",
            OrganizerFile.round_id == round_.id,
            OrganizerFile.created_at > AllocatedFiles.created_at,
        )
    )
    is_done = exists().where(in_round, AllocatedFiles.team_id == Team.id, ~is_outdated)
    waiting_teams = waiting_teams.where(~is_done).order_by(Team.created_at, Team.id)
    team = session.execute(waiting_teams.limit(1)).one_or_none()
    return _build_request(session, round_, file_names, *team) if team else None


def _build_request(
    session: Session,
    round_: Round,
    file_names: tuple[str, ...],
    team: str = NO_TEAM,
    team_id: UUID | None = None,
) -> AllocationRequest:
    common_inputs = sealed_inputs.load_allocation_inputs(session, round_.id, None)
    return AllocationRequest(
        round_id=round_.id,
        competition_file=round_.file,
        original=round_.public_files,
        file_names=file_names,
        allocation_inputs=replace(common_inputs, team=team, attempt=0, own_files={}),
        team_id=team_id,
    )


def load_request(session: Session, round_id: UUID) -> AllocationRequest | None:
    """Return the next pending allocation by what is committed now."""
    round_ = session.get_one(Round, round_id, populate_existing=True)
    return find_pending(session, round_, read_clock(session))


def record_allocation(
    session: Session,
    request: AllocationRequest,
    files: Mapping[str, str],
    attempt: int,
    *,
    allow_repeats: bool,
) -> bool:
    """Record allocated files; return whether the request is done, so that no other files need to be drawn.

    It is not if another team has the same files, unless repeats are allowed. The files are dropped if their
    inputs have changed or another process has recorded the allocation.
    """
    round_ = competitions.lock(session, request.round_id)
    if load_request(session, round_.id) != request:
        return True
    if not round_.allocation["each_team"]:
        round_.shared_files = {**round_.shared_files, **files}
        audit.record_by_clock(session, round_, "data.draw", **files)
        return True
    allocated_files = select(AllocatedFiles.files).where(
        AllocatedFiles.round_id == round_.id,
        AllocatedFiles.team != NO_TEAM,  # those of the baselines are none that a team could lack
    )
    if not allow_repeats and files in session.scalars(allocated_files).all():
        return False
    team = request.allocation_inputs.team
    _add_files(session, request, attempt, files)
    round_.allocated_at = round_.allocated_at or read_clock(session)
    audit.record_by_clock(session, round_, "own.draw", team=team, attempt=attempt)
    return True


def record_exhaustion(session: Session, request: AllocationRequest, attempt_count: int) -> None:
    """Record that no allocation is left for a team, as a row without files, so that no step waits for it."""
    round_ = competitions.lock(session, request.round_id)
    if load_request(session, round_.id) != request:
        return
    team = request.allocation_inputs.team
    _add_files(session, request, attempt_count, {})
    audit.record_by_clock(session, round_, "own.exhausted", team=team)
    log.error("no_allocation_left", competition=round_.address, team=team)


def _add_files(session: Session, request: AllocationRequest, attempt: int, files: Mapping[str, str]) -> None:
    # A team for which there were no files until the organizers replaced theirs has a row without any.
    row_of_team = AllocatedFiles.round_id == request.round_id, AllocatedFiles.team_id == request.team_id
    session.execute(delete(AllocatedFiles).where(*row_of_team, cast(AllocatedFiles.files, Text) == "{}"))
    session.add(
        AllocatedFiles(
            round_id=request.round_id,
            team=request.allocation_inputs.team,
            team_id=request.team_id,
            attempt=attempt,
            files=dict(files),
        )
    )


def find_sealed_seed(session: Session, round_id: UUID) -> SealedBox | None:
    """Return the sealed seed; None if there is none or it has been opened."""
    is_opened = exists().where(SeedOpening.round_id == round_id)
    return None if session.scalar(select(is_opened)) else sealed_inputs.load_seed(session, round_id)


def record_seed_opening(session: Session, round_id: UUID, seed: bytes) -> None:
    """Record the opened seed, which is shown from the reveal on, unless another process has recorded it."""
    opening = insert(SeedOpening).values(round_id=round_id, seed=seed)
    session.execute(opening.on_conflict_do_nothing())
