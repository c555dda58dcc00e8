"""What every page of a competition shows around its content: where it stands, and which pages there are."""

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
from app.services.contests.phases import Standing


@dataclass(frozen=True, slots=True)
class Turn:
    """The next moment at which a phase starts or ends."""

    phase: str
    what: Literal["start", "end"]
    at: datetime


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a rehearsal rehearses; ``next``: what happens in it next."""

    slug: str
    title: Mapping[str, str]
    next: str

    @property
    def path(self) -> str:
        return f"/competitions/{self.slug}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A competition as one person meets it; ``rules``: as they stood then; ``team``: their own in it;
    ``rehearsed``: of which it is a rehearsal."""

    contest: Contest
    rules: Rules
    standing: Standing
    team: Team | None
    organizer: bool
    rehearsed: Rehearsed | None = None

    @property
    def path(self) -> str:
        return f"/competitions/{self.rules.slug}"

    @property
    def disqualified(self) -> bool:
        """Whether this person's team is out of the contest."""
        return self.team is not None and self.team.disqualified_at is not None

    @property
    def starts(self) -> datetime | None:
        """When the next phase starts, while none has begun or between the two."""
        turn = self.next_turn
        waits = self.standing.state in ("draft", "between") and turn is not None and turn.what == "start"
        return turn.at if turn is not None and waits else None

    @property
    def next_turn(self) -> Turn | None:
        """What the countdown counts to; None in a pause and when nothing is to come."""
        return None if self.standing.paused else next_turn(self.rules, self.standing.now)


def frame_of(session: Session, principal: Principal | None, slug: str) -> Frame:
    contest = competitions.find(session, principal, slug)
    standing = phases.standing(session, contest.row)
    return Frame(
        contest=contest,
        rules=contest.rules,
        standing=standing,
        rehearsed=rehearsed_by(session, contest.row, standing),
        team=memberships.team_of(session, contest.id, principal) if principal else None,
        organizer=principal is not None and competitions.is_organizer(session, contest.id, principal),
    )


def rehearsed_by(session: Session, row: Competition, standing: Standing) -> Rehearsed | None:
    if row.rehearses is None:
        return None
    original = session.get_one(Competition, row.rehearses)
    happens = "paused" if standing.paused else standing.state if row.revealed_at is None else "over"
    return Rehearsed(original.slug, competitions.title_of(original), happens)


def next_turn(rules: Rules, now: datetime) -> Turn | None:
    """The earliest start or end of a phase that is still ahead."""
    turns = [Turn(phase.name, "start", phase.start) for phase in rules.phases]
    turns += [Turn(phase.name, "end", phase.end) for phase in rules.phases]
    return min((turn for turn in turns if turn.at > now), key=lambda turn: turn.at, default=None)
