"""Cursor pagination: a page, and where the next one starts, in a Link header."""

import base64
import json
from typing import Annotated, Any

from fastapi import Query, Request, Response

from app.errors import InvalidInput

LARGEST_PAGE = 200

Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="entries in a page")]
Cursor = Annotated[
    str | None,
    Query(max_length=200, description="where the page starts: from the Link header of the last one"),
]


def cursor_of(*place: Any) -> str:
    """An opaque text for the place of an entry in its order."""
    return base64.urlsafe_b64encode(json.dumps(place, default=str).encode()).decode().rstrip("=")


def place_of(cursor: str | None, *kinds: Any) -> tuple[Any, ...] | None:
    """The place that a cursor of ours stands for, each part read by its kind; None: from the start."""
    if cursor is None:
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if len(parts) != len(kinds):
            raise ValueError
        return tuple(kind(part) for kind, part in zip(kinds, parts, strict=True))
    except (ValueError, TypeError):
        raise InvalidInput("the cursor is not one of ours", code="invalid_cursor") from None


def link_to_next(request: Request, response: Response, cursor: str | None) -> None:
    """Say where the next page is; nothing if this one was the last."""
    if cursor is not None:
        following = request.url.include_query_params(cursor=cursor)
        response.headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
