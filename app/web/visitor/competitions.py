"""The front page: all competitions, those that go on first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import MaybeSignedIn
from app.roles import Role
from app.scoring.rules import Rules
from app.services.contest import directory
from app.services.contest.directory import Readable
from app.services.contest.phases import Standing
from app.transaction import transaction
from app.web.site.frame import Turn, next_turn
from app.web.site.pages import PageRoute, page

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
    def own(self) -> bool:
        return self.entry.team is not None or self.entry.organizer


@router.get("/")
def all_competitions(request: Request, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        found = directory.competitions_for(session, principal)
    groups = grouped(map(Card, found.readable))
    may_create = principal is not None and principal.role != Role.PARTICIPANT
    return page(
        request,
        principal,
        "visitor/competitions.html",
        groups=groups,
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
    ends: list[datetime] = [phase.end for phase in card.rules.phases]
    return -max(ends).timestamp() if ends else 0.0


KEYS: dict[str, Callable[[Card], float]] = {"running": soonest, "coming": soonest, "past": latest_end}
