"""The page of questions to the organizers and their answers, with a form to ask a question."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.clarifications import clarifications
from app.competitions.frame import load_frame
from app.core.db.transaction import transaction
from app.core.pages.pages import Page, PageRoute, RequestedPage, RequestedUserPage, see_other, show_problem

router = APIRouter(route_class=PageRoute)


def _render_clarifications(
    page: Page, slug: str, *, problem: DomainError | None = None, question: str = ""
) -> HTMLResponse:
    """Render the page, with a ``question`` that was not accepted in the form."""
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
        questions = clarifications.list_clarifications(session, page.principal, slug)
    return page.render(
        "clarifications/clarifications.html",
        problem=problem,
        frame=frame,
        asked=questions,
        question=question,
        longest=clarifications.MAX_LENGTH,
    )


@router.get("/competitions/{slug}/clarifications")
def show_clarifications(page: RequestedPage, slug: str) -> HTMLResponse:
    return _render_clarifications(page, slug)


@router.post("/competitions/{slug}/clarifications")
@show_problem(_render_clarifications)
def ask(page: RequestedUserPage, slug: str, question: Annotated[str, Form()] = "") -> Response:
    with transaction() as session:
        clarifications.ask(session, page.principal, slug, question)
    return see_other(page.request.url.path, notice="asked")
