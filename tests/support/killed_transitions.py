"""Transitions that are killed half-way."""

from collections.abc import Callable
from typing import Any


class Killed(BaseException):
    """Like a process that is gone: nothing catches it."""


def dying(call: Callable[..., Any], *, before: bool, on: int = 1) -> Callable[..., Any]:
    """``call``, which is killed before or right after its work the ``on``-th time."""
    calls = iter(range(1, 1000))

    def killed(*arguments: Any, **named: Any) -> Any:
        number = next(calls)
        if before and number == on:
            raise Killed
        result = call(*arguments, **named)
        if number == on:
            raise Killed
        return result

    return killed
