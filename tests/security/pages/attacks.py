"""Access to the pages of targets and guesses."""

from collections.abc import Callable
from typing import Any

from tests.support.arena import ROWS

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    # in a second competition, where the other team may attack the own team's release
    "GET /competitions/{slug}/targets": (303, 200, 200, 200, 403, 200),
    "GET /targets/{target_id}": (303, 200, 200, 200, 404, 200),
    "GET /targets/{target_id}/guesses": (303, 303, 303, 303, 303, 303),
    "POST /targets/{target_id}/guesses": (303, 303, 403, 403, 404, 403),
    "POST /targets/{target_id}/guesses/check": (303, 200, 403, 403, 404, 403),
}


def build_guess(_: Any) -> dict[str, Any]:
    return {"files": {"guess": ("g.csv", b"original_row\n" + b"1\n" * ROWS)}}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /targets/{target_id}/guesses": build_guess,
    "POST /targets/{target_id}/guesses/check": build_guess,
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""Path parameters that differ from those of the scenario."""
