"""The template: it forks children, hands jobs to them, and ends them at their limits.

It reads no job and no result. It has one thread, so that forking is safe, and ends with its caller.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from anoncup.runner import child
from anoncup.runner.child import Confinement
from anoncup.runner.protocol import MAX_MESSAGE_BYTES, MEMORY_STATUS, ORDER, VALID, WALL_FACTOR, Order

_MIN_CHECK_S = 0.02
_MAX_DESCRIPTORS = 8


@dataclass(slots=True)
class _Run:
    """A job that a child is doing. ``report`` is the socket on which its caller waits for the end."""

    report: socket.socket
    max_cpu_s: float
    deadline: float
    end: str = "killed"


@dataclass(slots=True, eq=False)
class _ForkedChild:
    pid: int
    pidfd: int
    socket: socket.socket
    order: Order
    jobs_left: int
    run: _Run | None = None
    idle_until: float = 0.0

    def can_do(self, order: Order) -> bool:
        return self.run is None and self.jobs_left > 0 and self.order == order

    def read_cpu_s(self) -> float:
        # The clock of another process, see clock_getcpuclockid(3).
        return time.clock_gettime(~self.pid << 3 | 2)

    def find_time_left(self) -> float:
        """Return the seconds after which a limit may have been reached."""
        if self.run is None:
            return self.idle_until - time.monotonic()
        return min(self.run.max_cpu_s - self.read_cpu_s(), self.run.deadline - time.monotonic())

    def kill(self) -> None:
        """End the child. A job that it is doing has exceeded its time."""
        self.jobs_left = 0
        if self.run is not None:
            self.run.end = "time"
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


@dataclass
class Template:
    """``caller`` is the socket on which jobs arrive."""

    caller: socket.socket
    confinement: Confinement
    jobs_per_child: int
    idle_s: float

    def __post_init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.children: list[_ForkedChild] = []
        self.last_used = time.monotonic()

    def serve(self, caller_pid: int) -> None:
        """Serve until the caller ends or sends no job for ``idle_s``. The kernel then ends all children."""
        self.selector.register(self.caller, selectors.EVENT_READ, self._receive_job)
        self.selector.register(os.pidfd_open(caller_pid), selectors.EVENT_READ, sys.exit)
        while self.children or time.monotonic() < self.last_used + self.idle_s:
            events = self.selector.select(self._find_pause())
            # Jobs last, so that the child whose result was accepted before them is free.
            for key, _ in sorted(events, key=lambda event: event[0].fileobj is self.caller):
                key.data()
            for forked in self.children:
                if forked.find_time_left() <= 0:
                    forked.kill()

    def _find_pause(self) -> float:
        pauses = [forked.find_time_left() for forked in self.children]
        return max(_MIN_CHECK_S, min(pauses, default=self.last_used + self.idle_s - time.monotonic()))

    def _receive_job(self) -> None:
        content, descriptors, _, _ = socket.recv_fds(self.caller, MAX_MESSAGE_BYTES, _MAX_DESCRIPTORS)
        if not content:
            sys.exit()
        report = socket.socket(fileno=descriptors[0])
        try:
            self._start(ORDER.validate_json(content), report, descriptors[1:])
        except OSError:  # there is no memory for another process, or an idle child has just been killed
            with report, suppress(OSError):
                report.send(b"killed")
        for descriptor in descriptors[1:]:
            os.close(descriptor)

    def _start(self, order: Order, report: socket.socket, descriptors: Sequence[int]) -> None:
        worker = next((kept for kept in self.children if kept.can_do(order)), None) or self._fork(order)
        try:
            socket.send_fds(worker.socket, [b"job"], descriptors)
        except OSError:
            worker.kill()
            raise
        limit_s = order.limits.cpu_s
        worker.run = _Run(
            report, worker.read_cpu_s() + limit_s, deadline=time.monotonic() + WALL_FACTOR * limit_s
        )
        self.selector.register(report, selectors.EVENT_READ, partial(self._receive_reply, worker, worker.run))

    def _fork(self, order: Order) -> _ForkedChild:
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError("a library has started a thread")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        template_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            child.run(theirs, template_pid, order.limits, self.confinement)
        theirs.close()
        jobs = 1 if order.is_single else self.jobs_per_child
        forked = _ForkedChild(pid, os.pidfd_open(pid), ours, order, jobs)
        self.children.append(forked)
        self.selector.register(forked.pidfd, selectors.EVENT_READ, partial(self._bury, forked))
        return forked

    def _receive_reply(self, worker: _ForkedChild, run: _Run) -> None:
        """Keep a child whose result was valid. End it if not, or if the caller has left."""
        if worker.run is not run:
            return
        try:
            is_valid = run.report.recv(MAX_MESSAGE_BYTES) == VALID
        except OSError:  # the caller has left without reading a report
            is_valid = False
        self._close_run(worker, run)
        worker.jobs_left -= 1
        worker.idle_until = time.monotonic() + self.idle_s
        if not is_valid or not worker.jobs_left:
            worker.kill()

    def _close_run(self, worker: _ForkedChild, run: _Run) -> None:
        worker.run = None
        self.last_used = time.monotonic()
        self.selector.unregister(run.report)
        run.report.close()

    def _bury(self, worker: _ForkedChild) -> None:
        """Remove a child that has ended, and report that its job has."""
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        self.children.remove(worker)
        self.selector.unregister(worker.pidfd)
        if run := worker.run:
            is_out_of_memory = status == MEMORY_STATUS and run.end == "killed"
            with suppress(OSError):  # the caller may not wait any more
                run.report.send(b"memory" if is_out_of_memory else run.end.encode())
            self._close_run(worker, run)
        worker.socket.close()
        os.close(worker.pidfd)
