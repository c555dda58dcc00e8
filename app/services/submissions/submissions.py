"""Submissions: take one in, show it to its team, cancel it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import Session, joinedload, undefer

from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message, kept
from anoncup.tables.files import Remark
from app.crypto import sealing
from app.db.models import Competition, Evaluation, Secret, State, Submission, Team
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.jobs import fairness, leases
from app.services.submissions import attempts, evaluations, quota, uploads
from app.services.submissions.uploads import Entrance, Upload

NO_CAPS: Mapping[str, int] = MappingProxyType({})

Seal = Callable[[UUID, bytes], sealing.Sealed]
"""Seals a secret to the workers' key, bound to its submission."""
Place = tuple[datetime, UUID]
"""Where a submission stands in the order of receipt."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the team is told; the same again for a retry under the same key."""

    submission: Submission
    commitment: str


def accept(session: Session, principal: Principal, upload: Upload, *, sealing_key: Path | None) -> Receipt:
    """Take a submission in: sealed, stored, queued; all of it at COMMIT or none of it.

    The competition's shared lock keeps its phases and data from turning meanwhile, the team's own lock puts
    its uploads in a row; the clock is read under both. What counts is when the upload entered.
    """
    at = upload.entrance
    row = taking_row(session, at)
    team = memberships.require_team(session, row.id, principal, locked=True)
    accepted = uploads.submitted_under(session, team, at.key)
    if accepted is not None:
        if at.attempt is not None:
            attempts.end(session, at.attempt, counts=False)
        return repeated(session, accepted, upload.fingerprint)
    seal = to_key_in(sealing_key)
    return admit(session, principal.user_id, upload, row=row, team=team, seal=seal)


def admit(
    session: Session,
    user_id: UUID,
    upload: Upload,
    *,
    row: Competition,
    team: Team,
    seal: Seal,
) -> Receipt:
    """Take it in for that team, if it came in time and there is room; under both locks."""
    at = upload.entrance
    uploads.require_qualified(team)
    assert at.attempt is not None  # noqa: S101  # only a repetition has none
    now = phases.standing(session, row)
    attempts.require_in_time(row, at.attempt, now)
    if not uploads.stands(row, at):
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")
    entered = at.attempt.at
    caps = quota.caps(session, Contest(row), team.id, phases.ANONYMIZATION, entered)
    quota.require_room(tuple(cap for cap in caps if cap.is_of_valid), now.now)
    attempts.end(session, at.attempt)
    return keep(
        session,
        user_id,
        upload,
        row=row,
        team=team,
        received_at=entered,
        seal=seal,
        quota_left=quota.left(quota.with_one_more(caps)),
    )


def to_key_in(file: Path | None) -> Seal:
    return lambda bound_to, secret: sealing.seal(file, submission_id=bound_to, secret=secret)


def taking_row(session: Session, at: Entrance) -> Competition:
    """The competition's row under the shared lock; the first submission, which writes what counts, has it
    alone: of two that share it neither could go on to write.
    """
    return session.get_one(
        Competition,
        at.competition_id,
        with_for_update=True if at.first else {"read": True},
        populate_existing=True,
    )


def keep(
    session: Session,
    user_id: UUID,
    upload: Upload,
    *,
    row: Competition,
    team: Team,
    received_at: datetime,
    seal: Seal,
    quota_left: Mapping[str, int] = NO_CAPS,
) -> Receipt:
    """Seal and queue an upload as a submission of ``team``; the first one fixes what counts."""
    competitions.fix_what_counts(row)
    identifier = upload.identifier
    sealed = seal(identifier, upload.secret)
    submission = Submission(
        id=identifier,
        competition_id=row.id,
        team_id=team.id,
        user_id=user_id,
        received_at=received_at,
        comment=upload.comment,
        files=upload.files,
        sent=upload.sent,
        rows=upload.sizes["rows"],
        sizes=dict(upload.sizes),
        remarks=[
            kept(remark.code, remark.message)
            for remark in (*upload.remarks, *repetition(session, team.id, upload.sent))
        ],
        quota_left=dict(quota_left),
        idempotency_key=upload.entrance.key,
        fingerprint=upload.fingerprint,
    )
    session.add(submission)
    uploads.flush(session)
    session.refresh(submission, ["number"])
    session.add(Secret(submission_id=identifier, **sealed_columns(sealed)))
    evaluations.queue_up(session, identifier)
    evaluations.include(session, row.id, identifier)
    return Receipt(submission, sealed.commitment)


def sealed_columns(sealed: sealing.Sealed) -> dict[str, object]:
    return {"key_id": sealed.key_id, "sealed": sealed.box, "commitment": sealed.commitment}


def repeated(session: Session, accepted: UUID, fingerprint: str) -> Receipt:
    """The receipt of what was accepted under the same key."""
    submission = session.get_one(Submission, accepted, options=[undefer(Submission.number)])
    uploads.require_same(submission.fingerprint, fingerprint)
    committed = select(Secret.commitment).where(Secret.submission_id == accepted)
    return Receipt(submission, session.scalars(committed).one())


def repetition(session: Session, team_id: UUID, sent: Mapping[str, str]) -> list[Remark]:
    """Return a remark if the team sent the same files before.

    Said to the same team only: nothing ever tells that another team sent the same.
    """
    before = session.scalars(select(Submission.sent).where(Submission.team_id == team_id))
    earlier = sum(files == sent for files in before)
    if not earlier:
        return []
    if earlier == 1:
        message = Message("your team has already sent this release once")
    else:
        message = Message("your team has already sent this release {times} times", times=earlier)
    return [Remark("sent_before", message)]


def of_team(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    after: Place | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """The team's own submissions, newest first."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    return newest_first(session, shown().where(Submission.team_id == team.id), after, limit)


def of_competition(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    team_id: UUID | None = None,
    state: State | None = None,
    said: str = "",
    baseline: bool | None = None,
    after: Place | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """Every team's submissions, newest first, for the organizers; of one team, in one state, with some text
    in the comment, or of baselines or teams alone, if asked."""
    contest = competitions.for_organizer(session, principal, slug)
    query = shown().where(Submission.competition_id == contest.id)
    if team_id is not None:
        query = query.where(Submission.team_id == team_id)
    if state is not None:
        query = query.where(Submission.evaluation.has(Evaluation.state == state))
    if said:
        query = query.where(Submission.comment.icontains(said, autoescape=True))
    if baseline is not None:
        query = query.where(Submission.team.has(Team.baseline.is_(baseline)))
    return newest_first(session, query, after, limit)


def newest_first(
    session: Session, query: Select[Submission], after: Place | None, limit: int | None
) -> Sequence[Submission]:
    if after is not None:
        query = query.where(tuple_(Submission.received_at, Submission.id) < tuple_(*after))
    query = query.order_by(Submission.received_at.desc(), Submission.id.desc()).limit(limit)
    return session.scalars(query).all()


def visible(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """One submission, to its own team and the competition's organizers; to others it does not exist."""
    principal.require("read")
    found = session.scalar(shown().where(Submission.id == submission_id))
    if found is None or not may_see(session, principal, found):
        raise NotFound("there is no such submission", code="no_such_submission")
    return found


def own(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """One submission of the person's own team, to be changed."""
    principal.require("submit")
    found = visible(session, principal, submission_id)
    team = memberships.require_team(session, found.competition_id, principal)
    if team.id != found.team_id:
        raise NotFound("there is no such submission", code="no_such_submission")
    return found


def cancel(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Withdraw a submission that is not scored yet; the valid one is given back, the attempt is not."""
    found = own(session, principal, submission_id)
    # Under the shared lock no re-score set puts another evaluation in the place of the one that ends here.
    session.get_one(Competition, found.competition_id, with_for_update={"read": True})
    current = select(Evaluation).where(Evaluation.submission_id == submission_id, Evaluation.current)
    evaluation = session.scalars(current.with_for_update().execution_options(populate_existing=True)).one()
    if evaluation.state not in leases.UNFINISHED:
        raise Conflict("the submission is {state} already", code="finished", state=Message(evaluation.state))
    leases.finish(session, evaluation, State.CANCELLED)
    session.expire(found, ["evaluation"])
    return visible(session, principal, submission_id)


def readable_files(session: Session, submission: Submission) -> dict[str, str]:
    """SHA-256 of the files of a release by name, for whoever may see it; NotFound if they tell its answer."""
    if Contest(session.get_one(Competition, submission.competition_id)).track.seals_release:
        raise NotFound(
            "the files of this release contain its answer: they are stored sealed, and nobody can "
            "download them",
            code="release_sealed",
        )
    return submission.files


def slug_of(session: Session, submission: Submission) -> str:
    return session.get_one(Competition, submission.competition_id).slug


def may_see(session: Session, principal: Principal, submission: Submission) -> bool:
    mine = memberships.team_of(session, submission.competition_id, principal)
    if mine is not None and mine.id == submission.team_id:
        return True
    return competitions.is_organizer(session, submission.competition_id, principal)


def shown() -> Select[Submission]:
    return select(Submission).options(
        undefer(Submission.number),
        joinedload(Submission.team, innerjoin=True),
        joinedload(Submission.evaluation, innerjoin=True),
        joinedload(Submission.secret, innerjoin=True).load_only(Secret.commitment, Secret.key_id),
    )


def place_in_queue(session: Session, evaluation: Evaluation) -> int | None:
    """How many are begun before this one if nothing more is handed in; None once it is being scored."""
    if evaluation.state != State.QUEUED:
        return None
    order = fairness.shown_order(Evaluation)
    return session.scalar(select(order.c.place).where(order.c.id == evaluation.id))
