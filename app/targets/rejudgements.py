"""Rejudgements: the guesses of a round, judged by the rules of a rescore, which gives them these results.

A guess that was refused stays refused, because its team may have sent another one for it. Guesses about
questions that the new rules do not ask keep their results, which no board shows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, cast, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session, joinedload

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.competitions import revisions
from app.core.db import transaction
from app.core.db.models import Guess, Rejudgement, Rescore, State
from app.jobs import leases, queue

_FINISHED = Rejudgement.state.not_in(leases.UNFINISHED)
_UNSYNCHRONIZED = {"synchronize_session": False}
_FAILED = Rejudgement.state == State.ERROR, Guess.state != State.ERROR


@dataclass(frozen=True, slots=True)
class RejudgementCounts:
    """Numbers of a rescore's guesses.

    ``failed``: guesses that could not be judged by the new rules, but by the current ones.
    """

    total: int
    finished: int
    failed: int


def enqueue_all(session: Session, rescore: Rescore, rules: Rules) -> None:
    """Queue the guesses of the round for judging by the rules of the rescore."""
    query = (
        select(Guess.id)
        .where(Guess.round_id == rescore.round_id, Guess.state != State.REFUSED)
        .where(Guess.question.in_(_list_questions(rules)))
        .order_by(Guess.received_at, Guess.id)
    )
    _enqueue(session, rescore, session.scalars(query).all())


def include_in_open_rescore(session: Session, guess: Guess) -> None:
    """Add a new guess to the open rescore, if there is one, so that it covers all guesses."""
    rescore = revisions.find_open_rescore(session, guess.round_id)
    if rescore is not None and guess.question in _list_questions(rescore.rules):
        _enqueue(session, rescore, [guess.id])


def _list_questions(rules: Rules) -> Collection[str]:
    return TRACKS[rules.track].select_questions(rules).keys()


def _enqueue(session: Session, rescore: Rescore, guess_ids: Sequence[UUID]) -> None:
    if not guess_ids:
        return
    rows = [
        {"round_id": rescore.round_id, "rescore_id": rescore.id, "guess_id": guess_id}
        for guess_id in guess_ids
    ]
    session.execute(insert(Rejudgement), rows)
    # The sweep sends the others.
    queue.enqueue_after_commit(session, queue.JUDGE, times=min(len(guess_ids), leases.MAX_MESSAGES))


def count(session: Session, rescore: Rescore) -> RejudgementCounts:
    """Return the numbers of the guesses that the rescore judges, without those refused meanwhile."""
    query = (
        select(func.count(), func.count().filter(_FINISHED), func.count().filter(*_FAILED))
        .select_from(Rejudgement)
        .join(Guess, Guess.id == Rejudgement.guess_id)
        .where(*_is_in_set(rescore))
    )
    return RejudgementCounts(*session.execute(query).one())


def _is_in_set(rescore: Rescore) -> tuple[ColumnElement[bool], ...]:
    return Rejudgement.rescore_id == rescore.id, Guess.state != State.REFUSED


def list_changes(session: Session, rescore: Rescore) -> list[tuple[Guess, Rejudgement]]:
    """Return the guesses whose results change, in order of receipt, with their rejudgements."""
    outcomes = [cast(model.outcome, JSONB) for model in (Guess, Rejudgement)]
    query = (
        select(Guess, Rejudgement)
        .join(Rejudgement, Rejudgement.guess_id == Guess.id)
        .where(*_is_in_set(rescore), _FINISHED)
        .where(or_(Guess.state != Rejudgement.state, outcomes[0].is_distinct_from(outcomes[1])))
        .options(joinedload(Guess.team, innerjoin=True), joinedload(Guess.target, innerjoin=True))
        .order_by(Guess.received_at, Guess.id)
    )
    return [(guess, rejudgement) for guess, rejudgement in session.execute(query)]


def apply(session: Session, rescore: Rescore) -> None:
    """Give the guesses the results of the rescore.

    All of its rejudgements have ended. A worker that still judges a guess by the old rules loses its lease.
    """
    in_set = (Rejudgement.guess_id == Guess.id, *_is_in_set(rescore))
    locked = select(Guess.id).join(Rejudgement, in_set[0]).where(*in_set[1:]).order_by(Guess.id)
    session.scalars(locked.with_for_update(of=Guess)).all()
    results = {
        column.key: column
        for column in (
            Rejudgement.state,
            Rejudgement.correct,
            Rejudgement.outcome,
            Rejudgement.risk,
            Rejudgement.refusal,
            Rejudgement.failure,
            Rejudgement.traceback,
        )
    }
    finished_at = func.coalesce(Guess.finished_at, transaction.read_clock(session))
    session.execute(
        update(Guess).where(*in_set).values(results | {"finished_at": finished_at, "leased_until": None}),
        execution_options=_UNSYNCHRONIZED,
    )
    session.expire_all()


def cancel(session: Session, rescore: Rescore) -> None:
    """Cancel the unfinished rejudgements of a rescore."""
    query = select(Rejudgement).where(Rejudgement.rescore_id == rescore.id, ~_FINISHED)
    for rejudgement in session.scalars(query.with_for_update()):
        leases.finish(session, rejudgement, State.CANCELLED)
