"""Submissions: hand one in, follow it, list one's own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from anoncup import schemas
from anoncup.errors import NotFound
from anoncup.plugins import TRACKS
from anoncup.tracks.files import SECRET
from app.api.documentation import examples
from app.api.documentation.bodies import Json, files_said, multipart, raw
from app.api.documentation.responses import CHECK, ORGANIZER, TEAM, UPLOAD, refusing
from app.db.models import State, Submission
from app.db.transaction import transaction
from app.http.authentication import IdempotencyKey, SignedIn
from app.http.paging import AskedPage, place_of
from app.http.uploads import RELEASE, check_release, dry_run, take_in
from app.services.submissions import finals, progress, quota, submissions, uploads
from app.services.submissions.uploads import Entrance
from app.storage import store

router = APIRouter(tags=["submissions"])

RELEASES = ((file.name, f"{track.name}: {file.said}") for track in TRACKS.values() for file in track.release)
SECRETS = ((SECRET, track.answers.file.said) for track in TRACKS.values() if not track.draws_answer)
PARTS: dict[str, Json] = {
    **files_said([*RELEASES, *SECRETS]),
    "comment": {
        "type": "string",
        "maxLength": 1000,
        "description": "such as the method used; the team and the organizers see it, nobody else",
    },
}
NEEDED = () if any(track.draws_answer for track in TRACKS.values()) else (SECRET,)
SENT = dict.fromkeys(TRACKS[examples.TRACK].files, examples.TABLE) | {SECRET: examples.SECRET}


class FinalIn(BaseModel):
    final: bool = True


def entrance(slug: str, principal: SignedIn, idempotency_key: IdempotencyKey = None) -> Entrance:
    with transaction() as session:
        return uploads.entrance(session, principal, slug, key=idempotency_key)


@router.post(
    "/competitions/{slug}/submissions",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=multipart(PARTS, SENT, needed=NEEDED),
    responses=refusing(
        UPLOAD,
        "file_lost phase_closed phase_paused too_late 409.no_original not_drawn_yet no_allocation_left",
        "drawing_over changed_meanwhile comment",
    ),
)
async def create_submission(
    request: Request, principal: SignedIn, at: Annotated[Entrance, Depends(entrance)]
) -> schemas.Receipt:
    """Accept a release with its secret, which is left out where the service has drawn the answer.

    Scoring runs in the background.

    What counts for a deadline is when the request entered, which the receipt shows: its body may end a little
    later.
    """
    return receipt(await take_in(request, principal, at, RELEASE))


def entrance_of_check(slug: str, principal: SignedIn) -> tuple[Entrance, UUID]:
    with transaction() as session:
        return uploads.enter_check(session, principal, slug)


@router.post(
    "/competitions/{slug}/submissions/check",
    openapi_extra=multipart(PARTS, SENT, needed=NEEDED),
    responses=refusing(
        CHECK, "phase_closed 409.no_original not_drawn_yet drawing_over no_allocation_left comment"
    ),
)
async def check_submission(
    request: Request, entered: Annotated[tuple[Entrance, UUID], Depends(entrance_of_check)]
) -> schemas.CheckedSubmission:
    """Say whether a submission of these files would be accepted, and list every fault if not.

    The files are read exactly as those of a submission. Nothing is stored and no attempt is counted. A team
    may call this 30 times a minute, before the phase opens, too, but not after it has ended.
    """
    at, team_id = entered
    checked = await dry_run(request, at, team_id, check_release)
    warnings = await run_in_threadpool(warnings_of, team_id, checked)
    return schemas.CheckedSubmission(rows=checked.rows, sha256=named(checked.sent), warnings=warnings)


def warnings_of(team_id: UUID, checked: uploads.Checked) -> list[schemas.Said]:
    with transaction() as session:
        remarks = (*checked.remarks, *submissions.repetition(session, team_id, checked.sent))
    return [schemas.Said.of(remark.code, remark.message) for remark in remarks]


def receipt(made: submissions.Receipt) -> schemas.Receipt:
    return schemas.Receipt(
        id=made.submission.id,
        number=made.submission.number,
        status=State.QUEUED,
        received_at=made.submission.received_at,
        sha256=named(made.submission.sent),
        commitment=made.commitment,
        warnings=made.submission.said,
        quota_left=made.submission.quota_left,
    )


@router.get("/competitions/{slug}/submissions", responses=refusing(TEAM))
def list_submissions(slug: str, principal: SignedIn, page: AskedPage) -> list[schemas.Submission]:
    """Your team’s submissions, newest first."""
    after = place_of(page.cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        found = submissions.of_team(session, principal, slug, after=after, limit=page.wanted)
        return listed(session, slug, page.cut(found, place))


@router.get("/competitions/{slug}/submissions/all", responses=refusing(ORGANIZER))
def list_all_submissions(
    slug: str,
    principal: SignedIn,
    page: AskedPage,
    team: Annotated[UUID | None, Query(description="of this team only")] = None,
    state: Annotated[State | None, Query(description="in this state only")] = None,
) -> list[schemas.Submission]:
    """Every team's submissions, newest first, for the organizers."""
    after = place_of(page.cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        found = submissions.of_competition(
            session, principal, slug, team_id=team, state=state, after=after, limit=page.wanted
        )
        return listed(session, slug, page.cut(found, place))


def place(found: Submission) -> tuple[datetime, UUID]:
    return found.received_at, found.id


def listed(session: Session, slug: str, found: Sequence[Submission]) -> list[schemas.Submission]:
    """Many at once: one question for all their places in the queue."""
    known = progress.of_submissions(session, {one.id for one in found})
    return [described(slug, one, known[one.id].queue_position) for one in found]


@router.get("/submissions/{submission_id}")
def get_submission(submission_id: UUID, principal: SignedIn) -> schemas.Submission:
    """One submission with its state, step and every measure."""
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        return shown(session, submissions.slug_of(session, found), found)


@router.get(
    "/submissions/{submission_id}/data/{file}",
    response_class=Response,
    responses=raw("text/csv", examples.TABLE) | refusing("release_sealed"),
)
def get_public_file(submission_id: UUID, file: str, principal: SignedIn) -> Response:
    """The public part of a submission, as it was sent; none where it tells the answer."""
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        known = named(submissions.readable_files(session, found))
    if file not in known:
        raise NotFound("the files of a submission are {names}", code="no_such_file", names=tuple(known))
    return Response(store().get(known[file]), media_type="text/csv")


@router.post("/submissions/{submission_id}/cancel", responses=refusing(TEAM, "finished"))
def cancel_submission(submission_id: UUID, principal: SignedIn) -> schemas.Submission:
    """Withdraw a submission that is not scored yet. The attempt stays counted, the submission does not."""
    with transaction() as session:
        found = submissions.cancel(session, principal, submission_id)
        return shown(session, submissions.slug_of(session, found), found)


@router.put(
    "/submissions/{submission_id}/final",
    responses=refusing("not_in_a_team disqualified phase_closed phase_paused not_valid too_many_finals"),
)
def mark_final(submission_id: UUID, body: FinalIn, principal: SignedIn) -> schemas.Submission:
    """Mark a submission as one of the team's finals, or unmark it, while the first phase is open."""
    with transaction() as session:
        found = finals.mark(session, principal, submission_id, final=body.final)
        return shown(session, submissions.slug_of(session, found), found)


@router.get("/competitions/{slug}/quota", responses=refusing(TEAM))
def get_quota(slug: str, principal: SignedIn) -> schemas.Quota:
    """Each cap on your team's uploads: what is used, the limit, and when it resets."""
    with transaction() as session:
        found = quota.report(session, principal, slug)
    return schemas.Quota.model_validate(found, from_attributes=True)


def named(files: dict[str, Any]) -> dict[str, str]:
    """SHA-256 of each public file by its file name."""
    return {f"{name}.csv": digest for name, digest in files.items()}


def shown(session: Session, slug: str, found: Submission) -> schemas.Submission:
    return described(slug, found, submissions.place_in_queue(session, found.evaluation))


def described(slug: str, found: Submission, queue_position: int | None) -> schemas.Submission:
    evaluation = found.evaluation
    return schemas.Submission(
        id=found.id,
        number=found.number,
        status=evaluation.state,
        received_at=found.received_at,
        sha256=named(found.sent),
        commitment=found.secret.commitment,
        warnings=found.said,
        quota_left=found.quota_left,
        competition=slug,
        team=found.team.name,
        comment=found.comment,
        rows=found.rows,
        final=found.final,
        disqualified=found.disqualified_at is not None,
        disqualified_for=found.disqualified_for,
        step=evaluation.step,
        steps=evaluation.steps,
        step_name=evaluation.step_name,
        queue_position=queue_position,
        attempt=evaluation.attempt,
        started_at=evaluation.started_at,
        finished_at=evaluation.finished_at,
        **schemas.failed(evaluation.failure),
        scorer=evaluation.scorer,
        result=evaluation.found,
    )
