"""The HTTP API as Python calls."""

from app.client.organizers import OrganizersCalls
from app.client.teams import FINAL, TeamsCalls
from app.client.transport import Refused, at

__all__ = ["FINAL", "Client", "Refused", "at"]


class Client(TeamsCalls, OrganizersCalls):
    """What a token's owner may do, in both roles."""
