"""Fair order of jobs: round-robin over competitions, then over the parties within a competition.

Whoever was served least recently is first. A party is a team, a whole rescore, or the organizer who
requested a threshold report. Within a party the oldest job is first. Fifty uploads of one team therefore
delay an upload of another team only by the job that is running.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import CTE, BindParameter, ColumnElement, Subquery, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import aliased

from app.config import get_settings
from app.core.db.models import (
    Evaluation,
    Guess,
    LeasedJob,
    Rejudgement,
    Round,
    StaleStanding,
    State,
    ThresholdReport,
)

JobKind = type[Evaluation] | type[Guess] | type[Rejudgement] | type[ThresholdReport] | type[StaleStanding]

UNFINISHED = (State.QUEUED, State.SCORING)
PARTY_COLUMNS: dict[type[LeasedJob], Any] = {
    Evaluation: Evaluation.party_id,
    Guess: Guess.team_id,
    Rejudgement: Rejudgement.rescore_id,
    ThresholdReport: ThresholdReport.user_id,
    StaleStanding: StaleStanding.round_id,
}
"""Column that identifies the party of each kind of job."""


def _is_ready(kind: type[LeasedJob]) -> ColumnElement[bool]:
    """Build the condition that a job is queued and its backoff is over.

    A longer backoff than the longest was written while the database's clock was ahead.
    """
    now = func.clock_timestamp()
    is_backoff_over = or_(
        kind.not_before.is_(None), kind.not_before <= now, kind.not_before > now + kind.max_backoff
    )
    return and_(kind.state == State.QUEUED, is_backoff_over)


def _is_lease_expired(kind: type[LeasedJob]) -> ColumnElement[bool]:
    """Build the condition that nobody renews a job's lease.

    A lease that is far too long was written while the database's clock was ahead. A worker that is alive
    shortens it within seconds.
    """
    now = func.clock_timestamp()
    max_length = timedelta(seconds=2 * get_settings().lease_s)
    is_out_of_range = or_(kind.leased_until < now, kind.leased_until > now + max_length)
    return and_(kind.state == State.SCORING, is_out_of_range)


def is_in_present_round(kind: type[Any]) -> ColumnElement[bool]:
    """Build the condition that the round of a job has not been removed."""
    return exists().where(Round.id == kind.round_id, Round.removed_at.is_(None))


def is_claimable(kind: JobKind) -> ColumnElement[bool]:
    """Build the condition that a job is unclaimed and may be claimed."""
    # Literal values let the planner use the partial index of unfinished jobs.
    states: BindParameter[Sequence[State]] = bindparam(
        "unfinished", UNFINISHED, expanding=True, literal_execute=True, unique=True
    )
    is_unheld = or_(_is_ready(kind), _is_lease_expired(kind))
    is_free = and_(kind.state.in_(states), is_unheld, is_in_present_round(kind))
    if kind is not ThresholdReport:
        return is_free
    # Of a competition's reports, at most one is made at a time.
    other_job: Any = aliased(kind)
    has_running_job = exists().where(
        other_job.round_id == kind.round_id, other_job.state == State.SCORING, other_job.id != kind.id
    )
    return and_(is_free, ~has_running_job)


@lru_cache(maxsize=len(PARTY_COLUMNS))
def build_claim_order(kind: JobKind) -> Subquery:
    """Build a subquery of ``id`` and ``place`` of all claimable jobs.

    ``place``, from 0, is the order in which they start if no job is added. Each round serves every party of a
    competition once, the least recently served first. The statement is cached because building it takes
    longer than running it.
    """
    party = PARTY_COLUMNS[kind]
    party_round = func.row_number().over(
        partition_by=(kind.round_id, party), order_by=(kind.created_at, kind.id)
    )
    waiting = (
        select(kind.id, kind.round_id, party.label("party_id"), kind.created_at, party_round.label("lap"))
        .where(is_claimable(kind))
        .cte("waiting")
    )
    last_served_by_party = _select_last_served(kind, waiting, per_party=True)
    last_served_by_contest = _select_last_served(kind, waiting, per_party=False)
    age_order = (waiting.c.created_at, waiting.c.id)
    contest_position = func.row_number().over(
        partition_by=waiting.c.round_id,
        order_by=(
            waiting.c.lap,
            last_served_by_party.c.served.nulls_first(),
            last_served_by_party.c.oldest,
            *age_order,
        ),
    )
    is_same_party = and_(
        last_served_by_party.c.round_id == waiting.c.round_id,
        last_served_by_party.c.party_id == waiting.c.party_id,
    )
    contest_order = (
        select(waiting, contest_position.label("turn")).join(last_served_by_party, is_same_party).cte("turns")
    )
    claim_position = func.row_number().over(
        order_by=(
            contest_order.c.turn,
            last_served_by_contest.c.served.nulls_first(),
            last_served_by_contest.c.oldest,
            contest_order.c.id,
        )
    )
    claim_order = select(contest_order.c.id, (claim_position - 1).label("place"))
    return claim_order.join(
        last_served_by_contest, last_served_by_contest.c.round_id == contest_order.c.round_id
    ).subquery()


def _select_last_served(kind: JobKind, waiting: CTE, *, per_party: bool) -> CTE:
    """Select the last start and the oldest waiting job, by competition or by party of a competition."""
    group_columns = [waiting.c.round_id, waiting.c.party_id][: 2 if per_party else 1]
    groups = (
        select(*group_columns, func.min(waiting.c.created_at).label("oldest")).group_by(*group_columns).cte()
    )
    earlier_job = aliased(kind)
    last_start = select(func.max(earlier_job.started_at)).where(earlier_job.round_id == groups.c.round_id)
    if per_party:
        last_start = last_start.where(getattr(earlier_job, PARTY_COLUMNS[kind].key) == groups.c.party_id)
    # Otherwise Postgres looks up the last start for every waiting job.
    return select(groups, last_start.scalar_subquery().label("served")).cte().prefix_with("MATERIALIZED")
