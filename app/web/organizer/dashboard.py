"""The organizers' first page: where the competition stands, and what waits for them."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.contests import competitions
from app.services.organizing import dashboard, rehearsals
from app.web.organizer.audit_entries import acts
from app.web.organizer.frame import organizers_frame
from app.web.site import language
from app.web.site.pages import PageRoute, page

router = APIRouter(route_class=PageRoute)

LAST_ACTS = 6


@router.get("/competitions/{slug}/organize")
def dashboard_page(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        found = dashboard.of_competition(session, principal, slug)
        rehearsal = rehearsals.standing(session, frame.contest.id)
        last = competitions.history(session, principal, slug, after=None, limit=LAST_ACTS)
    t, zone = language.words_of(request), frame.rules.timezone
    return page(
        request,
        principal,
        "organizer/dashboard.html",
        frame=frame,
        desk=found,
        rehearsal=rehearsal,
        duties=dashboard.duties(frame.rules, frame.contest.row, frame.standing, found),
        acts=acts(last, t, path=frame.path, zone=zone),
    )
