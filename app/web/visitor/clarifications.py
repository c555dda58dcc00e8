"""The page of questions to the organizers and their answers, with a form to ask a question."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal, OptionalPrincipal
from app.services.accounts.accounts import Principal
from app.services.contests import clarifications
from app.web.site.frame import load_frame
from app.web.site.pages import PageRoute, render_form_again, render_page, see_other

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/clarifications")
def show_clarifications(request: Request, slug: str, principal: OptionalPrincipal) -> HTMLResponse:
    return _render_clarifications(request, slug, principal)


@router.post("/competitions/{slug}/clarifications")
def ask(
    request: Request, slug: str, principal: CurrentPrincipal, question: Annotated[str, Form()] = ""
) -> Response:
    try:
        with transaction() as session:
            clarifications.ask(session, principal, slug, question)
    except DomainError as problem:
        return _render_clarifications(request, slug, principal, problem=problem, rejected_question=question)
    return see_other(request.url.path, notice="asked")


def _render_clarifications(
    request: Request,
    slug: str,
    principal: Principal | None,
    *,
    problem: DomainError | None = None,
    rejected_question: str = "",
) -> HTMLResponse:
    """Render the page, with a question that was not accepted in the form."""
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        questions = clarifications.list_clarifications(session, principal, slug)
    content: dict[str, Any] = {
        "frame": frame,
        "asked": questions,
        "typed": rejected_question,
        "longest": clarifications.MAX_LENGTH,
    }
    if problem is not None:
        return render_form_again(request, principal, "visitor/clarifications.html", problem, **content)
    return render_page(request, principal, "visitor/clarifications.html", **content)
