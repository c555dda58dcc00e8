"""Waiting in tests: for an event, never for a time."""

import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""Bounds what never takes long, on however busy a machine: a guard against hanging, not a measurement."""


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true; asked until it does, or patience ends.

    Less often the longer it takes: asking costs what is waited for its processor.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        if waited > PATIENCE_S:
            return False
        time.sleep(min(max(0.01, waited / 20), 0.1))
    return True


def stopwatch() -> Callable[[], float]:
    """The seconds since this call: the bound of a measured time, where no number fits every machine."""
    began = time.monotonic()
    return lambda: time.monotonic() - began
