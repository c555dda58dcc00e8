"""What is kept of boards, for pages that say so where a board is not open."""

from collections.abc import Awaitable
from typing import TypeVar

from anoncup.errors import NotAllowed

T = TypeVar("T")


async def if_open(found: Awaitable[T]) -> T | None:
    """None if the competition does not show it to whoever asks."""
    try:
        return await found
    except NotAllowed as problem:
        if problem.code != "board_not_open":
            raise
        return None
