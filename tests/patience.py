"""Waiting in tests: for an event, never for a time."""

import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""Bounds what never takes long, on however busy a machine: a guard against hanging, not a measurement."""


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true; asked until it does, or patience ends."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
