"""Access check and form fields shared by all organizer pages."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

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
