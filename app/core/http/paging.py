"""Cursor pagination with the address of the next page in a Link header."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Request, Response
from pydantic import Field, TypeAdapter

from anoncup.errors import InvalidInput
from app.core.db.paging import Position

_MAX_PAGE_SIZE = 200

T = TypeVar("T")
_POSITION = TypeAdapter(Position)
_NUMBER = TypeAdapter(tuple[Annotated[int, Field(strict=True, ge=0, lt=2**63)]])

_Limit = Annotated[
    int, Query(ge=1, le=_MAX_PAGE_SIZE, description="maximum number of entries in the response")
]
_Cursor = Annotated[
    str | None,
    Query(max_length=200, description="start of the page, from the Link header of the previous page"),
]


def encode_cursor(*position: Any) -> str:
    """Return an opaque cursor for the sort key of an entry."""
    return base64.urlsafe_b64encode(json.dumps(position, default=str).encode()).decode().rstrip("=")


def decode_position(cursor: str | None) -> Position | None:
    """Return the time and id in a cursor; None for no cursor."""
    return None if cursor is None else _decode(cursor, _POSITION)


def decode_number(cursor: str | None) -> int | None:
    """Return the number in a cursor; None for no cursor."""
    return None if cursor is None else _decode(cursor, _NUMBER)[0]


def _decode(cursor: str, position: TypeAdapter[T]) -> T:
    """Return the sort key in a cursor. Raise InvalidInput (``invalid_cursor``) if it is invalid."""
    try:
        return position.validate_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise InvalidInput("the cursor is not one of ours", code="invalid_cursor") from None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page requested by the client, and the response to link from."""

    request: Request
    response: Response
    limit: _Limit = 100
    cursor: _Cursor = None

    @property
    def position(self) -> Position | None:
        """Time and id of the last entry of the page before."""
        return decode_position(self.cursor)

    @property
    def fetch_limit(self) -> int:
        """Number of entries to load: one more than the page, to see whether another page follows."""
        return self.limit + 1

    def take_page(self, entries: Sequence[T], get_position: Callable[[T], tuple[Any, ...]]) -> Sequence[T]:
        """Return the page from up to ``fetch_limit`` entries, and link to the next page if there is one.

        ``get_position`` returns the sort key of an entry.
        """
        page = entries[: self.limit]
        if len(entries) > self.limit:
            next_url = self.request.url.include_query_params(cursor=encode_cursor(*get_position(page[-1])))
            self.response.headers["Link"] = f'<{next_url.path}?{next_url.query}>; rel="next"'
        return page


RequestedPage = Annotated[PageRequest, Depends()]
