"""The front page, which lists all competitions in groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from anoncup.schemas.roles import Role
from app.db.transaction import transaction
from app.http.authentication import RequestCredential
from app.http.board_cache import load_open_board
from app.services.accounts.principal import Principal
from app.services.accounts.tokens import Credential
from app.services.boards import anonymization
from app.services.contests import directory
from app.services.contests.directory import Directory, DirectoryEntry
from app.services.contests.phases import PhaseStatus
from app.web.site.frame import PhaseBoundary, find_next_boundary
from app.web.site.pages import PageRoute, RequestedPage
from app.web.visitor.standings import select_podium

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
    def status(self) -> PhaseStatus:
        return self.entry.status

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        return None if self.status.paused else find_next_boundary(self.rules, self.status.now)

    @property
    def ended_at(self) -> datetime | None:
        """End of the last phase, or None unless the competition is closed."""
        ends = [phase.end for phase in self.rules.phases]
        return max(ends) if ends and self.status.state == "closed" else None

    @property
    def is_own(self) -> bool:
        return self.entry.team_name is not None or self.entry.is_organizer


@dataclass(frozen=True, slots=True)
class FeaturedCompetition:
    """The competition whose leaders the front page shows: only one, because each board costs queries."""

    card: CompetitionCard
    board: Board

    @property
    def podium(self) -> list[BoardRow]:
        return select_podium(self.board)

    @property
    def is_frozen(self) -> bool:
        """Whether this reader sees a frozen board."""
        status, frozen_from = self.card.status, self.board.frozen_from
        has_begun = frozen_from is not None and frozen_from <= status.now and status.state != "closed"
        return has_begun and not self.card.entry.is_organizer


@router.get("/")
async def show_competitions(page: RequestedPage, credential: RequestCredential) -> HTMLResponse:
    directory_listing = await run_in_threadpool(_load_directory, page.principal)
    groups = _group_cards(map(CompetitionCard, directory_listing.readable))
    featured = await _load_featured(page.request, credential, groups)
    return await run_in_threadpool(
        page.render,
        "visitor/competitions.html",
        groups=groups,
        featured=featured,
        unreadable=directory_listing.unreadable,
        can_create=page.principal is not None and page.principal.role != Role.PARTICIPANT,
    )


def _load_directory(principal: Principal | None) -> Directory:
    with transaction() as session:
        return directory.load_directory(session, principal)


def _group_cards(cards: Iterable[CompetitionCard]) -> dict[str, list[CompetitionCard]]:
    """Group the cards into own, running, coming and past competitions, each sorted; omit empty groups."""
    groups: dict[str, list[CompetitionCard]] = {"own": [], "running": [], "coming": [], "past": []}
    for card in cards:
        groups[_choose_group(card)].append(card)
    groups["own"].sort(key=lambda card: (card.status.state == "closed", _compute_boundary_sort_key(card)))
    for name in ("running", "coming"):
        groups[name].sort(key=_compute_boundary_sort_key)
    groups["past"].sort(key=lambda card: -card.ended_at.timestamp() if card.ended_at else 0.0)
    return {name: group for name, group in groups.items() if group}


async def _load_featured(
    request: Request, credential: Credential | None, groups: Mapping[str, list[CompetitionCard]]
) -> FeaturedCompetition | None:
    """Return the first competition that has begun, or None if its board is closed or has no ranks."""
    started_cards = (card for cards in groups.values() for card in cards if card.status.state != "draft")
    if (card := next(started_cards, None)) is None:
        return None
    board = await load_open_board(request, credential, card.rules.address, anonymization.build_board, Board)
    return FeaturedCompetition(card, board) if board and select_podium(board) else None


def _choose_group(card: CompetitionCard) -> str:
    if card.is_own:
        return "own"
    if card.status.state in _RUNNING_STATES:
        return "running"
    return "coming" if card.status.state == "draft" else "past"


def _compute_boundary_sort_key(card: CompetitionCard) -> float:
    """Return a sort key by the next phase boundary; competitions without one and paused ones come last."""
    return card.next_boundary.time.timestamp() if card.next_boundary else float("inf")
