"""The HTTP API as Python calls."""

from anoncup.client.organizers import OrganizersCalls
from anoncup.client.teams import FINAL, TeamsCalls
from anoncup.client.transport import Refused, at

__all__ = ["FINAL", "Client", "Refused", "at"]


class Client(TeamsCalls, OrganizersCalls):
    """What a token's owner may do, in both roles."""
