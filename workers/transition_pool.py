"""Child processes of the clock: one for each competition with long work, and at most a few at a time."""

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
"""Maximum number of children. Each loads the code that parses releases, and scoring needs memory as well."""
_CHILD_TIMEOUT_S = 1800.0
"""A child that takes longer counts as hanging and is killed. Files that it has written stay."""


@dataclass(slots=True)
class TransitionPool:
    """The running children by competition.

    Use it from one thread: a child ends with the thread that started it.
    """

    children: dict[UUID, tuple[subprocess.Popen[bytes], float]] = field(default_factory=dict)

    def submit(self, competition_id: UUID) -> None:
        """Start a child for the competition.

        Does nothing if it has one or if too many run: the next round tries again.
        """
        if competition_id in self.children or len(self.children) >= _MAX_CHILDREN:
            return
        command = [sys.executable, "-m", "workers.lifecycle", str(competition_id)]
        process = child_process.start(command, parent_death_signal=signal.SIGKILL)
        self.children[competition_id] = (process, time.monotonic() + _CHILD_TIMEOUT_S)

    def pop_failed(self) -> list[UUID]:
        """Remove all children that have ended, and return the competitions of those that failed."""
        ended_ids = [
            competition_id
            for competition_id, (process, deadline) in self.children.items()
            if _has_ended(process, deadline)
        ]
        statuses = {
            competition_id: self.children.pop(competition_id)[0].returncode for competition_id in ended_ids
        }
        failed_ids = [competition_id for competition_id, status in statuses.items() if status != 0]
        for competition_id in failed_ids:
            log.error("turning_work_failed", competition=str(competition_id), status=statuses[competition_id])
        return failed_ids

    def stop(self) -> None:
        for process, _ in self.children.values():
            kill(process)
        self.children.clear()


def _has_ended(process: subprocess.Popen[bytes], deadline: float) -> bool:
    if process.poll() is None and time.monotonic() > deadline:
        kill(process)
    return process.poll() is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
