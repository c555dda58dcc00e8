"""What all pages of the organizers ask first, how they read a form, and how they say no."""

from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from anoncup.errors import DomainError, InvalidInput
from app.http.problems import status_of
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import sentence_of

MOST_FIELDS = 200


def organizers_frame(session: Session, principal: Principal, slug: str) -> Frame:
    """The competition, for one of its organizers."""
    frame = frame_of(session, principal, slug)
    competitions.require_organizer(session, frame.contest.id, principal)
    return frame


def trouble(request: Request, problem: DomainError | None) -> dict[str, Any]:
    """What a page shows after a refused form: the status, and the problem in the reader's language."""
    if problem is None:
        return {}
    t = language.words_of(request)
    return {"status": status_of(problem), "problem": sentence_of(problem, t), "code": problem.code}


async def typed(request: Request) -> dict[str, str]:
    """The fields of a form whose names depend on the competition."""
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Typed = Annotated[dict[str, str], Depends(typed)]


def whole(text: str, *, code: str) -> int:
    """A whole number that somebody typed; the rule that it must follow is the service's."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidInput("enter a whole number", code=code)
    return int(text)
