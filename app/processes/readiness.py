"""Waiting for what was started: as long as it lives, however busy the machine is, and saying what for."""

import logging
import time
from collections.abc import Callable

SAID_EVERY = 10.0
"""Seconds."""

logger = logging.getLogger(__name__)


def until(
    reached: Callable[[], bool],
    what: object | None,
    *,
    check: Callable[[], None] = lambda: None,
    pause: float = 0.02,
) -> None:
    """Return once ``reached()``; only ``check`` ends it sooner, by raising. No time is too long.

    ``check`` is called between tries, every ``pause`` seconds. ``what`` is said as ``str`` gives it then; of
    None, nothing is said.
    """
    began = time.monotonic()
    said = began
    while not reached():
        check()
        now = time.monotonic()
        if what is not None and now - said >= SAID_EVERY:
            logger.info("waiting for %s (%.0f s)", what, now - began)
            said = now
        time.sleep(pause)
