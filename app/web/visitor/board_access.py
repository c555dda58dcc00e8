"""Load cached boards for pages that show their own text if the board is not open to the reader."""

from collections.abc import Awaitable
from typing import TypeVar

from anoncup.errors import Forbidden

BoardT = TypeVar("BoardT")


async def await_if_open(pending: Awaitable[BoardT]) -> BoardT | None:
    """Return the awaited board, or None if the reader may not see it."""
    try:
        return await pending
    except Forbidden as problem:
        if problem.code != "board_not_open":
            raise
        return None
