"""Pages: what everybody reads."""

from collections.abc import Callable
from typing import Any

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/rules": (200, 200, 200, 200, 200, 200),
}

CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {}
"""What the names in a path stand for, where the stage's own do not do."""
