"""Waits for conditions in tests."""

import time
from collections.abc import Callable
from pathlib import Path

TIMEOUT_S = 120.0
"""Far longer than any wait on a busy machine; it only guards against hanging."""


def poll_until(condition: Callable[[], bool], *, timeout_s: float = TIMEOUT_S) -> bool:
    """Poll a condition until it is true. Return False after ``timeout_s``.

    The interval grows with the time that has passed, since polling takes processor time from others.
    """
    started_at = time.monotonic()
    while not condition():
        elapsed_s = time.monotonic() - started_at
        if elapsed_s > timeout_s:
            return False
        time.sleep(min(max(0.01, elapsed_s / 20), 0.1))
    return True


def is_running(pid: int) -> bool:
    """Return whether there is a process with this number that is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def start_stopwatch() -> Callable[[], float]:
    """Return a function that gives the seconds since this call, to compare durations on any machine."""
    started_at = time.monotonic()
    return lambda: time.monotonic() - started_at
