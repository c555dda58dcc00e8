"""The data that every page of a competition shows: its state, and the reader's role in it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup.rules.model import Rules
from app.accounts import memberships
from app.competitions import competitions, phases, settling
from app.competitions.contest import Contest
from app.competitions.phases import PhaseBoundary, PhaseStatus
from app.competitions.rounds import RoundEntry, list_rounds
from app.competitions.settling import Wait
from app.core.db.models import Team
from app.core.identity.principal import Principal


@dataclass(frozen=True, slots=True)
class Frame:
    """A competition as one reader sees it: what the heading, menu and side of its pages need.

    ``rules`` are the rules at the time of the request. ``team`` is the reader's own team. ``rounds`` is
    empty if there is only one. ``wait`` is what it waits for after a deadline.
    """

    contest: Contest
    rules: Rules
    status: PhaseStatus
    team: Team | None
    is_organizer: bool
    rounds: tuple[RoundEntry, ...] = ()
    wait: Wait | None = None

    @property
    def path(self) -> str:
        return f"/competitions/{self.rules.address}"

    @property
    def is_disqualified(self) -> bool:
        return self.team is not None and self.team.disqualified_at is not None

    @property
    def next_start(self) -> datetime | None:
        """The start of the next phase, before the first phase and between the phases; else None."""
        boundary = self.next_boundary
        is_waiting = (
            self.status.state in ("draft", "between") and boundary is not None and boundary.kind == "start"
        )
        return boundary.time if boundary is not None and is_waiting else None

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        """The phase boundary that the countdown shows, or None in a pause and after the last phase."""
        return phases.find_next_boundary(self.rules, self.status)


def load_frame(session: Session, principal: Principal | None, slug: str) -> Frame:
    contest = competitions.find(session, principal, slug)
    status = phases.get_status(session, contest.round)
    return Frame(
        contest=contest,
        rules=contest.rules,
        status=status,
        rounds=list_rounds(contest, status.now),
        wait=settling.find_wait(contest.round, status),
        team=memberships.find_team(session, contest.id, principal) if principal else None,
        is_organizer=principal is not None and competitions.is_organizer(session, contest.id, principal),
    )
