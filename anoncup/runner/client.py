"""The caller's side: start a template, send it jobs, and check what comes back."""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from threading import Lock, Thread
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field, TypeAdapter

from anoncup.errors import DomainError
from anoncup.runner.answers import read_answer, write_request
from anoncup.runner.jobs import Job, ResultT
from anoncup.runner.protocol import (
    FINISHED,
    MAX_MESSAGE_BYTES,
    ORDER,
    VALID,
    WALL_FACTOR,
    JobLimits,
    Order,
    RunnerError,
    create_file,
    read_file,
)
from anoncup.runner.results import MAX_STEPS
from anoncup.runner.sandbox import Sandbox

_HEARTBEAT_S = 1.0
_SLACK_S = 30.0
"""Seconds after the last limit at which a template that does not answer counts as hanging."""
_MAX_RESTARTS = 3
"""Restarts for a job whose template has ended idle. One that always does is not idle."""
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


_StepNumber: TypeAlias = Annotated[int, Field(ge=0, le=MAX_STEPS)]


class ProgressStep(NamedTuple):
    number: _StepNumber
    total: _StepNumber
    name: Annotated[str, Field(max_length=100)]


_STEP = TypeAdapter(ProgressStep)
NO_STEP = ProgressStep(0, 0, "")
"""What is reported until a child has begun its first step."""


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """``python`` is the interpreter; ``variables`` are for its libraries and are not secret.

    Without ``preloads`` it starts fast, and each job imports what it needs. ``shows_errors``: its errors go
    where those of this process do. Code that a package runs there before any job could write secrets.
    """

    python: str
    sandbox: Sandbox
    jobs_per_child: int = 20
    idle_s: float = 60.0
    start_limit_s: float = 120.0
    variables: Mapping[str, str] = field(default_factory=dict)
    preloads: bool = True
    shows_errors: bool = True


class Runner:
    """A template and its children. Threads may use it at the same time; it starts with the first job."""

    def __init__(self, options: RunnerOptions) -> None:
        self.options = options
        self.lock = Lock()
        self.template: _TemplateProcess | None = None
        self.failure, self.retry_at = "", 0.0

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
        order = Order(f"{type(job).__module__}:{type(job).__qualname__}", limits, job.is_single)
        request = write_request(job)
        for _ in range(_MAX_RESTARTS):
            template = self._get_template(on_step)
            with _Exchange(request) as exchange:
                exchange.send(template.socket, order)
                if end := exchange.wait(limits, on_step):
                    return exchange.read_result(job, end)
            with self.lock:
                if self.template is template:
                    self.template = None
            if not template.ended_idle():
                break
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
        if started_at < self.retry_at:
            raise RunnerUnavailable(self.failure)
        try:
            return _TemplateProcess(self.options, on_step)
        except RunnerUnavailable as problem:
            self.failure, self.retry_at = str(problem), 2 * time.monotonic() - started_at
            raise

    def end(self) -> None:
        """End the template and all of its children. A later job starts another one."""
        with self.lock:
            template, self.template = self.template, None
        if template is not None:
            template.end()


class _Exchange:
    """The files of a job, and the sockets for its steps and for the report on its end."""

    def __init__(self, request: Sequence[bytes]) -> None:
        self.request, self.result = create_file(*request), create_file()
        self.steps, self.child_steps = _create_sockets()
        self.report, self.template_report = _create_sockets()

    def __enter__(self) -> "_Exchange":
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self.request, self.result):
            os.close(descriptor)
        for end in (self.steps, self.child_steps, self.report):
            end.close()

    def send(self, template: socket.socket, order: Order) -> None:
        """Send the job. Nothing will be reported if the template has ended."""
        with self.template_report as report, suppress(OSError):
            descriptors = [report.fileno(), self.child_steps.fileno(), self.request, self.result]
            socket.send_fds(template, [ORDER.dump_json(order)], descriptors)

    def wait(self, limits: JobLimits, on_step: Callable[[ProgressStep], None]) -> str:
        """Return how the job ended, or "" if the template has ended or hangs."""
        deadline, step = time.monotonic() + WALL_FACTOR * limits.cpu_s + _SLACK_S, NO_STEP
        poller = select.poll()
        for end in (self.steps, self.report):
            poller.register(end, select.POLLIN)
        while time.monotonic() < deadline:
            ready = dict(poller.poll(_HEARTBEAT_S * 1000))
            if self.steps.fileno() in ready:
                message = self.steps.recv(MAX_MESSAGE_BYTES)
                if message == FINISHED:
                    return "finished"
                step = _read_step(message)
            elif ready:
                return _receive(self.report).decode(errors="replace")  # the template may be a package's
            on_step(step)
        return ""

    def read_result(self, job: Job[ResultT], end: str) -> ResultT:
        """Return the result of a job that has ended so. The child of a valid answer may do another job."""
        if end == "killed":
            raise ChildDeath
        if end != "finished":
            raise LimitExcess(end)
        try:
            result = read_answer(job, read_file(self.result, job.max_result_bytes))
        except ValueError as problem:
            raise InvalidAnswer from problem
        except DomainError:
            self._accept()
            raise
        self._accept()
        return result

    def _accept(self) -> None:
        with suppress(OSError):  # the template may have ended meanwhile
            self.report.send(VALID)


def _create_sockets() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _read_step(message: bytes) -> ProgressStep:
    try:
        step = _STEP.validate_json(message, strict=True)
    except ValueError as problem:
        raise InvalidAnswer from problem
    if step.number > step.total or not step.name.isprintable():
        raise InvalidAnswer
    return step


def _receive(sender: socket.socket) -> bytes:
    """Return the next message; empty if the sender has ended."""
    try:
        return sender.recv(MAX_MESSAGE_BYTES)
    except ConnectionError:
        return b""


class _TemplateProcess:
    """A running template. It ends with this process, or when this process closes the socket."""

    def __init__(self, options: RunnerOptions, on_step: Callable[[ProgressStep], None]) -> None:
        self.socket, theirs = _create_sockets()
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
                stderr=None if options.shows_errors else subprocess.DEVNULL,
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

    def ended_idle(self) -> bool:
        """Return whether it has ended by itself, after a time without jobs. End it if it hangs."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_HEARTBEAT_S)
        self.end()
        return self.process.returncode == 0

    def end(self) -> None:
        self.socket.close()
        self.process.kill()
        self.process.wait()
