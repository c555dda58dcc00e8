"""Access to the files that ``attacks.allocation`` allocates to teams by a committed seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.messages import N_
from app.accounts import memberships
from app.competitions import competitions, phases, visibility
from app.core.db.models import Round, Team
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.originals.models import AllocatedFiles, SeedOpening
from app.originals.sealed_inputs import find_allocation, list_missing_files

NOT_READY = N_("the data that the service draws are not ready yet; try again in a moment")
PHASE_NOT_BEGUN = N_("the service draws the data of teams when the anonymization phase begins")
FILES_MISSING = N_("the organizers have not given yet what the data of teams are drawn from; ask them")
_PHASE_OVER = N_("the anonymization phase is over, and no more data are drawn: your team has none")
_NONE_LEFT = N_("all data are assigned to other teams; ask the organizers")


def load_files(session: Session, round_id: UUID, team_id: UUID | None) -> Mapping[str, str] | None:
    """Return the SHA-256 of a team's own files by name; without ``team_id``, of the baselines' files.

    None: not allocated yet. Empty: no data are left for the team.
    """
    allocation = find_allocation(session, round_id, team_id)
    return None if allocation is None else allocation.files


def require_allocated(session: Session, round_: Round, team: Team | None) -> Mapping[str, str]:
    """Return the own files of a team, or of the baselines if it is None; empty if teams have no own files.

    Raises Conflict before the allocation, and if no data are left for the team.
    """
    if not round_.allocation:
        return {}
    files = (
        load_files(session, round_.id, team.id if team else None) if round_.allocation["each_team"] else {}
    )
    if files is None or round_.unallocated_files:
        raise _build_refusal(session, round_)
    if not files and round_.allocation["each_team"]:
        raise Conflict(_NONE_LEFT, code="no_allocation_left")
    return files


def _build_refusal(session: Session, round_: Round) -> Conflict:
    """Return an error that says why a team has no data yet, or that it will get none."""
    if not round_.allocation["each_team"]:
        return Conflict(NOT_READY, code="not_drawn_yet")
    if round_.frozen_at is not None:
        return Conflict(_PHASE_OVER, code="drawing_over")
    if not phases.has_phase_begun(round_, phases.ANONYMIZATION, read_clock(session)):
        return Conflict(PHASE_NOT_BEGUN, code="not_drawn_yet")
    return Conflict(FILES_MISSING if list_missing_files(session, round_) else NOT_READY, code="not_drawn_yet")


@dataclass(frozen=True, slots=True)
class TeamFiles:
    """A team's own files.

    ``names``: empty if teams have no files of their own. ``files``: SHA-256 by name, None before the
    allocation, empty if no data are left for the team.
    """

    names: tuple[str, ...]
    files: Mapping[str, str] | None


def load_team_files(session: Session, principal: Principal, round_: Round) -> TeamFiles:
    """Return the own files of the person's team, for the team's page."""
    names = list_own_file_names(round_)
    team = memberships.find_team(session, round_.competition_id, principal) if names else None
    return TeamFiles(names if team else (), load_files(session, round_.id, team.id) if team else None)


def find_own(session: Session, principal: Principal, slug: str) -> AllocatedFiles:
    """Return the allocation of the person's own team; not even organizers see those of other teams."""
    round_, team = competitions.find_for_member(session, principal, slug)
    if not list_own_file_names(round_):
        raise NotFound("the service draws nothing for teams of this competition", code="nothing_drawn")
    allocation = find_allocation(session, round_.id, team.id)
    if allocation is None:
        raise _build_refusal(session, round_)
    if not allocation.files:
        raise Conflict(_NONE_LEFT, code="no_allocation_left")
    return allocation


def load_by_team(session: Session, round_id: UUID) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of the files of each team that has any, by the name they were allocated to."""
    rows = session.execute(
        select(AllocatedFiles.team, AllocatedFiles.files).where(AllocatedFiles.round_id == round_id)
    )
    return {team: files for team, files in rows if files}


def count_teams_without_data(session: Session, round_id: UUID) -> int:
    """Count the teams for which no data are left."""
    file_sets = session.scalars(select(AllocatedFiles.files).where(AllocatedFiles.round_id == round_id))
    return sum(not files for files in file_sets)


def list_own_file_names(round_: Round) -> tuple[str, ...]:
    """Return the names of the files that every team gets for itself."""
    return tuple(round_.allocation["files"]) if round_.allocation.get("each_team") else ()


def load_revealed(
    session: Session, principal: Principal | None, slug: str
) -> tuple[bytes, Sequence[AllocatedFiles]]:
    """Return the seed and all allocations in their order, with which anybody can verify them.

    Raises NotFound before the reveal.
    """
    round_ = competitions.find(session, principal, slug)
    visibility.require_reveal(round_)
    opening = session.get(SeedOpening, round_.id)
    if opening is None:
        raise NotFound("the service has drawn nothing in this competition", code="nothing_drawn")
    query = (
        select(AllocatedFiles)
        .where(AllocatedFiles.round_id == round_.id)
        .order_by(AllocatedFiles.created_at, AllocatedFiles.team)
    )
    return opening.seed, [allocation for allocation in session.scalars(query) if allocation.files]
