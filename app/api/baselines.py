"""Routes of baselines, the releases that organizers put on the board for comparison."""

from uuid import UUID

from fastapi import APIRouter, Request, status

from anoncup import schemas
from app.api.documentation.bodies import Json, build_multipart_body
from app.api.documentation.responses import BUSY, NEW_NAME, ORGANIZER, build_error_responses
from app.api.submissions import EXAMPLE_PARTS, PARTS, REQUIRED_PARTS, serialize_receipt
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import ReauthenticatedCaller
from app.http.uploads import receive_upload
from app.services.organizing import baselines
from app.services.organizing.baselines import BaselineUpload

router = APIRouter(tags=["baselines"])

NAME_PART: Json = {"type": "string", "description": "what it is called on the board"}


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
async def add_baseline(request: Request, slug: str, principal: CurrentPrincipal) -> schemas.BaselineReceipt:
    """Put a release on the board for comparison, without a rank; the text part `name` says what it is."""
    baseline = await receive_upload(request, principal, BaselineUpload(slug))
    return schemas.BaselineReceipt(team_id=baseline.submission.team_id, receipt=serialize_receipt(baseline))


@router.delete(
    "/competitions/{slug}/baselines/{team_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=build_error_responses(ORGANIZER, "no_such_baseline"),
)
def remove_baseline(slug: str, team_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Take a baseline off the board."""
    with transaction() as session:
        baselines.remove(session, principal, slug, team_id)
