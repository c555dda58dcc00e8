"""Routes of submissions: submit, check, follow and list them, mark finals, read the quota."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response, status
from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import CompetitionUnavailable, NotFound
from anoncup.evaluation.verdict_numbers import compute_lone_score
from anoncup.plugins import TRACKS
from anoncup.tracks.files import SECRET_FILE
from app.core.db.models import Evaluation, Round, State, Submission
from app.core.db.paging import Position
from app.core.db.transaction import transaction
from app.core.http.bodies import key_by_file_name
from app.core.http.openapi import CsvResponse, JsonObject, build_file_schemas, build_multipart_body
from app.core.http.paging import RequestedPage
from app.core.identity.authentication import CurrentPrincipal, IdempotencyKey
from app.core.storage import get_store
from app.jobs.leases import UNFINISHED
from app.submissions import quota, submissions
from app.submissions.receiving import receive_dry_run, receive_upload
from app.submissions.uploads import ReleaseUpload

router = APIRouter(tags=["submissions"])

_RELEASE_FILES = (
    (file.name, f"{track.name}: {file.format_description}")
    for track in TRACKS.values()
    for file in track.release_files
)
_SECRET_FILES = (
    (SECRET_FILE, track.answer_spec.file.format_description)
    for track in TRACKS.values()
    if not track.allocates_answer
)
PARTS: dict[str, JsonObject] = {
    **build_file_schemas([*_RELEASE_FILES, *_SECRET_FILES]),
    "comment": {
        "type": "string",
        "maxLength": 1000,
        "description": "a comment, such as the method used; only the team and the organizers see it",
    },
}
REQUIRED_PARTS = () if any(track.allocates_answer for track in TRACKS.values()) else (SECRET_FILE,)


class FinalIn(BaseModel):
    final: bool = True


@router.post(
    "/competitions/{slug}/submissions",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=build_multipart_body(PARTS, required=REQUIRED_PARTS),
)
async def create_submission(
    request: Request, slug: str, principal: CurrentPrincipal, idempotency_key: IdempotencyKey = None
) -> schemas.Receipt:
    """Submit a release with its secret. The secret is left out if the service has allocated the answer.

    Scoring runs in the background.

    For a deadline, the time at which the request arrives counts, even if its body ends later. The receipt
    shows this time.
    """
    upload = ReleaseUpload(slug, key=idempotency_key)
    return serialize_receipt(await receive_upload(request, principal, upload))


@router.post(
    "/competitions/{slug}/submissions/check",
    openapi_extra=build_multipart_body(PARTS, required=REQUIRED_PARTS),
)
async def check_submission(
    request: Request, slug: str, principal: CurrentPrincipal
) -> schemas.CheckedSubmission:
    """Check whether a submission of these files would be accepted. If not, list all problems.

    The files are read exactly as those of a submission. Nothing is stored and no attempt is counted. A team
    may check 30 times a minute, also before the phase opens, but not after it has ended.
    """
    checked = await receive_dry_run(request, principal, ReleaseUpload(slug))
    return schemas.CheckedSubmission(
        rows=checked.rows,
        sha256=key_by_file_name(checked.uploaded_sha256),
        warnings=[schemas.Notice.create(remark.code, remark.message) for remark in checked.remarks],
    )


def serialize_receipt(submission: Submission) -> schemas.Receipt:
    """Return the team's receipt for a submission. A retry with the same key gets the same one."""
    return schemas.Receipt.from_row(
        submission,
        status=State.QUEUED,
        sha256=key_by_file_name(submission.uploaded_sha256),
        warnings=submission.parsed_remarks,
    )


@router.get("/competitions/{slug}/submissions")
def list_submissions(slug: str, principal: CurrentPrincipal, page: RequestedPage) -> list[schemas.Submission]:
    """List your team's submissions, newest first."""
    with transaction() as session:
        rows = submissions.list_own(session, principal, slug, cursor=page.position, limit=page.fetch_limit)
        return _serialize_submissions(session, page.take_page(rows, _get_position))


@router.get("/competitions/{slug}/submissions/all")
def list_all_submissions(
    slug: str,
    principal: CurrentPrincipal,
    page: RequestedPage,
    team: Annotated[UUID | None, Query(description="return only submissions of this team")] = None,
    state: Annotated[State | None, Query(description="return only submissions in this state")] = None,
) -> list[schemas.Submission]:
    """List the submissions of all teams, newest first. For organizers."""
    with transaction() as session:
        rows = submissions.list_for_organizer(
            session, principal, slug, team_id=team, state=state, cursor=page.position, limit=page.fetch_limit
        )
        return _serialize_submissions(session, page.take_page(rows, _get_position))


def _get_position(submission: Submission) -> Position:
    return submission.received_at, submission.id


def _serialize_submissions(session: Session, rows: Sequence[Submission]) -> list[schemas.Submission]:
    """Return many submissions, with a single query for their positions in the queue."""
    positions = submissions.load_queue_positions(session, rows)
    return [
        _build_submission(session.get_one(Round, row.round_id), row, positions.get(row.id)) for row in rows
    ]


@router.get("/submissions/{submission_id}")
def get_submission(
    submission_id: UUID, principal: CurrentPrincipal, response: Response
) -> schemas.Submission:
    """Return a submission with its state, its current step and all measures.

    Until it is scored, `Retry-After` says after how many seconds to ask again.
    """
    with transaction() as session:
        submission = submissions.find_visible(session, principal, submission_id)
        serialized = serialize_submission(session, submission)
    if serialized.status in UNFINISHED:
        interval_s = submissions.compute_polling_interval(serialized.queue_position)
        response.headers["Retry-After"] = str(interval_s)
    return serialized


@router.get("/submissions/{submission_id}/data/{file}", response_class=CsvResponse)
def get_public_file(submission_id: UUID, file: str, principal: CurrentPrincipal) -> Response:
    """Return a public file of a submission, as it was sent. Files that reveal the answer are refused."""
    with transaction() as session:
        submission = submissions.find_visible(session, principal, submission_id)
        files = key_by_file_name(submissions.get_readable_files(session, submission))
    if file not in files:
        raise NotFound("the files of a submission are {names}", code="no_such_file", names=tuple(files))
    return CsvResponse(get_store().get(files[file]))


@router.post("/submissions/{submission_id}/cancel")
def cancel_submission(submission_id: UUID, principal: CurrentPrincipal) -> schemas.Submission:
    """Cancel a submission that is not scored yet. It no longer counts, but its attempt does."""
    with transaction() as session:
        submission = submissions.cancel(session, principal, submission_id)
        return serialize_submission(session, submission)


@router.put("/submissions/{submission_id}/final")
def mark_final(submission_id: UUID, body: FinalIn, principal: CurrentPrincipal) -> schemas.Submission:
    """Mark a submission as one of the team's finals, or unmark it, while the first phase is open."""
    with transaction() as session:
        submission = submissions.mark_final(session, principal, submission_id, final=body.final)
        return serialize_submission(session, submission)


@router.get("/competitions/{slug}/quota")
def get_quota(slug: str, principal: CurrentPrincipal) -> schemas.Quota:
    """Return the caps on your team's uploads: used, limit, and time of the reset."""
    with transaction() as session:
        report = quota.load_report(session, principal, slug)
    return schemas.Quota.model_validate(report, from_attributes=True)


def serialize_submission(session: Session, submission: Submission) -> schemas.Submission:
    (serialized,) = _serialize_submissions(session, [submission])
    return serialized


def _build_submission(
    round_: Round, submission: Submission, queue_position: int | None
) -> schemas.Submission:
    evaluation = submission.evaluation
    return schemas.Submission.from_row(
        submission,
        status=evaluation.state,
        sha256=key_by_file_name(submission.uploaded_sha256),
        warnings=submission.parsed_remarks,
        competition=round_.address,
        team=submission.team.name,
        disqualified=submission.disqualified_at is not None,
        step=evaluation.step,
        steps=evaluation.steps,
        step_name=evaluation.step_name,
        queue_position=queue_position,
        attempt=evaluation.attempt,
        started_at=evaluation.started_at,
        finished_at=evaluation.finished_at,
        **schemas.build_failure_fields(evaluation.failure),
        scorer=evaluation.scorer,
        score=_compute_score(round_, evaluation),
        result=evaluation.parsed_verdict,
    )


def _compute_score(round_: Round, evaluation: Evaluation) -> float | None:
    if evaluation.state != State.SCORED or evaluation.verdict is None:
        return None
    with suppress(CompetitionUnavailable):
        return compute_lone_score(round_.rules, evaluation.verdict)
    return None
