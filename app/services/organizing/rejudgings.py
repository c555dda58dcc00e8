"""Re-score sets: all submissions scored by other rules, compared, then applied or cancelled as a whole.

Until it is applied, a set changes nothing that anybody but the organizers sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, aliased, defer, joinedload

from anoncup import schemas
from anoncup.competition.scoring_versions import what_counts
from anoncup.errors import Conflict, NotFound
from anoncup.messages import N_, Counted
from anoncup.rules.rounds import with_phases
from app.db import now
from app.db.models import Competition, Evaluation, Rescore, State, Submission
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization, verdicts
from app.services.boards.verdicts import Numbers
from app.services.contests import competitions, revisions
from app.services.contests.contest import Contest, read_file
from app.services.contests.revisions import Revision
from app.services.jobs import leases
from app.services.submissions import evaluations

Stage = schemas.Stage
STANDS: dict[Stage, str] = {
    "scoring": N_("the set is still being scored"),
    "ready": N_("the set is completely scored: apply or cancel it"),
    "applied": N_("the set has been applied already"),
    "cancelled": N_("the set has been cancelled"),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """An evaluation, whose verdict is not loaded, the numbers of it if it has one, and its team's rank."""

    evaluation: Evaluation
    numbers: Numbers | None
    rank: int | None = None

    @property
    def state(self) -> State:
        return self.evaluation.state

    @property
    def overall(self) -> float | None:
        return self.numbers.overall if self.numbers else None


@dataclass(frozen=True, slots=True)
class Change:
    """One submission by the rules in force and by the new ones."""

    submission: Submission
    before: Judged
    after: Judged


@dataclass(frozen=True, slots=True)
class Preview:
    """A set, how far it is, and what it would change; of an applied one, nothing is left to compare."""

    rescore: Rescore
    stage: Stage
    finished: int
    total: int
    changes: tuple[Change, ...]


def begin(session: Session, principal: Principal, slug: str, new: Revision) -> Rescore:
    """Queue every submission for the rules of ``new``; one set may be open at a time."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    revisions.require_unchanged(contest.row, new)
    before, after = contest.rules, read_file(new.file)
    same_kind = (before.slug, before.track, before.columns) == (after.slug, after.track, after.columns)
    if not same_kind or contest.row.original != new.original:
        raise Conflict("address, track, columns and data are fixed: a set changes the rules", code="fixed")
    if contest.row.drawn_at is not None and revisions.held_by(before) != revisions.held_by(after):
        raise Conflict(revisions.DRAWN_ALREADY, code="drawn_already")
    revisions.require_notice(session, contest.row, before, after)
    revisions.require_no_open_rescore(session, contest.id)
    made = Rescore(
        competition_id=contest.id,
        user_id=principal.user_id,
        file=new.file,
        scales=new.scales,
        scored_by=what_counts(after),
        replaces=competitions.sha256_of(contest.row.file),
    )
    session.add(made)
    session.flush()
    for submission_id in scorable(session, contest.id):
        evaluations.queue_up(session, submission_id, rescore=made)
    audit.record(session, principal, "rescore.begin", competition_id=contest.id, subject=str(made.id))
    return made


def scorable(session: Session, competition_id: UUID) -> Sequence[UUID]:
    found = (
        select(Submission.id)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.competition_id == competition_id)
        .where(Evaluation.current, Evaluation.state != State.CANCELLED)
        .order_by(Submission.received_at)
    )
    return session.scalars(found).all()


def listed(session: Session, principal: Principal, slug: str) -> list[Preview]:
    """A competition's sets, newest first."""
    contest = competitions.for_organizer(session, principal, slug)
    found = session.scalars(
        select(Rescore).where(Rescore.competition_id == contest.id).order_by(Rescore.created_at.desc())
    )
    return [progress_of(session, rescore) for rescore in found]


def progress_of(session: Session, rescore: Rescore) -> Preview:
    """A set without its changes: only how far it is."""
    in_force = aliased(Evaluation)
    counted = (
        select(func.count(), func.count().filter(Evaluation.state.not_in(leases.UNFINISHED)))
        .select_from(Evaluation)
        .join(in_force, (in_force.submission_id == Evaluation.submission_id) & in_force.current)
        .where(Evaluation.rescore_id == rescore.id, in_force.state != State.CANCELLED)
    )
    total, finished = session.execute(counted).one()
    return Preview(rescore, stage_of(rescore, finished, total), finished, total, ())


def preview(session: Session, principal: Principal, rescore_id: UUID) -> Preview:
    """A set with every change it would make; ranks by the new rules once all of it is scored."""
    found = preview_of(session, organizers_set(session, principal, rescore_id))
    row = session.get_one(Competition, found.rescore.competition_id)
    in_force = [change.before.evaluation for change in found.changes]
    before = anonymization.ranks_by(session, row, row.file, in_force, scored_by=row.scored_by)
    after: dict[str, int] = {}
    if found.stage == "ready":
        judged = [change.after.evaluation for change in found.changes]
        new = found.rescore
        after = anonymization.ranks_by(session, row, new.file, judged, scored_by=new.scored_by)
    return replace(found, changes=tuple(with_ranks(change, before, after) for change in found.changes))


def with_ranks(change: Change, before: dict[str, int], after: dict[str, int]) -> Change:
    team = change.submission.team.name
    return replace(
        change,
        before=replace(change.before, rank=before.get(team)),
        after=replace(change.after, rank=after.get(team)),
    )


def organizers_set(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    rescore = session.get(Rescore, rescore_id, populate_existing=True)
    if rescore is None or not competitions.is_organizer(session, rescore.competition_id, principal):
        raise NotFound("there is no such re-score set", code="no_such_rescore")
    principal.require("organize")
    return rescore


def preview_of(session: Session, rescore: Rescore) -> Preview:
    changes = changes_of(session, rescore) if rescore.applied_at is None else ()
    states = [change.after.state for change in changes]
    finished = sum(state not in leases.UNFINISHED for state in states)
    return Preview(rescore, stage_of(rescore, finished, len(states)), finished, len(states), changes)


def changes_of(session: Session, rescore: Rescore) -> tuple[Change, ...]:
    mine = (
        select(Evaluation)
        .join(Evaluation.submission)
        .where(Evaluation.rescore_id == rescore.id)
        .options(
            defer(Evaluation.verdict, raiseload=True),
            joinedload(Evaluation.submission, innerjoin=True).options(
                joinedload(Submission.team, innerjoin=True),
                joinedload(Submission.evaluation, innerjoin=True).options(
                    defer(Evaluation.verdict, raiseload=True),
                    joinedload(Evaluation.submission, innerjoin=True).joinedload(
                        Submission.team, innerjoin=True
                    ),
                ),
            ),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    pairs = [(each.submission.evaluation, each) for each in session.scalars(mine)]
    standing = [pair for pair in pairs if pair[0].state != State.CANCELLED]
    endings = [(each.id, each.finished_at) for pair in standing for each in pair]
    numbers = verdicts.numbers_of(session, endings)
    return tuple(
        Change(after.submission, *(Judged(each, numbers.get(each.id)) for each in (before, after)))
        for before, after in standing
    )


def stage_of(rescore: Rescore, finished: int, total: int) -> Stage:
    if rescore.applied_at is not None:
        return "applied"
    if rescore.cancelled_at is not None:
        return "cancelled"
    return "ready" if finished == total else "scoring"


def apply(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    """Put the new rules and their evaluations in force, all at once."""
    row, rescore = locked(session, principal, rescore_id)
    found = preview_of(session, rescore)
    require_stage(found.stage, "ready")
    broken = [change for change in found.changes if is_lost(change)]
    if broken:
        message = Counted(
            "{count} submission could not be scored by the new rules: cancel the set",
            "{count} submissions could not be scored by the new rules: cancel the set",
            "count",
            count=len(broken),
        )
        raise Conflict(message, code="rescore_failed")
    principal.require_confirmed()
    replaced = [change.before.evaluation.id for change in found.changes]
    session.execute(update(Evaluation).where(Evaluation.id.in_(replaced)).values(current=False))
    taking_over = [change.after.evaluation.id for change in found.changes]
    session.execute(update(Evaluation).where(Evaluation.id.in_(taking_over)).values(current=True))
    rescore.replaced_file, rescore.replaced_scored_by = row.file, row.scored_by
    # A deadline moved meanwhile stays moved.
    row.file = with_phases(rescore.file, Contest(row).rules.phases)
    row.scales, row.scored_by = rescore.scales, rescore.scored_by
    row.drawing = competitions.drawing(read_file(row.file))
    rescore.applied_at = now.clock(session)
    noted(session, principal, rescore, "rescore.apply", difference(found.changes))
    return rescore


def difference(changes: Sequence[Change]) -> dict[str, Any]:
    """What a set changed, for the record: state and overall of every submission before and after."""
    return {
        str(change.submission.id): [[each.state, each.overall] for each in (change.before, change.after)]
        for change in changes
    }


def is_lost(change: Change) -> bool:
    """Scored, or still to be, by the rules in force, and not by the new ones."""
    return change.after.state == State.ERROR and change.before.state != State.ERROR


def cancel(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    """Drop a set; what of it is not scored yet is not scored any more."""
    _, rescore = locked(session, principal, rescore_id)
    unfinished = session.scalars(
        select(Evaluation)
        .where(Evaluation.rescore_id == rescore.id, Evaluation.state.in_(leases.UNFINISHED))
        .with_for_update()
    )
    for evaluation in unfinished:
        leases.finish(session, evaluation, State.CANCELLED)
    rescore.cancelled_at = now.clock(session)
    noted(session, principal, rescore, "rescore.cancel", None)
    return rescore


def locked(session: Session, principal: Principal, rescore_id: UUID) -> tuple[Competition, Rescore]:
    """An open set and its competition's row under the lock."""
    rescore = organizers_set(session, principal, rescore_id)
    row = session.get_one(Competition, rescore.competition_id, with_for_update=True, populate_existing=True)
    session.refresh(rescore)
    for ended in (rescore.applied_at, rescore.cancelled_at):
        if ended is not None:
            raise Conflict("the set is applied or cancelled already", code="rescore_ended")
    return row, rescore


def require_stage(stage: Stage, wanted: Stage) -> None:
    if stage != wanted:
        raise Conflict(STANDS[stage], code=f"rescore_{stage}")


def noted(
    session: Session, principal: Principal, rescore: Rescore, action: str, after: dict[str, Any] | None
) -> None:
    audit.record(
        session,
        principal,
        action,
        competition_id=rescore.competition_id,
        subject=str(rescore.id),
        after=after,
    )
