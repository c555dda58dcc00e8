"""Routes of baselines, the releases that organizers put on the board for comparison."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status

from anoncup import schemas
from anoncup.errors import InvalidInput
from app.api.documentation.bodies import Json, build_multipart_body
from app.api.documentation.responses import BUSY, NEW_NAME, ORGANIZER, build_error_responses
from app.api.submissions import EXAMPLE_PARTS, PARTS, REQUIRED_PARTS, serialize_receipt
from app.config import get_settings
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.multipart import MultipartForm
from app.http.step_up import ReauthenticatedCaller
from app.http.uploads import UploadKind, read_release, receive_upload
from app.services.accounts.accounts import Principal
from app.services.organizing import baselines
from app.services.submissions import uploads
from app.services.submissions.uploads import UploadContext

router = APIRouter(tags=["baselines"])

NAME_PART: Json = {"type": "string", "description": "what it is called on the board"}


def _enter_baseline(slug: str, principal: CurrentPrincipal) -> UploadContext:
    with transaction() as session:
        return baselines.load_upload_context(session, principal, slug)


@router.post(
    "/competitions/{slug}/baselines",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=build_multipart_body(
        PARTS | {"name": NAME_PART},
        EXAMPLE_PARTS | {"name": "5-anonymous"},
        required=[*REQUIRED_PARTS, "name"],
    ),
    responses=build_error_responses(
        ORGANIZER,
        NEW_NAME,
        BUSY,
        "file_lost 409.no_original not_drawn_yet drawing_over changed_meanwhile phase_closed",
        "team_name_taken comment",
    ),
)
async def add_baseline(
    request: Request,
    principal: CurrentPrincipal,
    upload_context: Annotated[UploadContext, Depends(_enter_baseline)],
) -> schemas.BaselineReceipt:
    """Put a release on the board for comparison, without a rank; the text part `name` says what it is."""
    return await receive_upload(request, principal, upload_context, _BASELINE_UPLOAD)


def _accept_baseline(
    principal: Principal, upload_context: UploadContext, form: MultipartForm
) -> schemas.BaselineReceipt:
    if "name" not in form.texts:
        raise InvalidInput("a baseline needs a name: send a part named name", code="name_length")
    upload = read_release(upload_context, form)
    with transaction() as session:
        baseline = baselines.add(
            session,
            principal,
            upload,
            name=form.texts["name"],
            sealing_key=get_settings().sealing_key_file,
        )
        return schemas.BaselineReceipt(
            team_id=baseline.submission.team_id, receipt=serialize_receipt(baseline)
        )


_BASELINE_UPLOAD = UploadKind(uploads.refresh_context, _accept_baseline)


@router.delete(
    "/competitions/{slug}/baselines/{team_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=build_error_responses(ORGANIZER, "no_such_baseline"),
)
def remove_baseline(slug: str, team_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Take a baseline off the board."""
    with transaction() as session:
        baselines.remove(session, principal, slug, team_id)
