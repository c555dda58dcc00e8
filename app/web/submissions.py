"""A team's submissions as pages: all of them, and one with every measure."""

from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import SignedIn
from app.services import submissions
from app.transaction import transaction
from app.web.frame import frame_of
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/submissions")
def own_submissions(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        own = submissions.of_team(session, principal, slug)
    return page(request, principal, "submissions.html", frame=frame, own=own)


@router.get("/submissions/{submission_id}")
def submission(request: Request, submission_id: UUID, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        frame = frame_of(session, principal, submissions.slug_of(session, found))
        ahead = submissions.place_in_queue(session, found.evaluation)
    return page(request, principal, "submission.html", frame=frame, found=found, ahead=ahead)
