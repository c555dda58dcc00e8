"""Submissions: accept, list, show and cancel them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import Session, joinedload, undefer

from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message, serialize
from anoncup.tables.files import Remark
from app.crypto import sealing
from app.db.models import Competition, Evaluation, Secret, State, Submission, Team
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.jobs import fairness, leases
from app.services.submissions import attempts, evaluations, quota, uploads
from app.services.submissions.uploads import PendingRelease, UploadContext

_NO_QUOTA: Mapping[str, int] = MappingProxyType({})

Seal = Callable[[UUID, bytes], sealing.SealedSecret]
"""Seals a secret with the workers' public key, bound to the id of its submission."""
_ReceiptPosition = tuple[datetime, UUID]
"""Time of receipt and id: position of a submission in the order of receipt."""


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The team's receipt for a submission; a retry with the same key gets the same one."""

    submission: Submission
    commitment: str


def accept(
    session: Session, principal: Principal, upload: PendingRelease, *, sealing_key: Path | None
) -> SubmissionReceipt:
    """Accept an upload: seal, store and queue it in one transaction.

    The shared lock on the competition keeps its phases and data from changing, the lock on the team
    serializes its uploads, and the clock is read under both. The time of entry decides whether the upload is
    in time.
    """
    context = upload.context
    competition = _lock_competition(session, context)
    team = memberships.require_team(session, competition.id, principal, for_update=True)
    accepted_id = uploads.find_submission_id(session, team, context.key)
    if accepted_id is not None:
        if context.attempt is not None:
            attempts.end(session, context.attempt, counts=False)
        return load_accepted(session, accepted_id, upload.fingerprint)
    seal = make_seal(sealing_key)
    return insert_submission(
        session, principal.user_id, upload, competition=competition, team=team, seal=seal
    )


def insert_submission(
    session: Session,
    user_id: UUID,
    upload: PendingRelease,
    *,
    competition: Competition,
    team: Team,
    seal: Seal,
) -> SubmissionReceipt:
    """Insert a submission of ``team`` if it came in time and within the caps; both locks must be held."""
    context = upload.context
    uploads.require_qualified(team)
    assert context.attempt is not None  # noqa: S101  # only the context of a repetition has no attempt
    status = phases.get_status(session, competition)
    attempts.require_in_time(competition, context.attempt, status)
    if not uploads.is_still_valid(competition, context):
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")
    entered_at = context.attempt.started_at
    caps = quota.load_caps(session, Contest(competition), team.id, phases.ANONYMIZATION, entered_at)
    quota.require_remaining(tuple(cap for cap in caps if cap.is_for_valid_submissions), status.now)
    attempts.end(session, context.attempt)
    return store_submission(
        session,
        user_id,
        upload,
        competition=competition,
        team=team,
        received_at=entered_at,
        seal=seal,
        quota_left=quota.collect_remaining(quota.add_valid_submission(caps)),
    )


def make_seal(key_file: Path | None) -> Seal:
    return lambda bound_to, secret: sealing.seal(key_file, bound_to=bound_to, secret=secret)


def _lock_competition(session: Session, context: UploadContext) -> Competition:
    """Lock the competition: shared, or exclusive for the first submission.

    The first submission writes the scoring versions; two transactions with the shared lock would block each
    other from writing.
    """
    return session.get_one(
        Competition,
        context.competition_id,
        with_for_update=True if context.is_first else {"read": True},
        populate_existing=True,
    )


def store_submission(
    session: Session,
    user_id: UUID,
    upload: PendingRelease,
    *,
    competition: Competition,
    team: Team,
    received_at: datetime,
    seal: Seal,
    quota_left: Mapping[str, int] = _NO_QUOTA,
) -> SubmissionReceipt:
    """Seal and queue an upload as a submission of ``team``; the first one pins the scoring versions."""
    competitions.pin_scoring_versions(competition)
    submission_id = upload.submission_id
    sealed = seal(submission_id, upload.secret)
    submission = Submission(
        id=submission_id,
        competition_id=competition.id,
        team_id=team.id,
        user_id=user_id,
        received_at=received_at,
        comment=upload.comment,
        files=upload.files,
        uploaded_sha256=upload.uploaded_sha256,
        rows=upload.sizes["rows"],
        sizes=dict(upload.sizes),
        remarks=[
            serialize(remark.code, remark.message)
            for remark in (
                *upload.remarks,
                *list_repetition_remarks(session, team.id, upload.uploaded_sha256),
            )
        ],
        quota_left=dict(quota_left),
        idempotency_key=upload.context.key,
        fingerprint=upload.fingerprint,
    )
    session.add(submission)
    uploads.flush_accepted_upload(session)
    session.refresh(submission, ["number"])
    session.add(Secret(submission_id=submission_id, **_build_sealed_fields(sealed)))
    evaluations.enqueue(session, submission_id)
    evaluations.include_in_open_rescore(session, competition.id, submission_id)
    return SubmissionReceipt(submission, sealed.commitment)


def _build_sealed_fields(sealed: sealing.SealedSecret) -> dict[str, object]:
    return {"key_id": sealed.key_id, "sealed": sealed.box, "commitment": sealed.commitment}


def load_accepted(session: Session, submission_id: UUID, fingerprint: str) -> SubmissionReceipt:
    """Return the receipt of a submission accepted earlier with the same idempotency key.

    Raises InvalidInput if the new request differs from the accepted one.
    """
    submission = session.get_one(Submission, submission_id, options=[undefer(Submission.number)])
    uploads.require_same_request(submission.fingerprint, fingerprint)
    query = select(Secret.commitment).where(Secret.submission_id == submission_id)
    return SubmissionReceipt(submission, session.scalars(query).one())


def list_repetition_remarks(
    session: Session, team_id: UUID, uploaded_sha256: Mapping[str, str]
) -> list[Remark]:
    """Return a remark if the team has sent the same files before.

    Uploads of other teams are never compared, because a remark would disclose them.
    """
    earlier_uploads = session.scalars(select(Submission.uploaded_sha256).where(Submission.team_id == team_id))
    repeat_count = sum(files == uploaded_sha256 for files in earlier_uploads)
    if not repeat_count:
        return []
    if repeat_count == 1:
        message = Message("your team has already sent this release once")
    else:
        message = Message("your team has already sent this release {times} times", times=repeat_count)
    return [Remark("sent_before", message)]


def list_own(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    cursor: _ReceiptPosition | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """Return the submissions of the person's own team, newest first."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    return fetch_newest_first(
        session, select_with_details().where(Submission.team_id == team.id), cursor, limit
    )


def list_for_organizer(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    team_id: UUID | None = None,
    state: State | None = None,
    comment_text: str = "",
    baseline: bool | None = None,
    cursor: _ReceiptPosition | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """Return the submissions of all teams for an organizer, newest first, optionally filtered.

    ``comment_text``: text contained in the comment, ignoring case.
    ``baseline``: True for baselines only, False for teams only.
    """
    contest = competitions.find_for_organizer(session, principal, slug)
    query = select_with_details().where(Submission.competition_id == contest.id)
    if team_id is not None:
        query = query.where(Submission.team_id == team_id)
    if state is not None:
        query = query.where(Submission.evaluation.has(Evaluation.state == state))
    if comment_text:
        query = query.where(Submission.comment.icontains(comment_text, autoescape=True))
    if baseline is not None:
        query = query.where(Submission.team.has(Team.baseline.is_(baseline)))
    return fetch_newest_first(session, query, cursor, limit)


def fetch_newest_first(
    session: Session, query: Select[Submission], cursor: _ReceiptPosition | None, limit: int | None
) -> Sequence[Submission]:
    if cursor is not None:
        query = query.where(tuple_(Submission.received_at, Submission.id) < tuple_(*cursor))
    query = query.order_by(Submission.received_at.desc(), Submission.id.desc()).limit(limit)
    return session.scalars(query).all()


def find_visible(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Return a submission to its own team or an organizer; raises NotFound for others."""
    principal.require("read")
    submission = session.scalar(select_with_details().where(Submission.id == submission_id))
    if submission is None or not can_see(session, principal, submission):
        raise NotFound("there is no such submission", code="no_such_submission")
    return submission


def find_own(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Return a submission that the person may change, as a member of its team; raises NotFound."""
    principal.require("submit")
    submission = find_visible(session, principal, submission_id)
    team = memberships.require_team(session, submission.competition_id, principal)
    if team.id != submission.team_id:
        raise NotFound("there is no such submission", code="no_such_submission")
    return submission


def cancel(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Cancel a submission that is not scored yet; it no longer counts as valid, but its attempt does."""
    submission = find_own(session, principal, submission_id)
    # The shared lock keeps a rescore from replacing the current evaluation meanwhile.
    session.get_one(Competition, submission.competition_id, with_for_update={"read": True})
    current = select(Evaluation).where(Evaluation.submission_id == submission_id, Evaluation.current)
    evaluation = session.scalars(current.with_for_update().execution_options(populate_existing=True)).one()
    if evaluation.state not in leases.UNFINISHED:
        raise Conflict("the submission is {state} already", code="finished", state=Message(evaluation.state))
    leases.finish(session, evaluation, State.CANCELLED)
    session.expire(submission, ["evaluation"])
    return find_visible(session, principal, submission_id)


def get_readable_files(session: Session, submission: Submission) -> dict[str, str]:
    """Return SHA-256 of the release files by name; raises NotFound if the files contain the answer."""
    if Contest(session.get_one(Competition, submission.competition_id)).track.seals_release:
        raise NotFound(
            "the files of this release contain its answer: they are stored sealed, and nobody can "
            "download them",
            code="release_sealed",
        )
    return submission.files


def get_competition_slug(session: Session, submission: Submission) -> str:
    return session.get_one(Competition, submission.competition_id).slug


def can_see(session: Session, principal: Principal, submission: Submission) -> bool:
    own_team = memberships.find_team(session, submission.competition_id, principal)
    if own_team is not None and own_team.id == submission.team_id:
        return True
    return competitions.is_organizer(session, submission.competition_id, principal)


def select_with_details() -> Select[Submission]:
    return select(Submission).options(
        undefer(Submission.number),
        joinedload(Submission.team, innerjoin=True),
        joinedload(Submission.evaluation, innerjoin=True),
        joinedload(Submission.secret, innerjoin=True).load_only(Secret.commitment, Secret.key_id),
    )


def get_queue_position(session: Session, evaluation: Evaluation) -> int | None:
    """Return how many evaluations start earlier if nothing more is submitted; None if not queued."""
    if evaluation.state != State.QUEUED:
        return None
    order = fairness.build_public_order(Evaluation)
    return session.scalar(select(order.c.place).where(order.c.id == evaluation.id))
