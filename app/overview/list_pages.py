"""The front page, which lists all competitions in groups."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from anoncup.rules.model import Rules
from anoncup.schemas.fields import Role
from app.accounts import memberships
from app.competitions import competitions, phases
from app.competitions.phases import PhaseBoundary, PhaseStatus
from app.core.db.models import Round
from app.core.db.transaction import read_clock, transaction
from app.core.identity.principal import Principal
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)
_RUNNING_STATES = ("anonymization", "settling", "between", "reidentification")


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A competition in the list.

    ``team_name``: the person's own team. ``is_organizer``: being an administrator is not enough.
    """

    rules: Rules
    status: PhaseStatus
    team_name: str | None
    is_organizer: bool

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        return phases.find_next_boundary(self.rules, self.status)

    @property
    def ended_at(self) -> datetime | None:
        """End of the last phase, or None unless the competition is closed."""
        ends = [phase.end for phase in self.rules.phases]
        return max(ends) if ends and self.status.state == "closed" else None


@router.get("/")
def show_competitions(page: RequestedPage) -> HTMLResponse:
    with transaction() as session:
        readable, unreadable = _load_entries(session, page.principal)
    return page.render(
        "overview/competitions.html",
        groups=_group_entries(readable),
        unreadable=unreadable,
        can_create=page.principal is not None and page.principal.role != Role.PARTICIPANT,
    )


def _load_entries(
    session: Session, principal: Principal | None
) -> tuple[list[DirectoryEntry], list[tuple[Round, bool]]]:
    """Return the competitions that the person may know of, oldest first, in a fixed number of queries.

    Those whose file this version cannot read come separately, with whether the person organizes them.
    """
    now = read_clock(session)
    own_teams = memberships.list_teams(session, principal.user_id) if principal else ()
    teams = {team.competition_id: team for _, team in own_teams}
    organized = memberships.list_organized(session, principal.user_id) if principal else ()
    organized_ids = {competition.id for competition in organized}
    readable: list[DirectoryEntry] = []
    unreadable: list[tuple[Round, bool]] = []
    for round_ in competitions.list_current_rounds(session, principal):
        is_organizer = round_.competition_id in organized_ids
        try:
            status = phases.get_status_at(round_, now)
            team = teams.get(round_.competition_id)
            readable.append(DirectoryEntry(round_.rules, status, team.name if team else None, is_organizer))
        except CompetitionUnavailable:
            unreadable.append((round_, is_organizer))
    return readable, unreadable


def _group_entries(entries: Iterable[DirectoryEntry]) -> dict[str, list[DirectoryEntry]]:
    """Group the entries into own, running, upcoming and past competitions, each sorted; omit empty groups."""
    groups: dict[str, list[DirectoryEntry]] = {"own": [], "running": [], "upcoming": [], "past": []}
    for entry in entries:
        groups[_choose_group(entry)].append(entry)
    groups["own"].sort(key=lambda entry: (entry.status.state == "closed", _compute_boundary_sort_key(entry)))
    for name in ("running", "upcoming"):
        groups[name].sort(key=_compute_boundary_sort_key)
    groups["past"].sort(key=lambda entry: -entry.ended_at.timestamp() if entry.ended_at else 0.0)
    return {name: group for name, group in groups.items() if group}


def _choose_group(entry: DirectoryEntry) -> str:
    if entry.team_name is not None or entry.is_organizer:
        return "own"
    if entry.status.state in _RUNNING_STATES:
        return "running"
    return "upcoming" if entry.status.state in ("draft", "upcoming") else "past"


def _compute_boundary_sort_key(entry: DirectoryEntry) -> float:
    """Return a sort key by the next phase boundary; competitions without one and paused ones come last."""
    return entry.next_boundary.time.timestamp() if entry.next_boundary else float("inf")
