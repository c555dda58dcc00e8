"""What all pages of the organizers ask first, and how they say no."""

from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from app.errors import DomainError
from app.http.problems import status_of
from app.services import competitions
from app.services.accounts import Principal
from app.web import words
from app.web.frame import Frame, frame_of
from app.web.site import said_of


def organizers_frame(session: Session, principal: Principal, slug: str) -> Frame:
    """The competition, for one of its organizers."""
    frame = frame_of(session, principal, slug)
    competitions.require_organizer(session, frame.row.id, principal)
    return frame


def trouble(request: Request, problem: DomainError | None) -> dict[str, Any]:
    """What a page shows after a refused form: the status, and the problem in the reader's language."""
    if problem is None:
        return {}
    t = words.in_language(words.language_of(request))
    return {"status": status_of(problem), "problem": said_of(problem, t), "code": problem.code}
