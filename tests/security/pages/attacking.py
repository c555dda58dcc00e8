"""Pages: targets and guesses."""

from collections.abc import Callable
from typing import Any

from tests.support.arena import ROWS

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    # of a second competition, where own team's release is a target of other team's
    "GET /competitions/{slug}/targets": (303, 200, 200, 200, 403, 200),
    "GET /targets/{target_id}": (303, 200, 200, 200, 404, 200),
    "GET /targets/{target_id}/guesses": (303, 303, 303, 303, 303, 303),
    "POST /targets/{target_id}/guesses": (303, 303, 403, 403, 404, 403),
    "POST /targets/{target_id}/guesses/check": (303, 200, 403, 403, 404, 403),
}


def a_guess(_: Any) -> dict[str, Any]:
    return {"files": {"guess": ("g.csv", b"original_row\n" + b"1\n" * ROWS)}}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /targets/{target_id}/guesses": a_guess,
    "POST /targets/{target_id}/guesses/check": a_guess,
}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""What the names in a path stand for, where the stage's own do not do."""
