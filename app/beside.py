"""What needs numbers, done in a program beside the process that asks, which would keep them for good.

numpy, pandas, Arrow and numba take 200 MB and a second to load; and while a thread parses, all others of its
process wait. So a web process asks this program, with pickles through pipes. It ends when it has been asked
nothing for a while, and when whoever started it ends. Where nothing was begun, in commands, workers and most
tests, the work is done where it is asked for.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Timer
from typing import Any, BinaryIO, ParamSpec, TypeVar, cast

import structlog

from app import logs, memory
from app.errors import DomainError, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

UPLOADS, ORIGINALS = "uploads", "originals"
"""Programs of their own: a large original must not hold up what teams send."""

PROGRAM = "from app.beside import main; main()"
"""Not this module run as one: what is pickled there would be of another module."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    value: Any

    def told(self) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class Raised:
    """An error as it can be raised again elsewhere; its class makes others of other arguments."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    state: dict[str, Any]

    def told(self) -> Any:
        problem = self.kind.__new__(self.kind)
        problem.args = self.arguments
        vars(problem).update(self.state)
        raise problem


class Reader:
    """One program, asked by one thread at a time; started when it is asked."""

    def __init__(self, idle_s: float) -> None:
        self.idle_s = idle_s
        self.lock = Lock()
        """Of who asks it, or ends it."""
        self.process: subprocess.Popen[bytes] | None = None
        self.asked = 0
        self.rest: Timer | None = None

    def ask(self, question: bytes) -> Found | Raised:
        """Unavailable if it has ended, perhaps for want of memory: the next question starts another."""
        with self.lock:
            if self.rest is not None:
                self.rest.cancel()
            self.asked += 1
            try:
                answer = answered_by(self.running(), question)
            except (EOFError, OSError, pickle.UnpicklingError):
                self.end()
                raise Unavailable("what reads the files has ended; send it again in a moment") from None
            except BaseException:
                self.end()  # what it would still say belongs to no later question
                raise
            self.rest = Timer(self.idle_s, self.end_idle, [self.asked])
            self.rest.daemon = True
            self.rest.start()
            return answer

    def running(self) -> "subprocess.Popen[bytes]":
        if self.process is not None and self.process.poll() is not None:
            self.end()
        if self.process is None:
            # Not the working folder's modules (-P): it may be where the data lie.
            command = [sys.executable, "-P", "-c", PROGRAM]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603  # our own
        return self.process

    def end_idle(self, asked: int) -> None:
        with self.lock:
            if self.asked == asked:
                self.end()

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()  # closes its pipes
            self.process = None


def answered_by(process: "subprocess.Popen[bytes]", question: bytes) -> Found | Raised:
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # pipes, see above
    process.stdin.write(question)
    process.stdin.flush()
    return cast("Found | Raised", pickle.load(process.stdout))  # noqa: S301  # of our own program


readers: dict[str, Reader] = {}


def begin(idle_s: float) -> None:
    """From now on work is done beside this process, and beside those that it forks before the first is."""
    readers.update({name: Reader(idle_s) for name in (UPLOADS, ORIGINALS)})


def call(name: str, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What a function of a module finds, or raises; arguments and results are such as can be pickled."""
    if name not in readers:
        return function(*arguments, **named)
    return cast("T", readers[name].ask(pickle.dumps((function, arguments, named))).told())


def main() -> None:
    """Answer until whoever asks has gone: signals to a group are for those who stop us so."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no answer
    logs.configure()
    memory.give_back()
    while (question := next_question(sys.stdin.buffer)) is not None:
        try:
            answers.write(pickled(answer(*question)))
            answers.flush()
        except BrokenPipeError:
            break
    os._exit(0)  # there is nobody to flush anything to


def next_question(questions: BinaryIO) -> Any:
    try:
        return pickle.load(questions)  # noqa: S301  # of whoever started us
    except EOFError:
        return None


def answer(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Found | Raised:
    try:
        return Found(function(*arguments, **named))
    except Exception as problem:  # whatever it is, it is theirs
        if not isinstance(problem, DomainError):
            log.exception("failed_beside")
        return Raised(type(problem), problem.args, vars(problem))


def pickled(found: Found | Raised) -> bytes:
    try:
        return pickle.dumps(found)
    except Exception:  # an error of a library may hold anything
        log.exception("answer_cannot_be_told")
        return pickle.dumps(Raised(RuntimeError, ("no answer that can be told",), {}))
