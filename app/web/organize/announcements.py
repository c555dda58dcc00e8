"""What the organizers tell everybody: said, listed, withdrawn."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from app.errors import DomainError
from app.http.dependencies import SignedIn
from app.services import announcements
from app.services.accounts import Principal
from app.transaction import transaction
from app.web.organize.frame import organizers_frame, trouble
from app.web.site import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/announcements", route_class=PageRoute)

Words = Annotated[str, Form()]


@router.get("")
def said(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return shown(request, principal, slug)


@router.post("")
def say(request: Request, slug: str, principal: SignedIn, en: Words = "", ja: Words = "") -> Response:
    text = {"en": en, "ja": ja}
    try:
        with transaction() as session:
            announcements.post(session, principal, slug, text)
    except DomainError as problem:
        return shown(request, principal, slug, problem=problem, text=text)
    return see(request.url.path, done="announced")


@router.post("/{announcement_id}/withdraw")
def withdraw(request: Request, slug: str, announcement_id: UUID, principal: SignedIn) -> Response:
    try:
        with transaction() as session:
            organizers_frame(session, principal, slug)
            announcements.withdraw(session, principal, announcement_id)
    except DomainError as problem:
        return shown(request, principal, slug, problem=problem)
    return see(f"/competitions/{slug}/organize/announcements", done="withdrawn")


def shown(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    text: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        listed = announcements.listed(session, slug)
    return page(
        request,
        principal,
        "organize/announcements.html",
        frame=frame,
        listed=listed,
        text=text or {},
        longest=announcements.LONGEST,
        **trouble(request, problem),
    )
