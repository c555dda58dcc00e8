"""Routes of baselines, the releases that organizers put on the board for comparison."""

from uuid import UUID

from fastapi import APIRouter, Request, status

from anoncup import schemas
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.http.openapi import JsonObject, build_multipart_body
from app.core.identity.authentication import CurrentPrincipal
from app.organizing import baselines
from app.organizing.baselines import BaselineUpload
from app.submissions.api import PARTS, REQUIRED_PARTS, serialize_receipt
from app.submissions.receiving import receive_upload

router = APIRouter(tags=["baselines"])

NAME_PART: JsonObject = {"type": "string", "description": "its name on the board"}


@router.post(
    "/competitions/{slug}/baselines",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=build_multipart_body(PARTS | {"name": NAME_PART}, required=[*REQUIRED_PARTS, "name"]),
)
async def add_baseline(request: Request, slug: str, principal: CurrentPrincipal) -> schemas.BaselineReceipt:
    """Add a release to the board for comparison, without a rank. The text part `name` is its name there."""
    baseline = await receive_upload(request, principal, BaselineUpload(slug))
    return schemas.BaselineReceipt(team_id=baseline.team_id, receipt=serialize_receipt(baseline))


@router.delete("/competitions/{slug}/baselines/{team_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_baseline(slug: str, team_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Remove a baseline from the board."""
    with transaction() as session:
        baselines.remove(session, principal, slug, team_id)
