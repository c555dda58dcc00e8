"""Access to cached boards for pages that have their own text for a board that is not open."""

from collections.abc import Awaitable
from typing import TypeVar

from anoncup.errors import Forbidden

T = TypeVar("T")


async def await_if_open(pending: Awaitable[T]) -> T | None:
    """Return the awaited board, or None if the reader may not see it."""
    try:
        return await pending
    except Forbidden as problem:
        if problem.code != "board_not_open":
            raise
        return None
