"""Baselines: what organizers put on the board for comparison."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status

from anoncup import schemas
from anoncup.errors import InvalidInput
from app.api.documentation.bodies import Json, multipart
from app.api.documentation.responses import BUSY, NEW_NAME, ORGANIZER, refusing
from app.api.submissions import NEEDED, PARTS, SENT, receipt
from app.config import get_settings
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.multipart import Parts
from app.http.step_up import Confirming
from app.http.uploads import Way, read_release, take_in
from app.services.accounts.accounts import Principal
from app.services.organizing import baselines
from app.services.submissions import uploads
from app.services.submissions.uploads import Entrance

router = APIRouter(tags=["baselines"])

NAME: Json = {"type": "string", "description": "what it is called on the board"}


def entrance(slug: str, principal: SignedIn) -> Entrance:
    with transaction() as session:
        return baselines.entrance(session, principal, slug)


@router.post(
    "/competitions/{slug}/baselines",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=multipart(PARTS | {"name": NAME}, SENT | {"name": "5-anonymous"}, needed=[*NEEDED, "name"]),
    responses=refusing(
        ORGANIZER,
        NEW_NAME,
        BUSY,
        "file_lost 409.no_original not_drawn_yet drawing_over changed_meanwhile phase_closed",
        "team_name_taken comment",
    ),
)
async def add_baseline(
    request: Request, principal: SignedIn, at: Annotated[Entrance, Depends(entrance)]
) -> schemas.BaselineReceipt:
    """Put a release on the board for comparison, without a rank; the text part `name` says what it is."""
    return await take_in(request, principal, at, BASELINE)


def added(principal: Principal, at: Entrance, sent: Parts) -> schemas.BaselineReceipt:
    if "name" not in sent.texts:
        raise InvalidInput("a baseline needs a name: send a part named name", code="name_length")
    upload = read_release(at, sent)
    with transaction() as session:
        made = baselines.add(
            session,
            principal,
            upload,
            name=sent.texts["name"],
            sealing_key=get_settings().sealing_key_file,
        )
        return schemas.BaselineReceipt(team_id=made.submission.team_id, receipt=receipt(made))


BASELINE = Way(uploads.renewed, added)


@router.delete(
    "/competitions/{slug}/baselines/{team_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing(ORGANIZER, "no_such_baseline"),
)
def remove_baseline(slug: str, team_id: UUID, principal: Confirming) -> None:
    """Take a baseline off the board."""
    with transaction() as session:
        baselines.remove(session, principal, slug, team_id)
