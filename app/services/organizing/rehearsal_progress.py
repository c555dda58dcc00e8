"""How a rehearsal goes: what has been done of each of its steps, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition, Evaluation, Guess, RehearsalMove, State, Target
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.jobs.leases import UNFINISHED

STALLED = timedelta(minutes=2)
"""Moves that have been due for so long while none was made."""
IDLE = and_(RehearsalMove.state == State.CANCELLED, RehearsalMove.failure.is_(None))
"""Dropped though it came in time: there was nothing to do."""


@dataclass(frozen=True, slots=True)
class Step:
    """``of``: how many there will be; None while nobody knows. ``first``, ``last``: when they were done."""

    name: str
    done: int
    of: int | None
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """``failed``: the moves that could not be made; ``late``: how many came too late for their phase;
    ``stalled``: moves have been due for a while, and nobody makes them."""

    steps: Sequence[Step]
    failed: Sequence[RehearsalMove]
    late: int
    stalled: bool


def course(session: Session, row: Competition) -> Course:
    """Of a rehearsal; who asks is not checked here."""
    targets = counted(session, select(func.count()).where(Target.competition_id == row.id))
    steps = [
        moves(session, row.id, "releases", ANONYMIZATION),
        work(session, "scores", Evaluation, Evaluation.competition_id == row.id, Evaluation.current),
        at_once("finals", targets, row.frozen_at),
        at_once("targets", targets, row.published_at),
        moves(session, row.id, "guesses", REIDENTIFICATION),
        work(session, "judged", Guess, Guess.competition_id == row.id),
        at_once("reveal", targets, row.revealed_at),
    ]
    failed = select(RehearsalMove).where(
        RehearsalMove.competition_id == row.id, RehearsalMove.state == State.ERROR
    )
    ordered = failed.order_by(RehearsalMove.finished_at, RehearsalMove.id)
    late = select(func.count()).where(
        RehearsalMove.competition_id == row.id, RehearsalMove.state == State.CANCELLED, ~IDLE
    )
    found = session.scalars(ordered.options(joinedload(RehearsalMove.team))).all()
    return Course(steps, found, counted(session, late), stalled(session, row))


def stalled(session: Session, row: Competition) -> bool:
    """No worker of reports runs, or none that has the private key; in a pause nothing is made."""
    mine = RehearsalMove.competition_id == row.id
    overdue = func.clock_timestamp() - STALLED > RehearsalMove.not_before
    waits = select(func.count()).where(mine, RehearsalMove.state == State.QUEUED, overdue)
    runs = select(func.count()).where(mine, or_(RehearsalMove.state == State.SCORING, lately()))
    return row.paused_at is None and bool(counted(session, waits)) and not counted(session, runs)


def lately() -> ColumnElement[bool]:
    """Begun or ended not long ago: what is due may just have to wait for its turn."""
    last = func.coalesce(RehearsalMove.finished_at, RehearsalMove.started_at)
    return last > func.clock_timestamp() - STALLED


def counted(session: Session, query: Any) -> int:
    return int(session.scalars(query).one())


def at_once(name: str, number: int, at: datetime | None) -> Step:
    """What happens to all targets at one moment."""
    return Step(name, number if at else 0, number if at else None, at, at)


def moves(session: Session, competition_id: UUID, name: str, phase: str) -> Step:
    """Those that were made, of all but those for which there was no target left."""
    mine = RehearsalMove.competition_id == competition_id, RehearsalMove.phase == phase, ~IDLE
    return step(session, name, RehearsalMove, RehearsalMove.state == State.SCORED, *mine)


def work(session: Session, name: str, kind: Any, *mine: Any) -> Step:
    """What is finished, of all that was sent."""
    return step(session, name, kind, kind.state.not_in(UNFINISHED), *mine)


def step(session: Session, name: str, kind: Any, done: ColumnElement[bool], *mine: Any) -> Step:
    made = (func.min(kind.finished_at).filter(done), func.max(kind.finished_at).filter(done))
    query = select(func.count().filter(done), func.count(), *made).select_from(kind).where(*mine)
    found, of, first, last = session.execute(query).one()
    return Step(name, found, of or None, first, last)
