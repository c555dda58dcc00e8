"""Simulated kills of a process in the middle of a transition."""

from collections.abc import Callable
from typing import Any


class SimulatedKill(BaseException):
    """Stands for the end of the process: nothing catches it."""


def kill_at_call(call: Callable[..., Any], *, kills_before: bool, call_number: int = 1) -> Callable[..., Any]:
    """Return ``call``, which is killed before or right after its work on call ``call_number``."""
    calls = iter(range(1, 1000))

    def call_or_die(*arguments: Any, **keywords: Any) -> Any:
        number = next(calls)
        if kills_before and number == call_number:
            raise SimulatedKill
        result = call(*arguments, **keywords)
        if number == call_number:
            raise SimulatedKill
        return result

    return call_or_die
