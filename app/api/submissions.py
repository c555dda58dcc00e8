"""Submissions: hand one in, follow it, list one's own."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app import storage
from app.db.models import Submission
from app.errors import NotFound
from app.http.dependencies import AppSettings, Parts, SignedIn, multipart
from app.scoring.tracks import TRACKS
from app.services import competitions, submissions
from app.services.submissions import Entrance
from app.transaction import transaction

router = APIRouter(tags=["submissions"])

UPLOAD_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["secret"],
                    "properties": {
                        "anonymized": {
                            "type": "string",
                            "format": "binary",
                            "description": "microdata: CSV with the original's header, 1 to n rows",
                        },
                        "customers": {
                            "type": "string",
                            "format": "binary",
                            "description": "transactions: CSV of M', 1 to n customers",
                        },
                        "transactions": {
                            "type": "string",
                            "format": "binary",
                            "description": "transactions: CSV of T'",
                        },
                        "secret": {
                            "type": "string",
                            "format": "binary",
                            "description": "CSV headed original_row or anonymized_row, 1-based",
                        },
                        "comment": {"type": "string", "maxLength": 1000},
                    },
                }
            }
        },
    }
}


class Receipt(BaseModel):
    id: UUID
    status: str
    received_at: datetime
    sha256: Annotated[dict[str, str], Field(description="of each public file, as it was sent")]
    commitment: Annotated[
        str, Field(description="SHA-256 of a salt and the secret; both are revealed at the end")
    ]
    warnings: list[dict[str, Any]]


class SubmissionOut(Receipt):
    competition: str
    team: str
    comment: str
    rows: int
    step: int
    steps: int
    step_name: str
    queue_position: Annotated[int | None, Field(description="how many are scored before it")]
    attempt: int
    started_at: datetime | None
    finished_at: datetime | None
    failure: Annotated[str | None, Field(description="why it ended in ERROR, or was tried again")]
    scorer: str | None
    result: Annotated[
        dict[str, Any] | None, Field(description="as `anoncup score --json` prints it, with every measure")
    ]


def entrance(slug: str, principal: SignedIn) -> Entrance:
    with transaction() as session:
        return submissions.entrance(session, principal, slug)


async def parts(request: Request, principal: SignedIn, at: Annotated[Entrance, Depends(entrance)]) -> Parts:
    """The files, read only after it is clear that this person may submit now."""
    competition = competitions.read_file(at.file)
    names = {*TRACKS[competition.track].files, "secret"}
    return await multipart(request, principal, names=names, file_mb=competition.limits.file_mb)


@router.post(
    "/competitions/{slug}/submissions", status_code=status.HTTP_202_ACCEPTED, openapi_extra=UPLOAD_SCHEMA
)
def create_submission(
    principal: SignedIn,
    settings: AppSettings,
    at: Annotated[Entrance, Depends(entrance)],
    sent: Annotated[Parts, Depends(parts)],
) -> Receipt:
    """Accept an anonymized table with its secret; scoring runs in the background."""
    upload = submissions.read_upload(
        at,
        files={name: sent.file(name) for name in TRACKS[competitions.read_file(at.file).track].files},
        secret=sent.file("secret"),
        comment=sent.texts.get("comment", ""),
        data=settings.data,
    )
    with transaction() as session:
        made = submissions.accept(
            session, principal, upload, data=settings.data, sealing_key=settings.sealing_key_file
        )
    return Receipt(
        id=made.submission.id,
        status=made.evaluation.state,
        received_at=made.submission.received_at,
        sha256=digests(made.submission),
        commitment=made.commitment,
        warnings=made.submission.remarks,
    )


@router.get("/competitions/{slug}/submissions")
def list_submissions(slug: str, principal: SignedIn) -> list[SubmissionOut]:
    """Your team's submissions, newest first."""
    with transaction() as session:
        return [shown(session, slug, one) for one in submissions.of_team(session, principal, slug)]


@router.get("/submissions/{submission_id}")
def get_submission(submission_id: UUID, principal: SignedIn) -> SubmissionOut:
    """One submission with its state, step and every measure."""
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        return shown(session, submissions.slug_of(session, found), found)


@router.get("/submissions/{submission_id}/data/{file}", response_class=Response)
def get_public_file(submission_id: UUID, file: str, principal: SignedIn, settings: AppSettings) -> Response:
    """The public part of a submission, as it was sent."""
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
    known = digests(found)
    if file not in known:
        raise NotFound("a submission's public part is " + ", ".join(known), code="no_such_file")
    return Response(storage.get(settings.data, known[file]), media_type="text/csv")


def digests(found: Submission) -> dict[str, str]:
    """SHA-256 of each public file by its name."""
    return {f"{name}.csv": digest for name, digest in found.files.items()}


def shown(session: Session, slug: str, found: Submission) -> SubmissionOut:
    evaluation = found.evaluation
    return SubmissionOut(
        id=found.id,
        status=evaluation.state,
        received_at=found.received_at,
        sha256=digests(found),
        commitment=found.secret.commitment,
        warnings=found.remarks,
        competition=slug,
        team=found.team.name,
        comment=found.comment,
        rows=found.rows,
        step=evaluation.step,
        steps=evaluation.steps,
        step_name=evaluation.step_name,
        queue_position=submissions.place_in_queue(session, evaluation),
        attempt=evaluation.attempt,
        started_at=evaluation.started_at,
        finished_at=evaluation.finished_at,
        failure=evaluation.failure,
        scorer=evaluation.scorer,
        result=evaluation.verdict,
    )
