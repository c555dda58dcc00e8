"""Run programs as children of one command. Restart those that end, and leave none running."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import NoReturn
from urllib.parse import urlsplit

from anoncup.errors import Unavailable
from app.core.processes import child_process
from app.core.worker_queues import QUEUE_BY_KIND

MIN_RESTART_PAUSE_S = 0.2
MAX_RESTART_PAUSE_S = 10.0
"""First and longest pause in seconds before a restart. It doubles while the program keeps ending."""

STEADY_UPTIME_S = 30.0
"""Seconds after which a program counts as steady: its next restart begins with the shortest pause."""

_MAX_START_FAILURES = 5
"""The start of a service fails once one of its programs has ended this often."""

LOG_INTERVAL_S = 10.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to run. ``env`` is added to the environment; without ``log`` the output is inherited."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    orphan_signal: signal.Signals = signal.SIGTERM
    """Signal that it gets when the supervisor has ended."""
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 10.0
    """Seconds between ``stop_signal`` and SIGKILL."""
    prepare: Callable[[], None] = lambda: None
    """Called before each start."""
    hide_root: bool = False
    cwd: Path | None = None
    pass_fds: tuple[int, ...] = ()


def build_web_program(
    *, host: str, port: int, env: Mapping[str, str], log: Path | None = None, process_count: int = 1
) -> Program:
    """Return the web server's program."""
    command = [sys.executable, "-m", "app.operations.web_server", host, str(port)]
    variables = {"ANONCUP_WEB_PROCESSES": str(process_count)}
    return Program(name="web", command=command, env={**env, **variables}, log=log)


def build_worker_program(
    *,
    kinds: Collection[str] = tuple(QUEUE_BY_KIND),
    jobs: int = 1,
    env: Mapping[str, str] = MappingProxyType({}),
    log: Path | None = None,
    name: str,
) -> Program:
    """Return the program of a Celery worker for these ``kinds`` of jobs.

    ``jobs`` is the number of concurrent scores and guesses. Reports have one thread more, since only one is
    made at a time. ``name`` distinguishes the workers of one host.
    """
    queues = [queue for kind, queue in QUEUE_BY_KIND.items() if kind in kinds]
    concurrency = (jobs if set(kinds) - {"reports"} else 0) + ("reports" in kinds)
    # quiet: no banner, because every line of the log is JSON.
    command = [sys.executable, "-m", "celery", "--app", "workers.main", "--quiet", "worker"]
    # Threads are enough, since they wait for the sandbox and the database.
    command += ["--hostname", f"celery-{name}@%h", "--pool", "threads", "--concurrency", str(concurrency)]
    command += ["--queues", ",".join(queues), "--loglevel", "INFO"]
    # Workers need not talk to each other: the database knows which job is next.
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    # SIGKILL, because a warm shutdown waits for running jobs, and a cold one for the broker, which has ended
    # as well. The jobs are delivered again.
    return Program(name="worker", command=command, env=env, log=log, orphan_signal=signal.SIGKILL)


def build_clock_program(*, env: Mapping[str, str], log: Path | None = None) -> Program:
    """Return the clock's program. One clock is enough, and two do no harm."""
    command = [sys.executable, "-m", "workers.clock"]
    # SIGKILL, because the signal comes only once: a clock that missed it would run on for ever.
    # "scheduler" is the name of its command and of its log.
    return Program(name="scheduler", command=command, env=env, log=log, orphan_signal=signal.SIGKILL)


def build_delivery_program(*, env: Mapping[str, str], log: Path | None = None) -> Program:
    """Return the program that sends notifications and mail. It can be killed at any time."""
    command = [sys.executable, "-m", "workers.deliver"]
    return Program(name="deliveries", command=command, env=env, log=log, orphan_signal=signal.SIGKILL)


@dataclass(kw_only=True)
class _Child:
    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    ended_at: float | None = None
    restart_pause_s: float = 0.0
    end_count: int = 0


class Supervisor:
    """Keeps programs running between ``start`` and ``stop``. Use it from one thread."""

    def __init__(self, *, on_check: Callable[[], None] = lambda: None) -> None:
        """``on_check`` runs at each check and may raise."""
        self._children: dict[str, _Child] = {}
        self._on_check = on_check

    def start(self, program: Program) -> None:
        self._children[program.name] = _Child(
            program=program, process=_start_process(program), started_at=time.monotonic()
        )

    def get_pids(self) -> dict[str, int]:
        """Return the process id of each program."""
        return {name: child.process.pid for name, child in self._children.items()}

    def restart_ended(self) -> None:
        """Restart programs that have ended and whose pause is over. Call it at least every second."""
        self._on_check()
        for child in self._children.values():
            self._restart_if_ended(child)

    def check_startup(self) -> None:
        """Check programs that are still starting; raise Unavailable if one keeps ending."""
        self.restart_ended()
        for child in self._children.values():
            status = child.process.poll()
            if status == child_process.NAMESPACE_REFUSED or child.end_count >= _MAX_START_FAILURES:
                raise _build_start_error(child.program, status)

    def _restart_if_ended(self, child: _Child) -> None:
        now = time.monotonic()
        if child.ended_at is None:
            if child.process.poll() is not None:
                child.ended_at = now
                child.end_count += 1
                child.restart_pause_s = _compute_next_pause(child, now)
                _end_group(child.process)
                logger.warning("%s", _describe_end(child))
        elif now >= child.ended_at + child.restart_pause_s:
            child.process = _start_process(child.program)
            child.started_at = now
            child.ended_at = None

    def wait(self) -> None:
        """Keep checking until a signal (``stop_on_signals``) or an error ends it."""
        while True:
            self.restart_ended()
            time.sleep(0.1)

    def stop(self) -> None:
        """End every program: its signal first, then SIGKILL for its whole process group."""
        running = [child for child in self._children.values() if child.ended_at is None]
        for child in running:
            child.process.send_signal(child.program.stop_signal)
        start = time.monotonic()
        for child in running:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, start + child.program.grace_s - time.monotonic()))
            _end_group(child.process)
        self._children.clear()


@contextmanager
def supervise(
    programs: Sequence[Program], *, on_check: Callable[[], None] = lambda: None
) -> Iterator[Supervisor]:
    """Run the programs as long as the context lasts. Enter it from the main thread."""
    supervisor = Supervisor(on_check=on_check)
    try:
        for program in programs:
            supervisor.start(program)
        yield supervisor
    finally:
        supervisor.stop()


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """End the context with KeyboardInterrupt at SIGINT, SIGTERM or SIGHUP, and suppress that exception.

    Only the first signal counts, because a second Ctrl-C must not interrupt the stopping of children and
    servers. Use it as the outermost context, in the main thread.
    """
    is_stopping = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_stopping
        if not is_stopping:
            is_stopping = True
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup or in the background of a script
            signal.signal(number, stop)
    with suppress(KeyboardInterrupt):
        yield


def check_port_is_free(host: str, port: int) -> None:
    """Raise Unavailable if the web server could not listen on this port."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # Like the web server, ignore connections of the last run that are still closing.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise Unavailable(
            "Cannot listen on {host} port {port}: {reason}. Give another port (PORT=…, --port).",
            host=host,
            port=port,
            reason=error.strerror,
        ) from error


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
    started_at = logged_at = time.monotonic()
    while not is_done():
        check()
        now = time.monotonic()
        if subject is not None and now - logged_at >= LOG_INTERVAL_S:
            logger.info("waiting for %s (%.0f s)", subject, now - started_at)
            logged_at = now
        time.sleep(interval_s)


def wait_until_healthy(url: str, *, check: Callable[[], None]) -> None:
    """Wait until ``url`` answers 200, or until ``check``, such as ``Supervisor.check_startup``, raises."""
    wait_until(lambda: _is_healthy(url), "the web server", check=check)


def _is_healthy(url: str) -> bool:
    """Return whether the answer is 200. A client library would take more memory, and use proxies."""
    parts = urlsplit(url)
    try:
        with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=10.0)) as connection:
            connection.request("GET", parts.path)
            return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False


def replace_process(program: Program) -> NoReturn:
    os.environ.update(program.env)
    os.execv(program.command[0], list(program.command))  # noqa: S606  # no shell is wanted


def run(
    program: Program, *, check: Callable[[], None] = lambda: None, reports_progress: bool = False
) -> None:
    """Run a program to its end, without a time limit.

    With ``reports_progress``, the program prints its own progress, and nothing is logged here. If it fails,
    Unavailable is raised with the end of its log. Without a log it has printed the reason; SystemExit is then
    raised with its status.
    """
    process = _start_process(program)
    try:
        subject = None if reports_progress else program.name
        wait_until(lambda: process.poll() is not None, subject, check=check)
    finally:
        _end_group(process)
    if process.returncode and program.log:
        raise _build_start_error(program, process.returncode)
    if process.returncode:
        raise SystemExit(process.returncode)


def _start_process(program: Program) -> subprocess.Popen[bytes]:
    program.prepare()
    return child_process.start(
        program.command,
        log=program.log,
        parent_death_signal=program.orphan_signal,
        env=os.environ | program.env,
        hide_root=program.hide_root,
        cwd=program.cwd,
        pass_fds=program.pass_fds,
    )


def _compute_next_pause(child: _Child, now: float) -> float:
    if child.restart_pause_s == 0 or now > child.started_at + STEADY_UPTIME_S:
        return MIN_RESTART_PAUSE_S
    return min(2 * child.restart_pause_s, MAX_RESTART_PAUSE_S)


def _describe_end(child: _Child) -> str:
    log_hint = f" Its log: {child.program.log}" if child.program.log else ""
    status, pause_s = child.process.returncode, child.restart_pause_s
    return f"{child.program.name} ended (status {status}); starting it again in {pause_s:.1f} s.{log_hint}"


def _build_start_error(program: Program, status: int | None) -> Unavailable:
    if status == child_process.NAMESPACE_REFUSED:
        return Unavailable(
            "{name} does not run as root, and this system does not let root take another "
            "user's number. Run as an ordinary user, or set DATABASE_URL and REDIS_URL to "
            "servers of your own.",
            name=program.name,
        )
    return Unavailable(
        "{name} ended (status {status}) before it was ready. End of {log}:\n{tail}",
        name=program.name,
        status=status,
        log=str(program.log),
        tail=child_process.read_tail(program.log) if program.log else "",
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what remains of the program's group: a killed worker leaves its pool behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
