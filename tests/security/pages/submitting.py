"""Pages: a team's submissions."""

from collections.abc import Callable
from typing import Any

from tests.support.arena import noisy_release, numbers

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
}


def an_upload(stage: Any) -> dict[str, Any]:
    """A new release: the same again would be taken in, too."""
    table, secret = noisy_release(next(numbers), stage.arena.table)
    return {"files": {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /competitions/{slug}/submissions": an_upload,
    "POST /competitions/{slug}/submissions/check": an_upload,
    "POST /submissions/{submission_id}/final": lambda _: {"data": {"final": "true"}},
}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""What the names in a path stand for, where the stage's own do not do."""
