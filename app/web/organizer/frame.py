"""Access check, form fields and error messages shared by all organizer pages."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from anoncup.errors import DomainError, InvalidInput
from app.http.problems import get_status
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.web.site import language
from app.web.site.frame import Frame, load_frame
from app.web.site.pages import translate_error

_MAX_FIELDS = 200


def load_organizer_frame(session: Session, principal: Principal, slug: str) -> Frame:
    """Load a competition for one of its organizers; raise ``Forbidden`` for other people."""
    frame = load_frame(session, principal, slug)
    competitions.require_organizer(session, frame.contest.id, principal)
    return frame


def describe_problem(request: Request, problem: DomainError | None) -> dict[str, Any]:
    """Return the template variables for a rejected form: status, error code and translated message."""
    if problem is None:
        return {}
    t = language.negotiate_translator(request)
    return {"status": get_status(problem), "problem": translate_error(problem, t), "code": problem.code}


async def _read_fields(request: Request) -> dict[str, str]:
    """Return the text fields of a form whose field names depend on the competition."""
    async with request.form(max_files=0, max_fields=_MAX_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


FormFields = Annotated[dict[str, str], Depends(_read_fields)]


def parse_whole_number(text: str, *, code: str) -> int:
    """Parse a whole number of at most 9 digits; raise ``InvalidInput`` with ``code`` if it is invalid."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidInput("enter a whole number", code=code)
    return int(text)


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID, or None for any other text."""
    try:
        return UUID(text)
    except ValueError:
        return None
