"""Child processes of the clock: one for each competition with long work, a few at once."""

import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from app.processes import child_process

log = structlog.get_logger(__name__)

_MAX_CHILDREN = 3
"""Children at once. Each loads the code that parses releases, and scoring needs memory at the same time."""
_CHILD_TIMEOUT_S = 1800.0
"""A child that takes longer counts as hanging and is killed. Files that it has written stay."""


@dataclass(slots=True)
class TransitionPool:
    """The running children by competition.

    Use it from one thread: a child ends with the thread that started it.
    """

    running: dict[UUID, tuple[subprocess.Popen[bytes], float]] = field(default_factory=dict)

    def submit(self, competition_id: UUID) -> None:
        """Start a child for the competition.

        Does nothing if it has one or if too many run: the next round tries again.
        """
        if competition_id in self.running or len(self.running) >= _MAX_CHILDREN:
            return
        command = [sys.executable, "-m", "workers.lifecycle", str(competition_id)]
        process = child_process.start(command, end_with=signal.SIGKILL)
        self.running[competition_id] = (process, time.monotonic() + _CHILD_TIMEOUT_S)

    def pop_failed(self) -> list[UUID]:
        """Remove all children that have ended, and return the competitions of those that failed."""
        ended_ids = [
            competition_id
            for competition_id, (process, deadline) in self.running.items()
            if _has_ended(process, deadline)
        ]
        statuses = {
            competition_id: self.running.pop(competition_id)[0].returncode for competition_id in ended_ids
        }
        failed_ids = [competition_id for competition_id, status in statuses.items() if status != 0]
        for competition_id in failed_ids:
            log.error("turning_work_failed", competition=str(competition_id), status=statuses[competition_id])
        return failed_ids

    def stop(self) -> None:
        for process, _ in self.running.values():
            kill(process)
        self.running.clear()


def _has_ended(process: subprocess.Popen[bytes], deadline: float) -> bool:
    if process.poll() is None and time.monotonic() > deadline:
        kill(process)
    return process.poll() is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
