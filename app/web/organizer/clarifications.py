"""What teams ask, and the organizers' answers."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.accounts.accounts import Principal
from app.services.contests import clarifications
from app.web.organizer.frame import organizers_frame, trouble
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/clarifications", route_class=PageRoute)


class Answer(BaseModel):
    """The form."""

    text: str = ""
    public: bool = False


@router.get("")
def all_clarifications(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return clarifications_page(request, principal, slug)


@router.post("/{clarification_id}")
def answer(
    request: Request,
    slug: str,
    clarification_id: UUID,
    principal: SignedIn,
    said: Annotated[Answer, Form()],
) -> Response:
    try:
        with transaction() as session:
            organizers_frame(session, principal, slug)
            clarifications.answer(session, principal, clarification_id, said.text, public=said.public)
    except DomainError as problem:
        typed = {clarification_id: said.text}
        return clarifications_page(request, principal, slug, problem=problem, typed=typed)
    return see(f"/competitions/{slug}/organize/clarifications", done="answered")


def clarifications_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    typed: dict[UUID, str] | None = None,
) -> HTMLResponse:
    """``typed``: an answer that was refused, by the question it is to."""
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        asked = clarifications.listed(session, principal, slug)
    return page(
        request,
        principal,
        "organizer/clarifications.html",
        frame=frame,
        waiting=[each for each in asked if each.one.answer is None],
        answered=[each for each in asked if each.one.answer is not None],
        typed=typed or {},
        longest=clarifications.LONGEST,
        **trouble(request, problem),
    )
