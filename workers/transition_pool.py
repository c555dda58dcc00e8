"""The clock's children: one process a competition that has long work, a few at once."""

import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from app.processes import child_process

log = structlog.get_logger(__name__)

MOST = 3
"""Children at once: each has read all that parses releases, and there is scoring beside it."""
LIMIT_S = 1800.0
"""A child that takes longer hangs. What it has written stays written."""


@dataclass(slots=True)
class Crew:
    """To be used by one thread: a child ends with the thread that started it."""

    running: dict[UUID, tuple[subprocess.Popen[bytes], float]] = field(default_factory=dict)

    def send(self, competition_id: UUID) -> None:
        """Start the competition's child, unless it has one or too many run: the next round asks again."""
        if competition_id in self.running or len(self.running) >= MOST:
            return
        command = [sys.executable, "-m", "workers.lifecycle", str(competition_id)]
        process = child_process.start(command, end_with=signal.SIGKILL)
        self.running[competition_id] = (process, time.monotonic() + LIMIT_S)

    def failed(self) -> list[UUID]:
        """Competitions whose child has ended without success since it was last asked."""
        ended = [one for one, (process, limit) in self.running.items() if has_ended(process, limit)]
        statuses = {one: self.running.pop(one)[0].returncode for one in ended}
        found = [one for one, status in statuses.items() if status != 0]
        for one in found:
            log.error("turning_work_failed", competition=str(one), status=statuses[one])
        return found

    def dismiss(self) -> None:
        for process, _ in self.running.values():
            end(process)
        self.running.clear()


def has_ended(process: subprocess.Popen[bytes], limit: float) -> bool:
    if process.poll() is None and time.monotonic() > limit:
        end(process)
    return process.poll() is not None


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
