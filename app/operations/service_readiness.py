"""Wait for started programs without a time limit, and log what is being waited for."""

import logging
import time
from collections.abc import Callable

LOG_INTERVAL_S = 10.0

logger = logging.getLogger(__name__)


def wait_until(
    is_done: Callable[[], bool],
    subject: str | None,
    *,
    check: Callable[[], None] = lambda: None,
    interval_s: float = 0.02,
) -> None:
    """Wait until ``is_done()`` is true. There is no time limit, since the machine may be busy.

    ``check`` is called every ``interval_s`` seconds; if it raises, the wait ends. From time to time,
    ``subject`` is logged; nothing if it is None.
    """
    started_at = time.monotonic()
    logged_at = started_at
    while not is_done():
        check()
        now = time.monotonic()
        if subject is not None and now - logged_at >= LOG_INTERVAL_S:
            logger.info("waiting for %s (%.0f s)", subject, now - started_at)
            logged_at = now
        time.sleep(interval_s)
