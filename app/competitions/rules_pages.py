"""The page of a competition's rules and data."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.competitions.frame import load_frame
from app.competitions.rules_page import render_rules
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/rules")
def show_rules(page: RequestedPage, slug: str) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    return render_rules(page, frame)
