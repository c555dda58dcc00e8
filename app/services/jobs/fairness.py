"""Whose work is next: competitions in turn, within one its parties in turn; the least recently served first.

A party is a team; of re-scoring, the set as a whole; of threshold reports, the organizer who asks. Within a
party the oldest is first. So fifty uploads of one team delay another team's by the piece that runs.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import CTE, BindParameter, ColumnElement, Subquery, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import aliased

from app.db.models import Competition, Evaluation, Guess, RehearsalMove, State, ThresholdReport
from app.db.models.declarations import Work

Kind = type[Evaluation] | type[Guess] | type[ThresholdReport] | type[RehearsalMove]

UNFINISHED = (State.QUEUED, State.SCORING)
PARTIES: dict[type[Work], Any] = {
    Evaluation: Evaluation.party_id,
    Guess: Guess.team_id,
    ThresholdReport: ThresholdReport.user_id,
    RehearsalMove: RehearsalMove.team_id,
}
"""The column that tells whom each kind of work is done for."""
ONE_AT_A_TIME = (ThresholdReport, RehearsalMove)
"""Kinds of which a competition has one piece under way."""


def lease_has_run_out(kind: type[Work]) -> ColumnElement[bool]:
    return and_(kind.state == State.SCORING, kind.leased_until < func.clock_timestamp())


def is_waiting(kind: type[Work]) -> ColumnElement[bool]:
    """Queued, and not at rest after it was given back."""
    rested = or_(kind.not_before.is_(None), kind.not_before <= func.clock_timestamp())
    return and_(kind.state == State.QUEUED, rested)


def claimable(kind: Kind) -> ColumnElement[bool]:
    """Nobody works on it, and somebody may."""
    # Spelled out in the statement, so that the index of the unfinished is seen to fit.
    states: BindParameter[Sequence[State]] = bindparam(
        "unfinished", UNFINISHED, expanding=True, literal_execute=True, unique=True
    )
    free = and_(kind.state.in_(states), or_(is_waiting(kind), lease_has_run_out(kind)))
    if kind not in ONE_AT_A_TIME:
        return free
    other: Any = aliased(kind)
    running = exists().where(
        other.competition_id == kind.competition_id, other.state == State.SCORING, other.id != kind.id
    )
    return and_(free, ~running)


@lru_cache(maxsize=len(PARTIES))
def order(kind: Kind) -> Subquery:
    """``id`` and ``place`` of all that may be claimed: the order in which it is begun if nothing is added.

    A lap serves every party of a competition once, in the order in which they were served last. Built once:
    that takes longer than to ask.
    """
    party = PARTIES[kind]
    lap = func.row_number().over(
        partition_by=(kind.competition_id, party), order_by=(kind.created_at, kind.id)
    )
    waiting = (
        select(kind.id, kind.competition_id, party.label("party_id"), kind.created_at, lap.label("lap"))
        .where(claimable(kind))
        .cte("waiting")
    )
    by_party, by_contest = served(kind, waiting, party=True), served(kind, waiting, party=False)
    age = (waiting.c.created_at, waiting.c.id)
    turn = func.row_number().over(
        partition_by=waiting.c.competition_id,
        order_by=(waiting.c.lap, by_party.c.served.nulls_first(), by_party.c.oldest, *age),
    )
    same_party = and_(
        by_party.c.competition_id == waiting.c.competition_id, by_party.c.party_id == waiting.c.party_id
    )
    turns = select(waiting, turn.label("turn")).join(by_party, same_party).cte("turns")
    place = func.row_number().over(
        order_by=(turns.c.turn, by_contest.c.served.nulls_first(), by_contest.c.oldest, turns.c.id)
    )
    placed = select(turns.c.id, (place - 1).label("place"))
    return placed.join(by_contest, by_contest.c.competition_id == turns.c.competition_id).subquery()


@lru_cache(maxsize=len(PARTIES))
def shown_order(kind: Kind) -> Subquery:
    """The same as teams read it: what stands before theirs in a rehearsal, of which they may not know, is
    not counted."""
    whole = order(kind)
    public = func.count().filter(Competition.rehearses.is_(None))
    place = public.over(order_by=whole.c.place, rows=(None, -1))
    return (
        select(whole.c.id, place.label("place"))
        .join(kind, kind.id == whole.c.id)
        .join(Competition, Competition.id == kind.competition_id)
        .subquery()
    )


def served(kind: Kind, waiting: CTE, *, party: bool) -> CTE:
    """When work of each competition, or of each of its parties, was begun last; and since when it waits."""
    key = [waiting.c.competition_id, waiting.c.party_id][: 2 if party else 1]
    groups = select(*key, func.min(waiting.c.created_at).label("oldest")).group_by(*key).cte()
    earlier = aliased(kind)
    last = select(func.max(earlier.started_at)).where(earlier.competition_id == groups.c.competition_id)
    if party:
        last = last.where(getattr(earlier, PARTIES[kind].key) == groups.c.party_id)
    return select(groups, last.scalar_subquery().label("served")).cte()
