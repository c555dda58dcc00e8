"""Post, list and withdraw announcements of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.accounts.step_up import FormReauthentication
from app.announcements import announcements
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem, templates

templates.env.globals["texts_of"] = announcements.translate
router = APIRouter(prefix="/competitions/{slug}/organize/announcements", route_class=PageRoute)

_FormText = Annotated[str, Form()]


def _render_announcements(
    page: OrganizerPage, *, problem: DomainError | None = None, en: str = "", ja: str = ""
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        announcement_rows = announcements.list_announcements(session, page.principal, page.slug)
    return page.render(
        "announcements/announcements.html",
        frame=frame,
        announcements=announcement_rows,
        text={"en": en, "ja": ja},
        longest=announcements.MAX_LENGTH,
        problem=problem,
    )


@router.get("")
def show_announcements(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_announcements(page)


@router.post("")
@show_problem(_render_announcements)
def post_announcement(page: RequestedOrganizerPage, en: _FormText = "", ja: _FormText = "") -> Response:
    with transaction() as session:
        announcements.post(session, page.principal, page.slug, {"en": en, "ja": ja})
    return see_other(page.request.url.path, notice="announced")


@router.post("/{announcement_id}/withdraw")
@show_problem(_render_announcements)
def withdraw(
    page: RequestedOrganizerPage, announcement_id: UUID, reauthenticate: FormReauthentication
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        page.load_frame(session)
        announcements.withdraw(session, principal, announcement_id)
    return see_other(f"{page.path}/announcements", notice="withdrawn")
