"""The front page, which lists all competitions in groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.schemas import Board, BoardRow
from anoncup.schemas.roles import Role
from app.boards import anonymization
from app.boards.standing_pages import select_podium
from app.competitions import directory, visibility
from app.competitions.directory import DirectoryEntry
from app.core.db.transaction import transaction
from app.core.identity.principal import Principal
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)
_RUNNING_STATES = ("anonymization", "settling", "between", "reidentification")


@dataclass(frozen=True, slots=True)
class FeaturedCompetition:
    """The competition whose leaders the front page shows: only one, because each board costs queries."""

    entry: DirectoryEntry
    board: Board

    @property
    def podium(self) -> list[BoardRow]:
        return select_podium(self.board)

    @property
    def is_frozen(self) -> bool:
        """Whether this reader sees a frozen board."""
        status, frozen_from = self.entry.status, self.board.frozen_from
        has_begun = frozen_from is not None and frozen_from <= status.now and status.state != "closed"
        return has_begun and not self.entry.is_organizer


@router.get("/")
def show_competitions(page: RequestedPage) -> HTMLResponse:
    with transaction() as session:
        directory_listing = directory.load_directory(session, page.principal)
        groups = _group_entries(directory_listing.readable)
        featured = _load_featured(session, page.principal, groups)
    return page.render(
        "overview/competitions.html",
        groups=groups,
        featured=featured,
        unreadable=directory_listing.unreadable,
        can_create=page.principal is not None and page.principal.role != Role.PARTICIPANT,
    )


def _group_entries(entries: Iterable[DirectoryEntry]) -> dict[str, list[DirectoryEntry]]:
    """Group the entries into own, running, coming and past competitions, each sorted; omit empty groups."""
    groups: dict[str, list[DirectoryEntry]] = {"own": [], "running": [], "coming": [], "past": []}
    for entry in entries:
        groups[_choose_group(entry)].append(entry)
    groups["own"].sort(key=lambda entry: (entry.status.state == "closed", _compute_boundary_sort_key(entry)))
    for name in ("running", "coming"):
        groups[name].sort(key=_compute_boundary_sort_key)
    groups["past"].sort(key=lambda entry: -entry.ended_at.timestamp() if entry.ended_at else 0.0)
    return {name: group for name, group in groups.items() if group}


def _load_featured(
    session: Session, principal: Principal | None, groups: Mapping[str, list[DirectoryEntry]]
) -> FeaturedCompetition | None:
    """Return the first competition that has begun, or None if its board is closed or has no ranks."""
    started_entries = (
        entry for entries in groups.values() for entry in entries if entry.status.state != "draft"
    )
    if (entry := next(started_entries, None)) is None:
        return None
    access = visibility.find_board_access(session, principal, entry.rules.address)
    board = None if access is None else anonymization.build_board(session, access)
    return FeaturedCompetition(entry, board) if board and select_podium(board) else None


def _choose_group(entry: DirectoryEntry) -> str:
    if entry.team_name is not None or entry.is_organizer:
        return "own"
    if entry.status.state in _RUNNING_STATES:
        return "running"
    return "coming" if entry.status.state == "draft" else "past"


def _compute_boundary_sort_key(entry: DirectoryEntry) -> float:
    """Return a sort key by the next phase boundary; competitions without one and paused ones come last."""
    return entry.next_boundary.time.timestamp() if entry.next_boundary else float("inf")
