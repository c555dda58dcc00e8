"""The front page: all competitions."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import MaybeSignedIn
from app.services import competitions, phases
from app.transaction import transaction
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)


@router.get("/")
def front(request: Request, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        rows = competitions.listed(session)
        files = [competitions.read_file(row.file) for row in rows]
        states = [phases.standing(session, row).state for row in rows]
    return page(request, principal, "front.html", listed=list(zip(files, states, strict=True)))
