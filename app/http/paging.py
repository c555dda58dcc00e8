"""Cursor pagination: a page, and where the next one starts, in a Link header."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Request, Response

from anoncup.errors import InvalidInput

LARGEST_PAGE = 200

T = TypeVar("T")

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
    # What a stranger puts in a cursor fails in every way that reading a value can.
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise InvalidInput("the cursor is not one of ours", code="invalid_cursor") from None


def number(part: Any) -> int:
    """A number that the database can compare with its own."""
    if type(part) is not int or not -(2**63) <= part < 2**63:
        raise ValueError
    return part


def link_to_next(request: Request, response: Response, cursor: str | None) -> None:
    """Say where the next page is; nothing if this one was the last."""
    if cursor is not None:
        following = request.url.include_query_params(cursor=cursor)
        response.headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'


@dataclass(frozen=True, slots=True)
class Paging:
    """The page that a request asks for."""

    request: Request
    response: Response
    limit: int
    cursor: str | None

    @property
    def wanted(self) -> int:
        """One entry more than the page holds: whether it comes tells whether another page follows."""
        return self.limit + 1

    def cut(self, found: Sequence[T], place: Callable[[T], tuple[Any, ...]]) -> Sequence[T]:
        """The page out of the entries ``wanted``; the answer links to the next by its last one's place."""
        kept = found[: self.limit]
        if len(found) > self.limit:
            link_to_next(self.request, self.response, cursor_of(*place(kept[-1])))
        return kept


def paging(request: Request, response: Response, limit: Limit = 100, cursor: Cursor = None) -> Paging:
    return Paging(request, response, limit, cursor)


AskedPage = Annotated[Paging, Depends(paging)]
