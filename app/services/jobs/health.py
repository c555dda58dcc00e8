"""What tells an operator whether the work gets done: numbers only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import Unavailable
from app.db.models import Evaluation, Guess, Heartbeat, State

TURN, SWEEP = "turn", "sweep"
"""What the clock does: turn phases, about every second, and ask again for lost work."""

WRITE_TEST = "write_test"
"""The row that web processes write to test whether the database takes changes."""


@dataclass(frozen=True, slots=True)
class Work:
    """How much work stands where, and how long the first has waited."""

    evaluations: Mapping[State, int]
    guesses: Mapping[State, int]
    oldest_queued_s: float
    """Since the evaluation that has waited longest was asked for; 0 if none waits."""


def beat(session: Session, task: str) -> None:
    """Note that a regular task has just run to its end."""
    now = func.clock_timestamp()
    row = insert(Heartbeat).values(task=task, at=now)
    session.execute(row.on_conflict_do_update(index_elements=[Heartbeat.task], set_={"at": now}))


def heartbeats(session: Session) -> dict[str, float]:
    """Seconds since each regular task last ran to its end."""
    age = func.extract("epoch", func.clock_timestamp() - Heartbeat.at)
    regular = select(Heartbeat.task, age).where(Heartbeat.task.in_((TURN, SWEEP)))
    return {task: float(seconds) for task, seconds in session.execute(regular)}


def write_for_test(session: Session) -> None:
    """Write a row, and about a megabyte to the database's disk that is given back at once.

    The row alone would fit into space that the database already has, and so succeed on a full disk.
    """
    session.execute(text("SET LOCAL work_mem = '64kB'"))
    session.execute(text("SELECT count(*) FROM generate_series(1, 60000)"))
    beat(session, WRITE_TEST)


def require_clock(beats: Mapping[str, float], *, stale_after_s: float) -> float:
    """Seconds since the clock last went round; Unavailable if that is too long ago, or never was."""
    age = beats.get(TURN)
    if age is None:
        raise Unavailable("the clock has never run: phases do not change", code="clock_stale")
    if age > stale_after_s:
        raise Unavailable(
            "the clock last ran {age} s ago: phases do not change", code="clock_stale", age=round(age)
        )
    return age


def work(session: Session) -> Work:
    waiting = func.min(Evaluation.created_at).filter(Evaluation.state == State.QUEUED)
    oldest = session.scalar(select(func.extract("epoch", func.clock_timestamp() - waiting)))
    return Work(by_state(session, Evaluation), by_state(session, Guess), max(0.0, float(oldest or 0)))


def by_state(session: Session, kind: type[Any]) -> dict[State, int]:
    counted: dict[State, int] = {}
    for state, number in session.execute(select(kind.state, func.count()).group_by(kind.state)):
        counted[state] = number
    return {state: counted.get(state, 0) for state in State}
