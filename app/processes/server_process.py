"""A server program that is kept running: started again on the same data when it ends."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from anoncup.errors import Unavailable
from app.processes import child_process, readiness

RESTARTS = 5
RESTARTS_WITHIN = 600.0
"""A server that ended more often than this within so many seconds is not started again."""

TRIES = 40
PAUSE = 0.5
"""How often a server is started again, and the seconds between: what the old one left must end first."""

STOPPED_WITHIN = 30.0
"""Seconds that a server has to end after each signal but the last."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Server:
    """One running server program, where it writes its log, and how it is started again."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    start: Callable[[], subprocess.Popen[bytes]] | None = None
    is_ready: Callable[[], bool] = lambda: True
    ends: list[float] = field(default_factory=list)
    """When it has ended while it should run."""

    def check(self) -> None:
        """Raise Unavailable if it has ended."""
        status = self.process.poll()
        if status == child_process.NAMESPACE_REFUSED:
            raise Unavailable(
                "{name} does not run as root, and this system does not let root take another "
                "user's number. Run as an ordinary user, or set DATABASE_URL and REDIS_URL to "
                "servers of your own.",
                name=self.name,
            )
        if status is not None:
            raise Unavailable(
                "{name} ended (status {status}). End of {log}:\n{tail}",
                name=self.name,
                status=status,
                log=str(self.log),
                tail=child_process.tail(self.log),
            )

    def keep(self) -> None:
        """Start it again on the same data if it has ended; Unavailable if that does not help."""
        status, now = self.process.poll(), time.monotonic()
        if status is None:
            return
        self.ends = [*(end for end in self.ends if end > now - RESTARTS_WITHIN), now]
        if self.start is None or len(self.ends) > RESTARTS:
            self.check()
        logger.warning("%s ended (status %s); starting it again. Its log: %s", self.name, status, self.log)
        self._start_again()

    def _start_again(self) -> None:
        assert self.start is not None  # noqa: S101  # keep() has looked
        for left in reversed(range(TRIES)):
            self.process = self.start()
            try:
                wait(self)
                return
            except Unavailable:
                if not left:
                    raise
                time.sleep(PAUSE)


def wait(server: Server) -> None:
    """Return once the server answers; Unavailable if it has ended instead."""
    readiness.until(server.is_ready, server.name, check=server.check)


@contextmanager
def stopped_after(server: Server, *signals: signal.Signals) -> Iterator[None]:
    """Stop the server at the end: each signal gets its time, SIGKILL is the last."""
    try:
        yield
    finally:
        for number in (*signals, signal.SIGKILL):
            server.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(STOPPED_WITHIN)
                break
