"""Pages of questions to the organizers and their answers: for everybody, and for organizers to answer."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.clarifications import clarifications
from app.competitions.frame import load_frame
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import Page, PageRoute, RequestedPage, RequestedUserPage, see_other, show_problem

router = APIRouter(prefix="/competitions/{slug}", route_class=PageRoute)


def _render_questions(
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


@router.get("/clarifications")
def show_questions(page: RequestedPage, slug: str) -> HTMLResponse:
    return _render_questions(page, slug)


@router.post("/clarifications")
@show_problem(_render_questions)
def ask(page: RequestedUserPage, slug: str, question: Annotated[str, Form()] = "") -> Response:
    with transaction() as session:
        clarifications.ask(session, page.principal, slug, question)
    return see_other(page.request.url.path, notice="asked")


def _render_answers(
    page: OrganizerPage,
    *,
    problem: DomainError | None = None,
    clarification_id: UUID | None = None,
    text: str = "",
) -> HTMLResponse:
    """Render the questions. ``text`` is a rejected answer to one of them."""
    with transaction() as session:
        frame = page.load_frame(session)
        questions = clarifications.list_clarifications(session, page.principal, page.slug)
    return page.render(
        "clarifications/organizer.html",
        frame=frame,
        waiting=[question for question in questions if question.answer is None],
        answered=[question for question in questions if question.answer is not None],
        rejected_answers={clarification_id: text},
        longest=clarifications.MAX_LENGTH,
        problem=problem,
    )


@router.get("/organize/clarifications")
def show_answers(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_answers(page)


@router.post("/organize/clarifications/{clarification_id}")
@show_problem(_render_answers)
def answer(
    page: RequestedOrganizerPage,
    clarification_id: UUID,
    text: Annotated[str, Form()] = "",
    public: Annotated[bool, Form()] = False,
) -> Response:
    with transaction() as session:
        page.load_frame(session)
        clarifications.answer(session, page.principal, clarification_id, text, public=public)
    return see_other(f"{page.path}/clarifications", notice="answered")
