"""Python client of the HTTP API."""

from anoncup.client.organizers import OrganizerApi
from anoncup.client.teams import FINAL_STATES, TeamApi
from anoncup.client.transport import ApiError, competition_path

__all__ = ["FINAL_STATES", "ApiError", "Client", "competition_path"]


class Client(TeamApi, OrganizerApi):
    """All calls of the API, for team members and organizers."""
