"""Access to the public pages."""

from collections.abc import Callable
from typing import Any

from app.documentation import documentation_pages as documentation

DOCUMENTATION_STATUS = 200 if (documentation.files.folder / "index.html").exists() else 404
"""`make docs` builds the documentation."""

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/calendar.ics": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/rules": (200, 200, 200, 200, 200, 200),
    "GET /competitions/{slug}/clarifications": (200, 200, 200, 200, 200, 200),
    "POST /competitions/{slug}/clarifications": (303, 303, 303, 403, 403, 403),
    "GET /docs/{path}": (DOCUMENTATION_STATUS,) * 6,
}

CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /competitions/{slug}/clarifications": lambda _: {"data": {"question": "How many rows?"}},
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {"GET /docs/{path}": lambda _: {"path": ""}}
"""Path parameters that differ from those of the scenario."""
