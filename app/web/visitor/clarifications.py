"""What teams ask the organizers, as each reader may see it, and the form to ask."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn, SignedIn
from app.services.accounts.accounts import Principal
from app.services.contests import clarifications
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, again, page, see

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/clarifications")
def all_clarifications(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    return clarifications_page(request, slug, principal)


@router.post("/competitions/{slug}/clarifications")
def ask(request: Request, slug: str, principal: SignedIn, question: Annotated[str, Form()] = "") -> Response:
    try:
        with transaction() as session:
            clarifications.ask(session, principal, slug, question)
    except DomainError as problem:
        return clarifications_page(request, slug, principal, problem=problem, typed=question)
    return see(request.url.path, done="asked")


def clarifications_page(
    request: Request,
    slug: str,
    principal: Principal | None,
    *,
    problem: DomainError | None = None,
    typed: str = "",
) -> HTMLResponse:
    """``typed``: a question that was refused."""
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        asked = clarifications.listed(session, principal, slug)
    content: dict[str, Any] = {
        "frame": frame,
        "asked": asked,
        "typed": typed,
        "longest": clarifications.LONGEST,
    }
    if problem is not None:
        return again(request, principal, "visitor/clarifications.html", problem, **content)
    return page(request, principal, "visitor/clarifications.html", **content)
