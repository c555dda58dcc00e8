"""Run the web server and the worker as children of one command: restart them, and leave none behind."""

import json
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
from typing import Protocol
from urllib.parse import urlsplit

from anoncup.errors import Unavailable
from anoncup.messages import Message
from app.processes import child_process, readiness

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
"""Seconds before a program that ended is started again; they double while it keeps ending."""

STOPPING_S = 5.0
"""By how much longer than its programs a supervisor below another one may take to end."""

STEADY_AFTER = 30.0
"""A program that ran this many seconds starts from the first pause again."""

DEATHS = 5
"""A service whose program has ended this often before it was ready does not come up."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run. ``env`` is added to the environment; without ``log`` the output is inherited."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    orphaned: signal.Signals = signal.SIGTERM
    """What it gets when the supervisor is gone."""
    grace: float = 10.0
    """Seconds between SIGTERM and SIGKILL."""


def web_program(
    *, host: str, port: int, env: Mapping[str, str], log: Path | None = None, processes: int = 1
) -> Program:
    """The web server, in so many processes."""
    command = [sys.executable, "-m", "app.cli.web_server", host, str(port)]
    number = {"ANONCUP_WEB_PROCESSES": str(processes)}
    return Program(name="web", command=command, env={**env, **number}, log=log)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Processes for some kinds of work. ``node``: Celery's name of it."""

    name: str
    queues: tuple[str, ...]
    node: str
    niceness: int


POOLS = (
    Pool(name="worker", queues=("scores", "guesses"), node="celery", niceness=10),
    # Of its own, for a report takes minutes: in another's it would stand before scores.
    Pool(name="reports", queues=("reports",), node="reports", niceness=15),
)
QUEUES = {"scores": "celery", "guesses": "guesses", "reports": "reports"}
"""Kinds of work, and the queues of their messages."""


def worker_programs(
    *,
    queues: Collection[str] = tuple(QUEUES),
    jobs: int = 1,
    env: Mapping[str, str] = MappingProxyType({}),
    logs: Path | None = None,
    grace: float = 10.0,
    name: str = "",
) -> list[Program]:
    """A Celery worker for each pool that serves one of the ``queues``.

    ``jobs``: pieces of work at once; of reports, unless they are asked for alone, one. ``name`` tells the
    workers of one host apart.
    """
    programs = []
    for pool in POOLS:
        served = [QUEUES[kind] for kind in pool.queues if kind in queues]
        if not served:
            continue
        alone = set(queues) <= set(pool.queues)
        at_once = jobs if alone or pool is POOLS[0] else 1
        node = f"{pool.node}-{name}" if name else pool.node
        command = [sys.executable, "-m", "workers.pool", "--hostname", f"{node}@%h"]
        command += ["--concurrency", str(at_once), "--queues", ",".join(served)]
        programs.append(
            Program(
                name=pool.name,
                command=command,
                env={"ANONCUP_NICENESS": str(pool.niceness), **env},
                log=logs and logs / f"{pool.name}.log",
                # A warm shutdown waits for the running score, a cold one for the broker, which is gone too;
                # with nobody left to wait, end now: it is delivered again.
                orphaned=signal.SIGKILL,
                grace=grace,
            )
        )
    return programs


CLOCKS_DATABASE = "ANONCUP_CLOCK_DATABASE_URL"


def forked_program(
    *,
    queues: Collection[str] = tuple(QUEUES),
    jobs: int,
    env: Mapping[str, str] = MappingProxyType({}),
    logs: Path | None = None,
    grace: float = 10.0,
    name: str = "",
    clock: str = "",
) -> Program:
    """The workers of ``worker_programs`` as one program that shares memory; and the clock, if ``clock`` says
    how it reaches the database.

    It is told in the environment, for everybody sees a command.
    """
    command = [sys.executable, "-m", "workers.forked", "--queues", ",".join(queues), "--jobs", str(jobs)]
    command += ["--grace", str(grace), f"--name={name}"]
    command += ["--logs", str(logs)] if logs else []
    command += ["--clock"] if clock else []
    return Program(
        name="workers",
        command=command,
        env={**env, **({CLOCKS_DATABASE: clock} if clock else {})},
        log=logs and logs / "workers.log",
        orphaned=signal.SIGKILL,  # each of them then gets what is its own
        grace=grace + STOPPING_S,
    )


def scheduler_program(*, env: Mapping[str, str], log: Path | None = None) -> Program:
    """The clock; one is enough, and two do no harm."""
    command = [sys.executable, "-m", "workers.clock"]
    # Asked once to end, and only once, a clock that is just then deaf would go on alone for ever.
    return Program(name="scheduler", command=command, env=env, log=log, orphaned=signal.SIGKILL)


class Process(Protocol):
    """What is asked of a ``subprocess.Popen``; it leads a process group."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def terminate(self) -> None: ...


Start = Callable[[Program], Process]


@dataclass(kw_only=True)
class _Child:
    program: Program
    process: Process
    started: float
    ended: float | None = None
    pause: float = 0.0
    deaths: int = 0


class Supervisor:
    """Keeps programs running between ``start`` and ``stop``; all of it in one thread."""

    def __init__(self, *, also: Callable[[], None] = lambda: None, start: Start | None = None) -> None:
        """``also`` is called at every check: ``Services.check`` ends it all when a server is gone.

        ``start``: how, if not as a program of its own.
        """
        self._children: dict[str, _Child] = {}
        self._also = also
        self._start = start or _started

    def start(self, program: Program) -> None:
        self._children[program.name] = _Child(
            program=program, process=self._start(program), started=time.monotonic()
        )

    def pids(self) -> dict[str, int]:
        """The process number of each program."""
        return {name: child.process.pid for name, child in self._children.items()}

    def check(self) -> None:
        """Restart what has ended and whose pause is over. Call it at least every second."""
        self._also()
        for child in self._children.values():
            self._check(child)

    def check_start(self) -> None:
        """The same, while none of them is known to serve; Unavailable if one ends again and again."""
        self.check()
        for child in self._children.values():
            if child.deaths >= DEATHS:
                raise Unavailable(Message(_never_came(child)))

    def _check(self, child: _Child) -> None:
        now = time.monotonic()
        if child.ended is None:
            if child.process.poll() is not None:
                child.ended, child.deaths = now, child.deaths + 1
                child.pause = _next_pause(child, now)
                _end_group(child.process)
                logger.warning("%s", _ending(child))
        elif now >= child.ended + child.pause:
            child.process, child.started, child.ended = self._start(child.program), now, None

    def wait(self) -> None:
        """Keep checking until a signal (``owned_signals``) or an error ends it."""
        while True:
            self.check()
            time.sleep(0.1)

    def stop(self) -> None:
        """End every program: SIGTERM, then SIGKILL for it and all that it started."""
        running = [child for child in self._children.values() if child.ended is None]
        for child in running:
            child.process.terminate()
        start = time.monotonic()
        for child in running:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, start + child.program.grace - time.monotonic()))
            _end_group(child.process)
        self._children.clear()


@contextmanager
def supervised(
    programs: Sequence[Program], *, also: Callable[[], None] = lambda: None, start: Start | None = None
) -> Iterator[Supervisor]:
    """The programs run as long as the context lasts. Enter it from the main thread."""
    supervisor = Supervisor(also=also, start=start)
    try:
        for program in programs:
            supervisor.start(program)
        yield supervisor
    finally:
        supervisor.stop()


@contextmanager
def owned_signals() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the body, as KeyboardInterrupt, and the context swallows that.

    Only the first does: a second Ctrl-C must not break off the stopping of children and servers. Put it
    outermost, in the main thread.
    """
    asked = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise KeyboardInterrupt

    owned = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup, or in a script's background
    ]
    before = {number: signal.signal(number, stop) for number in owned}
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_port_is_free(host: str, port: int) -> None:
    """Raise Unavailable when the web server could not listen there."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # As the web server does: connections of the last run that are still closing do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise Unavailable(
            "Cannot listen on {host} port {port}: {reason}. Give another port (PORT=…, --port).",
            host=host,
            port=port,
            reason=error.strerror,
        ) from error


def wait_until_healthy(url: str, *, check: Callable[[], None]) -> None:
    """Return once ``url`` answers 200; ``check`` (``Supervisor.check_start``) raises if it never will."""
    health = _Health(url)
    readiness.until(health.is_good, health, check=check)


@dataclass(slots=True)
class _Health:
    """What a server says of itself; as text, what is still missing."""

    url: str
    missing: str = "the web server"

    def is_good(self) -> bool:
        try:
            status, content = _got(self.url)
        except (OSError, HTTPException):
            return False
        self.missing = f"the web server to be ready: {_said(status, content)}"
        return status == 200

    def __str__(self) -> str:
        return self.missing


def _got(url: str) -> tuple[int, bytes]:
    """Status and body; a whole client would stay in the memory of the supervisor, and obey proxies."""
    place = urlsplit(url)
    with closing(HTTPConnection(place.hostname or "", place.port, timeout=10.0)) as connection:
        connection.request("GET", place.path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def _said(status: int, content: bytes) -> str:
    try:
        return str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):  # no problem of ours
        return str(status)


def run(program: Program, *, check: Callable[[], None] = lambda: None, speaks: bool = False) -> None:
    """Run a program to its end, however long that takes; ``speaks``: it says itself how far it is.

    Where that is not a good one it has said why, and SystemExit passes on its status.
    """
    process = _started(program)
    try:
        said = None if speaks else program.name
        readiness.until(lambda: process.poll() is not None, said, check=check)
    finally:
        _end_group(process)
    if process.returncode:
        raise SystemExit(process.returncode)


def _started(program: Program) -> subprocess.Popen[bytes]:
    return child_process.start(
        program.command, log=program.log, end_with=program.orphaned, env=os.environ | program.env
    )


def _next_pause(child: _Child, now: float) -> float:
    if child.pause == 0 or now > child.started + STEADY_AFTER:
        return FIRST_PAUSE
    return min(2 * child.pause, LONGEST_PAUSE)


def _ending(child: _Child) -> str:
    where = f" Its log: {child.program.log}" if child.program.log else ""
    status = child.process.returncode
    return f"{child.program.name} ended (status {status}); starting it again in {child.pause:.1f} s.{where}"


def _never_came(child: _Child) -> str:
    log = child.program.log
    said = f" End of {log}:\n{child_process.tail(log)}" if log else ""
    return f"{child.program.name} has ended {child.deaths} times, before it was ready.{said}"


def _end_group(process: Process) -> None:
    """Kill what is left of the program: a worker that was killed leaves its pool behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
