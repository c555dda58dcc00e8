"""Figures that tell an operator whether jobs are being processed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnExpressionArgument, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import Unavailable
from app.core.db.models import Delivery, Evaluation, Heartbeat, State
from app.jobs.fairness import is_in_present_round

TRANSITION_TASK, SWEEP_TASK = "turn", "sweep"
"""Regular tasks of the clock: taking lifecycle steps, about every second, and requeueing lost jobs."""

_MAX_FUTURE_S = 2.0
"""Steps of the database's clock that NTP may make."""

WRITE_TEST_TASK = "write_test"
"""Row that web processes write to test whether the database accepts changes."""


class DeliveryCounts(NamedTuple):
    """Events that wait in the outbox."""

    waiting: int
    overdue_s: float
    """Seconds since the longest overdue attempt was due; 0 if none is overdue."""


def record_heartbeat(session: Session, task: str) -> None:
    """Record that a regular task has just completed."""
    now = func.clock_timestamp()
    row = insert(Heartbeat).values(task=task, at=now)
    session.execute(row.on_conflict_do_update(index_elements=[Heartbeat.task], set_={"at": now}))


def load_heartbeat_ages(session: Session) -> dict[str, float]:
    """Return the seconds since each regular task last completed."""
    age = func.extract("epoch", func.clock_timestamp() - Heartbeat.at)
    ages_by_task = select(Heartbeat.task, age).where(Heartbeat.task.in_((TRANSITION_TASK, SWEEP_TASK)))
    return {task: float(seconds) for task, seconds in session.execute(ages_by_task)}


def require_running_clock(heartbeat_ages: Mapping[str, float], *, stale_after_s: float) -> float:
    """Return the seconds since the clock last ran.

    Raise Unavailable if that is too long ago, never, or in the future: then the database's clock was ahead.
    """
    age = heartbeat_ages.get(TRANSITION_TASK)
    if age is None:
        raise Unavailable("the clock has never run: phases do not change", code="clock_stale")
    if age > stale_after_s:
        raise Unavailable(
            "the clock last ran {age} s ago: phases do not change", code="clock_stale", age=round(age)
        )
    if age < -_MAX_FUTURE_S:
        raise Unavailable(
            "the clock last ran {ahead} s in the future: the database's clock was ahead, and phases do not"
            " change",
            code="clock_stale",
            ahead=round(-age),
        )
    return max(0.0, age)


def measure_oldest_queued(session: Session) -> float:
    """Return the age in seconds of the oldest queued evaluation; 0 if none is queued."""
    age = func.extract("epoch", func.clock_timestamp() - func.min(Evaluation.created_at))
    query = select(age).where(Evaluation.state == State.QUEUED, is_in_present_round(Evaluation))
    return max(0.0, float(session.scalar(query) or 0))


def count_by_state(
    session: Session, kind: type[Any], *conditions: ColumnExpressionArgument[bool]
) -> dict[State, int]:
    """Return the number of jobs of a kind that meet the conditions, for every state."""
    query = select(kind.state, func.count()).where(*conditions).group_by(kind.state)
    counts: dict[State, int] = dict(iter(session.execute(query)))
    return {state: counts.get(state, 0) for state in State}


def count_deliveries(session: Session) -> DeliveryCounts:
    """Count the events that wait to be sent. If nothing sends them, they become overdue."""
    overdue = func.extract("epoch", func.clock_timestamp() - func.min(Delivery.next_attempt_at))
    waiting, overdue_s = session.execute(
        select(func.count(), overdue).select_from(Delivery).where(Delivery.finished_at.is_(None))
    ).one()
    return DeliveryCounts(waiting, max(0.0, float(overdue_s or 0)))
