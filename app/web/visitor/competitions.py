"""The front page: all competitions, those that go on first."""

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
from app.http.authentication import MaybeSignedIn
from app.services.accounts.accounts import Principal
from app.services.contests import directory
from app.services.contests.directory import Readable
from app.services.contests.phases import Standing
from app.web.site.frame import Turn, next_turn
from app.web.site.pages import PageRoute, page
from app.web.visitor.leader import podium
from app.web.visitor.overview import open_board

router = APIRouter(route_class=PageRoute)
RUNNING = ("anonymization", "settling", "between", "reidentification")


@dataclass(frozen=True, slots=True)
class Card:
    """A competition as the front page shows it."""

    entry: Readable

    @property
    def rules(self) -> Rules:
        return self.entry.rules

    @property
    def standing(self) -> Standing:
        return self.entry.standing

    @property
    def next_turn(self) -> Turn | None:
        return None if self.standing.paused else next_turn(self.rules, self.standing.now)

    @property
    def ended(self) -> datetime | None:
        """The end of its last phase, once it is over."""
        ends = [phase.end for phase in self.rules.phases]
        return max(ends) if ends and self.standing.state == "closed" else None

    @property
    def own(self) -> bool:
        return self.entry.team is not None or self.entry.organizer


@dataclass(frozen=True, slots=True)
class First:
    """The competition whose leaders the front page shows: one alone, for each board takes queries."""

    card: Card
    board: Board

    @property
    def podium(self) -> list[BoardRow]:
        return podium(self.board)

    @property
    def frozen(self) -> bool:
        """Whether the board stands still for this reader, who is told since when."""
        standing, since = self.card.standing, self.board.frozen_from
        waits = since is not None and since <= standing.now and standing.state != "closed"
        return waits and not self.card.entry.organizer


@router.get("/")
def all_competitions(request: Request, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        found = directory.competitions_for(session, principal)
        groups = grouped(map(Card, found.readable))
        first = first_of(session, principal, groups)
    may_create = principal is not None and principal.role != Role.PARTICIPANT
    return page(
        request,
        principal,
        "visitor/competitions.html",
        groups=groups,
        first=first,
        unreadable=found.unreadable,
        may_create=may_create,
    )


def grouped(cards: Iterable[Card]) -> dict[str, list[Card]]:
    """The reader's own, then what goes on, is to come and is over, each group by what comes next in it."""
    groups: dict[str, list[Card]] = {"own": [], "running": [], "coming": [], "past": []}
    for card in cards:
        groups[group_of(card)].append(card)
    groups["own"].sort(key=lambda card: (card.standing.state == "closed", soonest(card)))
    for name, key in KEYS.items():
        groups[name].sort(key=key)
    return {name: found for name, found in groups.items() if found}


def first_of(session: Session, principal: Principal | None, groups: Mapping[str, list[Card]]) -> First | None:
    """The first on the page that has begun; None while nobody has a rank in it, or its board is closed."""
    begun = (card for cards in groups.values() for card in cards if card.standing.state != "draft")
    if (card := next(begun, None)) is None:
        return None
    board = open_board(session, principal, card.rules.slug)
    return First(card, board) if board and podium(board) else None


def group_of(card: Card) -> str:
    if card.own:
        return "own"
    if card.standing.state in RUNNING:
        return "running"
    return "coming" if card.standing.state == "draft" else "past"


def soonest(card: Card) -> float:
    """The next turn; one that has none, or stands still, comes last."""
    return card.next_turn.at.timestamp() if card.next_turn else float("inf")


def latest_end(card: Card) -> float:
    """The one that ended last comes first."""
    return -card.ended.timestamp() if card.ended else 0.0


KEYS: dict[str, Callable[[Card], float]] = {"running": soonest, "coming": soonest, "past": latest_end}
