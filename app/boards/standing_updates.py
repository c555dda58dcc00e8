"""Writes the stored standings when something that counts changes.

They are replaced in the transaction of the change, from its moment on, so that a board is never behind. What
cannot be computed there (a ranking function of a package, an unreadable file) keeps its last state and
is left to a worker, as a leased job for each round (``StaleStanding``).

A change creates this job, or moves ``since`` back. A claim moves ``since`` to ``claimed_since``, so that
changes from then on are seen apart. If the worker fails or is lost, the next claim begins at the earlier of
both; if it succeeds, the job is removed, and what is still stale becomes a new one.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import delete, exists, func, insert, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session, joinedload

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.errors import CompetitionUnavailable
from app.boards.fold import TableRows, compute_rows, fold
from app.boards.load_facts import load_facts
from app.boards.release_board import ComputedStanding, ReleaseBoard
from app.core.db.models import (
    Competition,
    Evaluation,
    Guess,
    JudgingJob,
    Rescore,
    Round,
    Series,
    StaleStanding,
    State,
    Submission,
    Target,
)
from app.core.db.transaction import BEGINNING, END
from app.jobs import leases, queue
from app.jobs.leases import Lease


class StaleClaim(NamedTuple):
    """A worker's claim to compute the standings of a round from ``since`` on."""

    lease: Lease[StaleStanding]
    round_id: UUID
    since: datetime


def refresh(
    session: Session, round_id: UUID, team_ids: Collection[UUID] | None = None, *, since: datetime = BEGINNING
) -> None:
    """Compute the standings of these teams, or of all, from a moment on.

    The standings of the competition are locked until the transaction ends, so that everything that was
    committed before is taken into account.
    """
    session.flush()
    _lock(session, session.get_one(Round, round_id))
    round_ = session.get_one(Round, round_id, populate_existing=True)
    if _needs_worker(session, round_):
        mark_stale(session, round_id, since=since)
        return
    attack = round_.rules.ranking.attack
    if compares_teams(round_.rules) or (attack and attack.compares_teams):
        team_ids = None
    try:
        with session.begin_nested():
            rows = compute_rows(load_facts(session, round_, since, team_ids), since, team_ids=team_ids)
            _replace_rows(session, round_, rows, since, team_ids=team_ids)
    except CompetitionUnavailable:
        mark_stale(session, round_id, since=since)


def _lock(session: Session, round_: Round) -> None:
    """Lock the standings of the round's competition until the transaction ends.

    There is no lock for each round: changes of several rounds would take them in different orders.
    """
    key = func.hashtextextended(str(round_.competition_id), 0)
    session.execute(select(func.pg_advisory_xact_lock(key)))


def _needs_worker(session: Session, round_: Round) -> bool:
    """Return whether a worker has to compute the standings.

    Functions of packages run in its sandbox, and what it is computing already would undo newer standings.
    """
    try:
        return bool(round_.rules.ranking.list_functions()) or _is_stale(session, round_.id)
    except CompetitionUnavailable:
        return True


def refresh_evaluation(session: Session, evaluation: Evaluation) -> None:
    """Take a new verdict into account, unless it counts only once a rescore is applied."""
    if evaluation.current and evaluation.finished_at is not None:
        submission = session.get_one(Submission, evaluation.submission_id)
        refresh(session, evaluation.round_id, [submission.team_id], since=evaluation.finished_at)


def refresh_judged(session: Session, job: JudgingJob | None) -> None:
    """Take a judged guess into account, for its team and for that of the release it attacks.

    A rejudgement counts only once its rescore is applied.
    """
    if isinstance(job, Guess) and job.state == State.SCORED and job.finished_at is not None:
        target = session.get_one(Target, job.target_id, options=[joinedload(Target.submission)])
        team_ids = {job.team_id, target.submission.team_id}
        refresh(session, job.round_id, team_ids, since=job.finished_at)


def refresh_all_rounds(session: Session, competition: Competition) -> None:
    for round_ in competition.rounds:
        refresh(session, round_.id)


def mark_stale(session: Session, round_id: UUID, *, since: datetime) -> None:
    """Leave the standings from a moment on to a worker.

    After a failure it is tried again after a pause, but at once if all standings have to be computed, since
    organizers may have changed the rules.
    """
    job = postgresql.insert(StaleStanding).values(round_id=round_id, since=since)
    changes: dict[str, Any] = {"since": func.least(StaleStanding.since, job.excluded.since)}
    if since == BEGINNING:
        changes["not_before"] = None
    session.execute(job.on_conflict_do_update(index_elements=[StaleStanding.round_id], set_=changes))
    queue.enqueue_after_commit(session, queue.SCORE)


def _is_stale(session: Session, round_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(StaleStanding.round_id == round_id))))


def find_failed(session: Session, round_id: UUID) -> StaleStanding | None:
    """Return the job of a round whose standings could not be computed the last time."""
    query = select(StaleStanding).where(StaleStanding.round_id == round_id)
    return session.scalar(query.where(StaleStanding.failure.is_not(None)))


def claim_stale(session: Session) -> StaleClaim | None:
    """Claim the next round with stale standings in fair order; None if none is claimable."""
    job = leases.claim_next(session, StaleStanding)
    if job is None:
        return None
    job.excused = job.attempt  # no attempt counts, because boards are never given up
    since = min(filter(None, (job.since, job.claimed_since)))
    job.since, job.claimed_since = None, since
    return StaleClaim(Lease.create(job), job.round_id, since)


def store_claimed(session: Session, claim: StaleClaim, rows: list[TableRows], *, until: datetime) -> None:
    """Store what a worker has computed, unless it has lost its lease."""
    round_ = session.get_one(Round, claim.round_id)
    _lock(session, round_)
    job = leases.lock_job(session, claim.lease)
    if job is not None:
        _replace_rows(session, round_, rows, claim.since, until=until)
        _finish(session, job, until=until)


def _finish(session: Session, job: StaleStanding, *, until: datetime) -> None:
    """Remove a job whose standings before a moment are stored. What is still stale becomes a new one."""
    stale_since = min(job.since or END, until)
    session.delete(job)
    session.flush()
    if stale_since < END:
        mark_stale(session, job.round_id, since=stale_since)


def _replace_rows(
    session: Session,
    round_: Round,
    new_rows: list[TableRows],
    since: datetime,
    *,
    until: datetime = END,
    team_ids: Collection[UUID] | None = None,
) -> None:
    """Store the rows from ``since`` on in place of the old ones; later rounds that read them become stale."""
    round_id = round_.id
    for table, rows in new_rows:
        is_affected = [table.round_id == round_id, table.at >= since, table.at < until]
        if team_ids is not None:
            is_affected.append(table.team_id.in_(team_ids))
        session.execute(delete(table).where(*is_affected))
        if rows:
            session.execute(insert(table), [{"round_id": round_id, **row} for row in rows])
    _mark_later_rounds(session, round_, since)


def _mark_later_rounds(session: Session, round_: Round, since: datetime) -> None:
    """Leave later rounds to a worker whose functions may read the scores of this one."""
    if not round_.name:  # the only round of its competition
        return
    for sibling in round_.competition.rounds:
        if sibling.position > round_.position and _needs_worker(session, sibling):
            mark_stale(session, sibling.id, since=since)


def compute_proposed(session: Session, round_: Round, rescore: Rescore) -> list[ComputedStanding]:
    """Return the standings on the anonymization board that organizers would see if a rescore were applied."""
    facts = load_facts(session, round_, BEGINNING, proposed_by=rescore)
    changes = fold(ReleaseBoard(facts), Series.ALL_GUESSES)
    return list({standing.team_id: standing for _, standing in changes}.values())
