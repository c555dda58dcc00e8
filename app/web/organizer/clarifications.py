"""Answer the questions of teams."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.accounts.accounts import Principal
from app.services.contests import clarifications
from app.web.organizer.frame import describe_problem, load_organizer_frame
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/clarifications", route_class=PageRoute)


class AnswerForm(BaseModel):
    text: str = ""
    public: bool = False


@router.get("")
def show_clarifications(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_clarifications(request, principal, slug)


@router.post("/{clarification_id}")
def answer(
    request: Request,
    slug: str,
    clarification_id: UUID,
    principal: CurrentPrincipal,
    form: Annotated[AnswerForm, Form()],
) -> Response:
    try:
        with transaction() as session:
            load_organizer_frame(session, principal, slug)
            clarifications.answer(session, principal, clarification_id, form.text, public=form.public)
    except DomainError as problem:
        rejected_answers = {clarification_id: form.text}
        return _render_clarifications(
            request, principal, slug, problem=problem, rejected_answers=rejected_answers
        )
    return see_other(f"/competitions/{slug}/organize/clarifications", notice="answered")


def _render_clarifications(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    rejected_answers: dict[UUID, str] | None = None,
) -> HTMLResponse:
    """Render the questions. ``rejected_answers`` maps question ids to answers that were not accepted."""
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        questions = clarifications.list_clarifications(session, principal, slug)
    return render_page(
        request,
        principal,
        "organizer/clarifications.html",
        frame=frame,
        waiting=[question for question in questions if question.clarification.answer is None],
        answered=[question for question in questions if question.clarification.answer is not None],
        typed=rejected_answers or {},
        longest=clarifications.MAX_LENGTH,
        **describe_problem(request, problem),
    )
