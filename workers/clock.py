"""The clock process: advances rounds through their phases, sweeps for lost jobs and sends heartbeats.

It needs no worker and no queue, and does not load numpy. Child processes do the long work of a transition, so
that neither a backlog nor another round delays the next transition.

usage: python -m workers.clock
"""

import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import text

from anoncup.errors import DatabaseUnavailable, DomainError, Unavailable
from app.config import Settings, get_settings
from app.core import logs
from app.core.db.privileges import warn_if_overprivileged
from app.core.db.transaction import transaction
from app.core.processes import child_process, package_calls, runners
from app.core.storage import staging
from app.jobs import health, leases, queue
from app.lifecycle import contest_lifecycle
from app.notifications import phase_reminders

log = structlog.get_logger(__name__)

_LOCK_TIMEOUT = "1s"
"""Maximum time that a step waits for a locked competition. It is short because all others wait meanwhile."""
_CLEANUP_INTERVAL_S = 3600.0
_SHUTDOWN_TIMEOUT_S = 5
"""Seconds that the last tick may take after a signal; then SIGALRM kills the process and its children."""
_MAX_RETRY_DELAY_S = 60.0
"""Maximum seconds before a failed round is tried again. The delay doubles, starting with one tick."""
_MAX_CHILDREN = 3
"""Maximum number of children. Each loads the code that parses releases, and scoring needs memory as well."""


@dataclass(slots=True)
class TransitionPool:
    """The children that do the long work of transitions, by round.

    Use it from one thread: a child ends with the thread that started it.
    """

    children: dict[UUID, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def submit(self, round_id: UUID) -> None:
        """Start a child for the round.

        Does nothing if it has one or if too many run: the next tick tries again.
        """
        if round_id in self.children or len(self.children) >= _MAX_CHILDREN:
            return
        command = [sys.executable, "-m", "workers.lifecycle", str(round_id)]
        self.children[round_id] = child_process.start(command, parent_death_signal=signal.SIGKILL)

    def pop_failed(self) -> list[UUID]:
        """Remove all children that have ended, and return the rounds of those that failed."""
        ended = {round_id: child for round_id, child in self.children.items() if child.poll() is not None}
        self.children = {round_id: self.children[round_id] for round_id in self.children.keys() - ended}
        failed = {round_id: child for round_id, child in ended.items() if child.returncode != 0}
        for round_id, child in failed.items():
            log.error("turning_work_failed", round=str(round_id), status=child.returncode)
        return list(failed)

    def stop(self) -> None:
        for child in self.children.values():
            child.kill()
            child.wait()


@dataclass(slots=True)
class Clock:
    """Ticks about every second. Errors are logged and never end the loop."""

    settings: Settings
    pool: TransitionPool
    retries: dict[UUID, tuple[float, float]] = field(default_factory=dict)
    """When a round that failed is tried again, and the delay, which doubles at each failure."""
    unreadable_ids: frozenset[UUID] = frozenset()
    last_sweep: float = float("-inf")
    last_cleanup: float = float("-inf")
    current_problem: str | None = None

    def run(self, wait_for_shutdown: Callable[[float], bool]) -> None:
        """Tick until ``wait_for_shutdown``, which waits for the given seconds, returns True."""
        pause_s = 0.0
        while not wait_for_shutdown(pause_s):
            started = time.monotonic()
            self.tick()
            pause_s = max(0.0, started + self.settings.clock_every_s - time.monotonic())
        self.pool.stop()

    def tick(self) -> None:
        """Advance, sweep and beat. A lasting problem is logged when it begins and when it ends."""
        try:
            self.advance_due_rounds()
            self.sweep_if_due()
        except Exception as problem:
            self.log_problem(problem)
            return
        if self.current_problem is not None:
            log.info("clock_goes_again", after=self.current_problem)
            self.current_problem = None

    def log_problem(self, problem: Exception) -> None:
        fields = _describe_problem(problem)
        if fields["reason"] != self.current_problem:
            log.error("clock_hindered", **fields)
            self.current_problem = fields["reason"]

    def advance_due_rounds(self) -> None:
        """Advance every round that is due. One that fails does not hold up the others."""
        for round_id in self.pool.pop_failed():
            self.postpone(round_id)
        with transaction() as session:
            health.record_heartbeat(session, health.TRANSITION_TASK)
            due_work = contest_lifecycle.find_due_work(session)
        self.log_unreadable(due_work.unreadable)
        for round_id in due_work.due_ids:
            if round_id not in self.retries or self.retries[round_id][0] <= time.monotonic():
                self.try_advance(round_id)

    def try_advance(self, round_id: UUID) -> None:
        try:
            if _advance_round(round_id):
                self.pool.submit(round_id)
            else:
                self.retries.pop(round_id, None)
        except Exception as problem:
            if isinstance(problem, DatabaseUnavailable):
                raise
            log.error("turning_failed", round=str(round_id), **_describe_problem(problem))
            self.postpone(round_id)

    def postpone(self, round_id: UUID) -> None:
        _, last_delay_s = self.retries.get(round_id, (0.0, self.settings.clock_every_s / 2))
        delay_s = min(2 * last_delay_s, _MAX_RETRY_DELAY_S)
        self.retries[round_id] = time.monotonic() + delay_s, delay_s

    def log_unreadable(self, reasons: dict[UUID, str]) -> None:
        for round_id in reasons.keys() - self.unreadable_ids:
            log.error("competition_unreadable", round=str(round_id), reason=reasons[round_id])
        self.unreadable_ids = frozenset(reasons)

    def sweep_if_due(self) -> None:
        if time.monotonic() >= self.last_sweep + self.settings.sweep_every_s:
            sweep()
            self.last_sweep = time.monotonic()
        if time.monotonic() >= self.last_cleanup + _CLEANUP_INTERVAL_S:
            self.last_cleanup = time.monotonic()
            remove_stale_files()


def _describe_problem(problem: Exception) -> dict[str, Any]:
    """Return log fields: the reason, and the traceback of an unexpected error."""
    if isinstance(problem, DomainError):
        return {"reason": str(problem)}
    return {"reason": type(problem).__qualname__, "exc_info": problem}


def _advance_round(round_id: UUID) -> bool:
    """Take every quick step that is due; return True if long work must be done before the next one.

    Running it concurrently or killing it at any point does no harm.
    """
    has_advanced = True
    while has_advanced:
        with transaction() as session:
            session.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
            has_advanced = contest_lifecycle.take_next_step(session, round_id)
    with transaction() as session:
        return contest_lifecycle.has_long_work(session, round_id)


def sweep() -> None:
    """Send messages again for lost jobs. Concurrent runs do no harm."""
    waiting_messages = queue.count_messages_by_task()
    if waiting_messages is not None:
        with transaction() as session:
            requeued_counts = leases.requeue_unattended(session, waiting_messages=waiting_messages)
        if requeued_counts:
            log.info("asked_again", rings=requeued_counts)
    with transaction() as session:
        phase_reminders.add_phase_events(session)
        health.record_heartbeat(session, health.SWEEP_TASK)


def remove_stale_files() -> None:
    """Remove old staged files. A failure is logged and tried again an interval later."""
    try:
        removed = staging.remove_expired()
    except Unavailable as problem:
        log.warning("not_tidied", reason=str(problem))
        return
    if removed:
        log.info("tidied", files=removed)


def _install_shutdown_handlers() -> Callable[[float], bool]:
    """Make SIGINT, SIGTERM and SIGHUP end the clock after the current tick, and return the wait function.

    The handlers raise no exception, because code that ignores exceptions would lose the request. A tick that
    hangs, for example on a stalled database, is killed by SIGALRM.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno())
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) is not signal.SIG_IGN:  # ignored under nohup
            signal.signal(signal_number, lambda *_: signal.alarm(_SHUTDOWN_TIMEOUT_S))

    def wait_for_shutdown(seconds: float, _keep_open: socket.socket = sender) -> bool:
        return bool(select.select([receiver], [], [], seconds)[0])

    return wait_for_shutdown


def main() -> None:
    logs.configure()
    warn_if_overprivileged()
    settings = get_settings()
    wait_for_shutdown = _install_shutdown_handlers()
    package_calls.enable()
    log.info("clock_starts", every_s=settings.clock_every_s, sweep_every_s=settings.sweep_every_s)
    runners.announce_sandbox(settings.sandbox)  # the clock's children read uploaded files too
    Clock(settings, TransitionPool()).run(wait_for_shutdown)


if __name__ == "__main__":
    main()
