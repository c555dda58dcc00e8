"""Access to the pages of a team's submissions."""

from collections.abc import Callable
from typing import Any

from tests.support.arena import build_noisy_release, serial_numbers

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /competitions/{slug}/submissions": (303, 200, 200, 403, 403, 403),
    "GET /competitions/{slug}/submissions/state": (303, 200, 200, 403, 403, 403),
    "POST /competitions/{slug}/submissions": (303, 303, 303, 403, 403, 403),
    "POST /competitions/{slug}/submissions/check": (303, 200, 200, 403, 403, 403),
    "GET /submissions/{submission_id}": (303, 404, 200, 200, 404, 200),
    "GET /submissions/{submission_id}/row": (303, 404, 200, 403, 404, 403),
    "POST /submissions/{submission_id}/final": (303, 404, 303, 403, 404, 403),
    "POST /submissions/{submission_id}/cancel": (303, 404, 409, 403, 404, 403),
    # of the own team
}


def build_upload(scenario: Any) -> dict[str, Any]:
    """Build a new release for each request."""
    table, secret = build_noisy_release(next(serial_numbers), scenario.arena.table)
    return {"files": {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /competitions/{slug}/submissions": build_upload,
    "POST /competitions/{slug}/submissions/check": build_upload,
    "POST /submissions/{submission_id}/final": lambda _: {"data": {"final": "true"}},
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""Path parameters that differ from those of the scenario."""
