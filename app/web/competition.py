"""A competition's first page: what it is, and where it stands."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import MaybeSignedIn
from app.transaction import transaction
from app.web.frame import frame_of
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}")
def overview(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
    return page(request, principal, "overview.html", frame=frame)
