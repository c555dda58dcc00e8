"""The front page, which lists all competitions in groups."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from anoncup.schemas.roles import Role
from app.db.transaction import transaction
from app.http.authentication import OptionalPrincipal
from app.services.accounts.accounts import Principal
from app.services.contests import directory
from app.services.contests.directory import DirectoryEntry
from app.services.contests.phases import PhaseStatus
from app.web.site.frame import PhaseBoundary, find_next_boundary
from app.web.site.pages import PageRoute, render_page
from app.web.visitor.leader import select_podium
from app.web.visitor.overview import load_open_board

router = APIRouter(route_class=PageRoute)
_RUNNING_STATES = ("anonymization", "settling", "between", "reidentification")


@dataclass(frozen=True, slots=True)
class CompetitionCard:
    """A competition on the front page."""

    entry: DirectoryEntry

    @property
    def rules(self) -> Rules:
        return self.entry.rules

    @property
    def standing(self) -> PhaseStatus:
        return self.entry.status

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        return None if self.standing.paused else find_next_boundary(self.rules, self.standing.now)

    @property
    def ended_at(self) -> datetime | None:
        """End of the last phase, or None unless the competition is closed."""
        ends = [phase.end for phase in self.rules.phases]
        return max(ends) if ends and self.standing.state == "closed" else None

    @property
    def is_own(self) -> bool:
        return self.entry.team_name is not None or self.entry.is_organizer


@dataclass(frozen=True, slots=True)
class FeaturedCompetition:
    """The competition whose leaders the front page shows. It is only one, as each board costs queries."""

    card: CompetitionCard
    board: Board

    @property
    def podium(self) -> list[BoardRow]:
        return select_podium(self.board)

    @property
    def is_frozen(self) -> bool:
        """Whether this reader sees a frozen board; the page then shows since when."""
        standing, frozen_from = self.card.standing, self.board.frozen_from
        has_begun = frozen_from is not None and frozen_from <= standing.now and standing.state != "closed"
        return has_begun and not self.card.entry.is_organizer


@router.get("/")
def show_competitions(request: Request, principal: OptionalPrincipal) -> HTMLResponse:
    with transaction() as session:
        listing = directory.load_directory(session, principal)
        groups = _group_cards(map(CompetitionCard, listing.readable))
        featured = _choose_featured(session, principal, groups)
    may_create = principal is not None and principal.role != Role.PARTICIPANT
    return render_page(
        request,
        principal,
        "visitor/competitions.html",
        groups=groups,
        first=featured,
        unreadable=listing.unreadable,
        may_create=may_create,
    )


def _group_cards(cards: Iterable[CompetitionCard]) -> dict[str, list[CompetitionCard]]:
    """Group the cards into own, running, coming and past, and sort each group; omit empty groups."""
    groups: dict[str, list[CompetitionCard]] = {"own": [], "running": [], "coming": [], "past": []}
    for card in cards:
        groups[_group_name(card)].append(card)
    groups["own"].sort(key=lambda card: (card.standing.state == "closed", _next_boundary_timestamp(card)))
    for name, key in _SORT_KEYS.items():
        groups[name].sort(key=key)
    return {name: group for name, group in groups.items() if group}


def _choose_featured(
    session: Session, principal: Principal | None, groups: Mapping[str, list[CompetitionCard]]
) -> FeaturedCompetition | None:
    """Return the first started competition on the page, or None if its board is closed or has no ranks."""
    started = (card for cards in groups.values() for card in cards if card.standing.state != "draft")
    if (card := next(started, None)) is None:
        return None
    board = load_open_board(session, principal, card.rules.slug)
    return FeaturedCompetition(card, board) if board and select_podium(board) else None


def _group_name(card: CompetitionCard) -> str:
    if card.is_own:
        return "own"
    if card.standing.state in _RUNNING_STATES:
        return "running"
    return "coming" if card.standing.state == "draft" else "past"


def _next_boundary_timestamp(card: CompetitionCard) -> float:
    """Return a sort key that puts competitions without a next phase boundary, or paused ones, last."""
    return card.next_boundary.time.timestamp() if card.next_boundary else float("inf")


def _negated_end_timestamp(card: CompetitionCard) -> float:
    """Return a sort key that puts the competition that ended last first."""
    return -card.ended_at.timestamp() if card.ended_at else 0.0


_SORT_KEYS: dict[str, Callable[[CompetitionCard], float]] = {
    "running": _next_boundary_timestamp,
    "coming": _next_boundary_timestamp,
    "past": _negated_end_timestamp,
}
