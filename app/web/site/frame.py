"""The frame of every page of a competition: its state, and the reader's role in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from anoncup.rules.model import Rules
from app.db.models import Competition, Team
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import PhaseStatus


@dataclass(frozen=True, slots=True)
class PhaseBoundary:
    """A start or end of a phase."""

    phase: str
    kind: Literal["start", "end"]
    time: datetime


@dataclass(frozen=True, slots=True)
class RehearsedCompetition:
    """The competition that a rehearsal copies; ``next_event`` names what happens next in the rehearsal."""

    slug: str
    title: Mapping[str, str]
    next_event: str

    @property
    def path(self) -> str:
        return f"/competitions/{self.slug}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A competition as one reader sees it.

    ``rules`` are those of the moment when the frame was loaded. ``team`` is the reader's own. ``rehearsed``
    is set if the competition is a rehearsal of another one.
    """

    contest: Contest
    rules: Rules
    standing: PhaseStatus
    team: Team | None
    is_organizer: bool
    rehearsed: RehearsedCompetition | None = None

    @property
    def path(self) -> str:
        return f"/competitions/{self.rules.slug}"

    @property
    def is_disqualified(self) -> bool:
        return self.team is not None and self.team.disqualified_at is not None

    @property
    def next_start(self) -> datetime | None:
        """Start of the next phase, before the first phase or between the two; else None."""
        boundary = self.next_boundary
        is_waiting = (
            self.standing.state in ("draft", "between") and boundary is not None and boundary.kind == "start"
        )
        return boundary.time if boundary is not None and is_waiting else None

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        """The phase boundary that the countdown shows; None in a pause or after the last one."""
        return None if self.standing.paused else find_next_boundary(self.rules, self.standing.now)


def load_frame(session: Session, principal: Principal | None, slug: str) -> Frame:
    contest = competitions.find(session, principal, slug)
    standing = phases.get_status(session, contest.row)
    return Frame(
        contest=contest,
        rules=contest.rules,
        standing=standing,
        rehearsed=_load_rehearsed(session, contest.row, standing),
        team=memberships.find_team(session, contest.id, principal) if principal else None,
        is_organizer=principal is not None and competitions.is_organizer(session, contest.id, principal),
    )


def _load_rehearsed(session: Session, row: Competition, standing: PhaseStatus) -> RehearsedCompetition | None:
    if row.rehearses is None:
        return None
    original = session.get_one(Competition, row.rehearses)
    next_event = "paused" if standing.paused else standing.state if row.revealed_at is None else "over"
    return RehearsedCompetition(original.slug, competitions.get_title(original), next_event)


def find_next_boundary(rules: Rules, now: datetime) -> PhaseBoundary | None:
    """Return the next start or end of a phase, or None after the last one."""
    boundaries = [PhaseBoundary(phase.name, "start", phase.start) for phase in rules.phases]
    boundaries += [PhaseBoundary(phase.name, "end", phase.end) for phase in rules.phases]
    return min(
        (boundary for boundary in boundaries if boundary.time > now),
        key=lambda boundary: boundary.time,
        default=None,
    )
