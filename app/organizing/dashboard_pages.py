"""The dashboard: the state of the competition and the open tasks of its organizers."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.competitions import competitions
from app.competitions.organizer_frame import RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute
from app.organizing import dashboard

router = APIRouter(route_class=PageRoute)

_LATEST_ENTRIES = 6


@router.get("/competitions/{slug}/organize")
def show_dashboard(page: RequestedOrganizerPage) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        overview = dashboard.load_dashboard(session, page.principal, page.slug)
        latest_entries = competitions.list_audit_entries(
            session, page.principal, page.slug, cursor=None, limit=_LATEST_ENTRIES
        )
    return page.render(
        "organizing/dashboard.html",
        frame=frame,
        dashboard=overview,
        duties=dashboard.list_tasks(frame.rules, frame.contest.round, frame.status, overview),
        entries=latest_entries,
    )
