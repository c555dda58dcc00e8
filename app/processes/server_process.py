"""Keep a server program running: restart it on the same data when it ends."""

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

MAX_RESTARTS = 5
RESTART_WINDOW_S = 600.0
"""A server that ends more than ``MAX_RESTARTS`` times within ``RESTART_WINDOW_S`` is not restarted."""

MAX_START_ATTEMPTS = 40
_START_RETRY_PAUSE_S = 0.5
"""Attempts at a restart and the pause between them: child processes of the old server must end first."""

_STOP_TIMEOUT_S = 30.0
"""Seconds that a server has to end after each signal, except SIGKILL."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Server:
    """A running server program with its log and the function that restarts it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    start: Callable[[], subprocess.Popen[bytes]] | None = None
    is_ready: Callable[[], bool] = lambda: True
    end_times: list[float] = field(default_factory=list)
    """Monotonic times at which it ended unexpectedly."""

    def require_running(self) -> None:
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
                tail=child_process.read_tail(self.log),
            )

    def restart_if_ended(self) -> None:
        """Restart the server on the same data if it has ended; raise Unavailable if that fails."""
        status, now = self.process.poll(), time.monotonic()
        if status is None:
            return
        self.end_times = [
            *(end_time for end_time in self.end_times if end_time > now - RESTART_WINDOW_S),
            now,
        ]
        if self.start is None or len(self.end_times) > MAX_RESTARTS:
            self.require_running()
        logger.warning("%s ended (status %s); starting it again. Its log: %s", self.name, status, self.log)
        self._restart()

    def _restart(self) -> None:
        assert self.start is not None  # noqa: S101  # the caller has checked
        for attempts_left in reversed(range(MAX_START_ATTEMPTS)):
            self.process = self.start()
            try:
                wait_until_ready(self)
                return
            except Unavailable:
                if not attempts_left:
                    raise
                time.sleep(_START_RETRY_PAUSE_S)


def wait_until_ready(server: Server) -> None:
    """Wait until the server answers; raise Unavailable if it ends instead."""
    readiness.wait_until(server.is_ready, server.name, check=server.require_running)


@contextmanager
def stop_after(server: Server, *signals: signal.Signals) -> Iterator[None]:
    """Stop the server at the end of the context, with each signal in turn and finally with SIGKILL."""
    try:
        yield
    finally:
        for signal_number in (*signals, signal.SIGKILL):
            server.process.send_signal(signal_number)
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(_STOP_TIMEOUT_S)
                break
