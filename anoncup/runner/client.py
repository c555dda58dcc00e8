"""The caller's side: start a template, send it jobs, and check what comes back."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from threading import Lock, Thread

from anoncup.errors import DomainError
from anoncup.runner import memory_files
from anoncup.runner.answers import read_answer, write_request
from anoncup.runner.jobs import AnyJob, Job, ResultT
from anoncup.runner.protocol import MAX_MESSAGE_BYTES, VALID, WALL_FACTOR, JobLimits, Order, RunnerError
from anoncup.runner.sandbox import Sandbox

_HEARTBEAT_S = 1.0
_SLACK_S = 30.0
"""Seconds after the last limit at which a template that does not answer counts as hanging."""
_MAX_RESTARTS = 3
"""Restarts for a job whose template has ended idle. One that always does is not idle."""
_MAX_NAME_LENGTH, _MAX_STEPS = 100, 10_000
_INHERITED_VARIABLES = ("HOME", "LD_LIBRARY_PATH", "NUMBA_CACHE_DIR", "PYTHONPATH")
"""Variables that interpreters need to start and to find packages. No others are passed on."""
LIBRARY_VARIABLES = {
    # One thread for each child: jobs are done in parallel instead.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    # Keep Arrow from starting a thread at import, which would stay outside the sandbox.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


class ChildDeath(RunnerError):
    """The process ended without a result, perhaps because memory ran out. It is worth another try."""


class RunnerUnavailable(RunnerError):
    """The template did not start; the message says why."""


class LimitExcess(RunnerError):
    """The job took more than a limit; ``kind`` is "memory" or "time"."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class InvalidAnswer(RunnerError):
    """The child gave an answer that no job gives, so it may be compromised."""


@dataclass(frozen=True, slots=True)
class ProgressStep:
    number: int
    total: int
    name: str


NO_STEP = ProgressStep(0, 0, "")
"""What is reported until a child has begun its first step."""


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """``python`` is the interpreter; ``variables`` are for its libraries and are not secret.

    Without ``preloads`` it starts fast, and each job imports what it needs.
    """

    python: str
    sandbox: Sandbox
    jobs_per_child: int = 20
    idle_s: float = 60.0
    start_limit_s: float = 120.0
    variables: Mapping[str, str] = field(default_factory=dict)
    preloads: bool = True


class Runner:
    """A template and its children. Threads may use it at the same time; it starts with the first job."""

    def __init__(self, options: RunnerOptions) -> None:
        self.options = options
        self.lock = Lock()
        self.template: _TemplateProcess | None = None
        self.failure: RunnerUnavailable | None = None
        self.retry_at = 0.0

    def run(
        self,
        job: Job[ResultT],
        limits: JobLimits,
        *,
        on_step: Callable[[ProgressStep], None] = lambda _: None,
    ) -> ResultT:
        """Do a job and return its result.

        ``on_step`` is called at each step, and every second with the last one. Raises the job's own
        domain errors, and RunnerError: ``JobFailure`` if its code failed, or one of this module.
        """
        with _JobFiles(write_request(job)) as files:
            report = self._wait_for_end(job, limits, files, on_step)
            with report.socket:
                if report.end == "killed":
                    raise ChildDeath
                if report.end != "finished":
                    raise LimitExcess(report.end)
                try:
                    result = read_answer(job, memory_files.read(files.result, max_bytes=job.max_result_bytes))
                except ValueError as problem:
                    raise InvalidAnswer from problem
                except DomainError:
                    report.accept()
                    raise
                report.accept()
                return result

    def _wait_for_end(
        self,
        job: AnyJob,
        limits: JobLimits,
        files: "_JobFiles",
        on_step: Callable[[ProgressStep], None],
    ) -> "_Report":
        order = Order(f"{type(job).__module__}:{type(job).__qualname__}", limits, job.is_single)
        for _ in range(_MAX_RESTARTS):
            template = self._get_template(on_step)
            report = template.submit(order, [files.child_progress, files.request, files.result])
            try:
                report.wait(files, limits, on_step)
            except BaseException:
                report.socket.close()
                raise
            if report.end:
                return report
            report.end = "killed"
            self._discard(template)
            if not template.ended_idle():
                return report
            report.socket.close()
        raise ChildDeath

    def _get_template(self, on_step: Callable[[ProgressStep], None]) -> "_TemplateProcess":
        while not self.lock.acquire(timeout=_HEARTBEAT_S):
            on_step(NO_STEP)
        try:
            if self.template is None:
                self.template = self._start_template(on_step)
            return self.template
        finally:
            self.lock.release()

    def _start_template(self, on_step: Callable[[ProgressStep], None]) -> "_TemplateProcess":
        """Start a template, but after a failure not for as long as that took: others must not wait again."""
        started_at = time.monotonic()
        if self.failure is not None and started_at < self.retry_at:
            raise RunnerUnavailable(str(self.failure))
        try:
            return _TemplateProcess(self.options, on_step)
        except RunnerUnavailable as problem:
            self.failure = problem
            self.retry_at = 2 * time.monotonic() - started_at
            raise

    def _discard(self, template: "_TemplateProcess") -> None:
        with self.lock:
            if self.template is template:
                self.template = None

    def end(self) -> None:
        """End the template and all of its children. A later job starts another one."""
        with self.lock:
            template, self.template = self.template, None
        if template is not None:
            template.end()


class _JobFiles:
    """The files of one job: request, result, and the pipe for its progress."""

    def __init__(self, request: Sequence[bytes]) -> None:
        self.request = memory_files.create_sealed("request", *request)
        self.result = memory_files.create("result")
        self.progress, self.child_progress = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.unread = b""

    def __enter__(self) -> "_JobFiles":
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self.request, self.result, self.progress, self.child_progress):
            os.close(descriptor)

    def read_step(self) -> ProgressStep | None:
        """Return the last step that the child has reported since the last call; raise InvalidAnswer."""
        self.unread += os.read(self.progress, MAX_MESSAGE_BYTES)
        *lines, self.unread = self.unread.split(b"\n")
        if len(self.unread) > MAX_MESSAGE_BYTES:
            raise InvalidAnswer
        steps = [_read_step(line) for line in lines]
        return steps[-1] if steps else None


def _read_step(line: bytes) -> ProgressStep:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        content = None
    match content:
        case [int(number), int(total), str(name)] if (
            not isinstance(number, bool)
            and 0 <= number <= total <= _MAX_STEPS
            and len(name) <= _MAX_NAME_LENGTH
            and name.isprintable()
        ):
            return ProgressStep(number, total, name)
    raise InvalidAnswer


@dataclass(slots=True)
class _Report:
    """How a job ended: "" if the template has ended or hangs."""

    socket: socket.socket
    end: str = ""

    def wait(self, files: _JobFiles, limits: JobLimits, on_step: Callable[[ProgressStep], None]) -> None:
        deadline = time.monotonic() + WALL_FACTOR * limits.cpu_s + _SLACK_S
        poller = select.poll()
        for descriptor in (self.socket.fileno(), files.progress):
            poller.register(descriptor, select.POLLIN)
        step = NO_STEP
        while time.monotonic() < deadline:
            events = dict(poller.poll(_HEARTBEAT_S * 1000))
            if files.progress in events:
                step = files.read_step() or step
            if self.socket.fileno() in events:
                self.end = self._receive()
                return
            on_step(step)

    def accept(self) -> None:
        """Let the child do another job."""
        with suppress(OSError):  # the template may have ended meanwhile
            self.socket.send(VALID)

    def _receive(self) -> str:
        message = _receive(self.socket)
        return str(json.loads(message)["end"]) if message else ""


def _receive(sender: socket.socket) -> bytes:
    """Return the next message; empty if the sender has ended."""
    try:
        return sender.recv(MAX_MESSAGE_BYTES)
    except ConnectionError:
        return b""


class _TemplateProcess:
    """A running template. It ends with this process, or when this process closes the socket."""

    def __init__(self, options: RunnerOptions, on_step: Callable[[ProgressStep], None]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        arguments = {
            "socket": theirs.fileno(),
            "caller": os.getpid(),
            "sandbox": asdict(options.sandbox),
            "jobs_per_child": options.jobs_per_child,
            "idle_s": options.idle_s,
            "preloads": options.preloads,
        }
        # -P keeps modules of the working folder out, since the data may be there.
        command = [options.python, "-P", "-X", "utf8", "-m", "anoncup.runner", json.dumps(arguments)]
        if options.python != sys.executable and options.sandbox.file_mechanism:
            command = [sys.executable, "-P", "-m", "anoncup.runner.sandbox.launcher", *command]
        inherited = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
        try:
            self.process = subprocess.Popen(  # noqa: S603  # our own module
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=inherited | LIBRARY_VARIABLES | dict(options.variables),
                pass_fds=[theirs.fileno()],
            )
        except OSError as problem:
            self.socket.close()
            raise RunnerUnavailable(f"the interpreter cannot be started: {problem.strerror}") from None
        finally:
            theirs.close()
        # Its end is noticed at once, so that no zombie is left when it has been idle.
        Thread(target=self.process.wait, daemon=True).start()
        try:
            self._wait_until_ready(options.start_limit_s, on_step)
        except BaseException:
            self.end()
            raise

    def _wait_until_ready(self, limit_s: float, on_step: Callable[[ProgressStep], None]) -> None:
        deadline, poller = time.monotonic() + limit_s, select.poll()
        poller.register(self.socket, select.POLLIN)
        while not poller.poll(_HEARTBEAT_S * 1000):
            on_step(NO_STEP)
            if time.monotonic() > deadline:
                raise RunnerUnavailable("the interpreter took too long to start the program that reads files")
        if _receive(self.socket) != b"ready":
            raise RunnerUnavailable("the interpreter did not start the program that reads files")

    def submit(self, order: Order, descriptors: Sequence[int]) -> _Report:
        """Send a job and return its report, on which nothing arrives if the template has ended."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, suppress(OSError):
            socket.send_fds(self.socket, [order.to_json()], [theirs.fileno(), *descriptors])
        return _Report(ours)

    def ended_idle(self) -> bool:
        """Return whether it has ended by itself, after a time without jobs. End it if it hangs."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(_HEARTBEAT_S) == 0
        self.process.kill()
        return False

    def end(self) -> None:
        self.socket.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
