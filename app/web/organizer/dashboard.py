"""The dashboard: the state of the competition and the open tasks of its organizers."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.contests import competitions
from app.services.organizing import dashboard, rehearsals
from app.web.organizer.audit_entries import describe_entries
from app.web.organizer.frame import load_organizer_frame
from app.web.site import language
from app.web.site.pages import PageRoute, render_page

router = APIRouter(route_class=PageRoute)

_LATEST_ENTRIES = 6


@router.get("/competitions/{slug}/organize")
def show_dashboard(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        overview = dashboard.load_dashboard(session, principal, slug)
        rehearsal = rehearsals.find_rehearsal(session, frame.contest.id)
        latest_entries = competitions.list_audit_entries(
            session, principal, slug, cursor=None, limit=_LATEST_ENTRIES
        )
    t, zone = language.negotiate_translator(request), frame.rules.timezone
    return render_page(
        request,
        principal,
        "organizer/dashboard.html",
        frame=frame,
        desk=overview,
        rehearsal=rehearsal,
        duties=dashboard.list_tasks(frame.rules, frame.contest.competition, frame.status, overview),
        acts=describe_entries(latest_entries, t, path=frame.path, zone=zone),
    )
