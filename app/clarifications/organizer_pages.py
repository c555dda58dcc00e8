"""Answer the questions of teams."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.responses import Response

from anoncup.errors import DomainError
from app.clarifications import clarifications
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem

router = APIRouter(prefix="/competitions/{slug}/organize/clarifications", route_class=PageRoute)


class AnswerForm(BaseModel):
    text: str = ""
    public: bool = False


def _render_clarifications(
    page: OrganizerPage,
    *,
    problem: DomainError | None = None,
    clarification_id: UUID | None = None,
    form: AnswerForm | None = None,
) -> HTMLResponse:
    """Render the questions. ``form`` is a rejected answer to one of them."""
    with transaction() as session:
        frame = page.load_frame(session)
        questions = clarifications.list_clarifications(session, page.principal, page.slug)
    return page.render(
        "clarifications/organizer.html",
        frame=frame,
        waiting=[question for question in questions if question.clarification.answer is None],
        answered=[question for question in questions if question.clarification.answer is not None],
        rejected_answers={clarification_id: form.text} if form else {},
        longest=clarifications.MAX_LENGTH,
        problem=problem,
    )


@router.get("")
def show_clarifications(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_clarifications(page)


@router.post("/{clarification_id}")
@show_problem(_render_clarifications)
def answer(
    page: RequestedOrganizerPage, clarification_id: UUID, form: Annotated[AnswerForm, Form()]
) -> Response:
    with transaction() as session:
        page.load_frame(session)
        clarifications.answer(session, page.principal, clarification_id, form.text, public=form.public)
    return see_other(f"{page.path}/clarifications", notice="answered")
