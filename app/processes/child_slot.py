"""A sandboxed child that is kept between jobs."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Timer

from app.config import Settings
from app.processes.sandboxed_child import SandboxedChild


class ChildSlot:
    """Holds at most one child of a program, and replaces it when it has ended or done enough jobs."""

    def __init__(self, program: str, environment: str = "") -> None:
        self.program = program
        self.environment = environment
        self.child: SandboxedChild | None = None
        self.job_count = 0
        """Jobs for which the child has been returned."""
        self.lock = Lock()
        """Held while talking to the child."""
        self._end_lock = Lock()
        self._idle_timer: Timer | None = None
        self._idle_until = 0.0
        # A child ends with the thread that started it, so this thread must live as long as the slot.
        self._start_executor = ThreadPoolExecutor(max_workers=1)

    def get(self, settings: Settings, *, memory_mb: int, warm: bool) -> SandboxedChild:
        """Return a running child. ``warm`` demands one that has loaded the compiled loops."""
        if self.child is not None and (
            warm > self.child.warm or self.child.is_outdated or not self.child.is_quiet()
        ):
            self.end()
        if self.child is None:
            self.child = self._start_executor.submit(
                SandboxedChild,
                self.program,
                setting=settings.sandbox,
                memory_mb=memory_mb,
                warm=warm,
                environment=self.environment,
            ).result()
        self.job_count += 1
        return self.child

    def release(self, settings: Settings) -> None:
        """Keep the child for the next job until it is idle for too long; end it if it has done enough jobs.

        A compromised child may have left a thread running, which only ending the child is sure to stop.
        """
        if self.job_count >= settings.scoring_recycle_after:
            self.end()
            return
        self._idle_until = time.monotonic() + settings.scoring_idle_s
        if self._idle_timer is None:
            self._start_idle_timer()

    def _start_idle_timer(self) -> None:
        """Start a timer. It is not replaced at each job, because that would start a thread for each."""
        self._idle_timer = Timer(max(0.0, self._idle_until - time.monotonic()), self._end_if_idle)
        self._idle_timer.daemon = True
        self._idle_timer.start()

    def _end_if_idle(self) -> None:
        with self.lock:
            self._idle_timer = None
            if time.monotonic() >= self._idle_until:
                self.end()
            else:
                self._start_idle_timer()

    def end(self) -> None:
        """End the child. Threads may call this at the same time."""
        with self._end_lock:
            child, self.child, self.job_count = self.child, None, 0
        if child is not None:
            child.end()
