"""Client of the whole HTTP API."""

from anoncup.client.organizers import OrganizerApi
from anoncup.client.teams import TeamApi


class Client(TeamApi, OrganizerApi):
    """All calls of the API, for team members and organizers."""
