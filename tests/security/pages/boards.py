"""Access to the pages of the boards."""

from collections.abc import Callable
from typing import Any

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /competitions/{slug}/boards/anonymization": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/boards/reidentification": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/boards/history": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/teams/{team_id}": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/boards/matrix": (200, 200, 200, 200, 200, 200),
    # in a competition without rounds
    "GET /competitions/{slug}/boards/total": (404, 404, 404, 404, 404, 404),
}

CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""Path parameters that differ from those of the scenario."""
