"""Access check and form fields shared by all organizer pages."""

import re
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from anoncup.errors import InvalidInput
from app.accounts.step_up import reauthenticate
from app.competitions import competitions
from app.competitions.frame import Frame, load_frame
from app.core.identity.authentication import CurrentPrincipal, get_client_address
from app.core.identity.principal import Principal
from app.core.pages.pages import UserPage


@dataclass(frozen=True, slots=True)
class OrganizerPage(UserPage):
    """A request for a page of the organizers of a competition."""

    slug: str

    @property
    def path(self) -> str:
        return f"/competitions/{self.slug}/organize"

    def reauthenticate(self, password: str) -> Principal:
        """Return the organizer, as reauthenticated if the form came with the right password."""
        return reauthenticate(self.principal, get_client_address(self.request), password)

    def load_frame(self, session: Session) -> Frame:
        """Load the competition for one of its organizers; raise ``Forbidden`` for other people."""
        frame = load_frame(session, self.principal, self.slug)
        competitions.require_organizer(session, frame.round.competition_id, self.principal)
        return frame


async def _open_organizer_page(request: Request, principal: CurrentPrincipal, slug: str) -> OrganizerPage:
    return OrganizerPage(request, principal, slug)


RequestedOrganizerPage = Annotated[OrganizerPage, Depends(_open_organizer_page)]


def parse_whole_number(text: str, *, code: str) -> int:
    """Parse a whole number of at most 9 digits; raise ``InvalidInput`` with ``code`` if it is invalid."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidInput("enter a whole number", code=code)
    return int(text)


def parse_number(text: str, *, code: str) -> float:
    """Parse a decimal number such as -2.5; raise ``InvalidInput`` with ``code`` if it is invalid."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?", text.strip(), re.ASCII):
        raise InvalidInput("enter a number such as -2.5", code=code)
    return float(text)


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID, or None for any other text."""
    try:
        return UUID(text)
    except ValueError:
        return None
