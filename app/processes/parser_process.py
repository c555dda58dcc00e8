"""Parsing what strangers send, in a sandboxed process beside the process that asks.

The parser has an empty environment, no key, no database, no network and no store: it is given the stored
files that a call names. Calls go to it as pickles. Answers come back as JSON and are validated against the
return annotation of the function, for a parser that was taken over may say anything.

It also keeps numpy, pandas and Arrow, 200 MB, out of the web processes, whose other threads go on while it
parses. A parser ends when it has been asked nothing for a while. Where ``enable`` was not called, in commands
and most tests, functions are called in place.
"""

import inspect
import pickle
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Timer
from typing import Any, Generic, Literal, NoReturn, ParamSpec, TypeVar, cast

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from anoncup import errors
from anoncup.errors import DomainError, InvalidInput, InvalidUpload, Problem, Unavailable
from anoncup.messages import Message
from app.config import Settings
from app.processes.sandboxed_child import ChildDied, ChildMisbehaved, OutOfTime, SandboxedChild
from app.storage import store
from workers import sandbox

P = ParamSpec("P")
T = TypeVar("T")

UPLOADS, ORIGINALS = "uploads", "originals"
"""Two processes: a large original must not delay what teams send."""

PROGRAM = "workers.parser"

FACTOR, ALLOWANCE = 4, 16 << 20
"""An answer may have so many times the bytes that the parser was given, and so many more."""
LONGEST_TRACE = 10_000

log = structlog.get_logger(__name__)

BYTES_AS_BASE64 = ConfigDict(
    strict=True, ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="constants"
)


class Returned(BaseModel, Generic[T]):
    """The result of a call."""

    model_config = BYTES_AS_BASE64

    value: T

    def unwrap(self) -> T:
        return self.value


class Raised(BaseModel):
    """A refusal, as it can be raised again in another process."""

    model_config = BYTES_AS_BASE64

    kind: Literal[
        "InvalidUpload",
        "InvalidInput",
        "InvalidCompetition",
        "CompetitionUnavailable",
        "Conflict",
        "TooLarge",
    ]
    code: str
    message: Message
    problems: tuple[Problem, ...] = ()
    total: int = 0

    @classmethod
    def from_error(cls, error: DomainError) -> "Raised":
        """ValidationError if it is of a class that a parser does not raise."""
        kind = cast("Any", type(error).__name__)
        problems, total = (error.problems, error.total) if isinstance(error, InvalidUpload) else ((), 0)
        return cls(kind=kind, code=error.code, message=error.message, problems=problems, total=total)

    def unwrap(self) -> NoReturn:
        if self.kind == "InvalidUpload":
            raise InvalidUpload(self.problems, total=self.total)
        kind: type[DomainError] = getattr(errors, self.kind)
        raise kind(self.message, code=self.code)


def answer_type(function: Callable[..., T]) -> type[Returned[T]]:
    """Return the model of the function's result, by its return annotation."""
    return cast("type[Returned[T]]", cast("Any", Returned)[inspect.get_annotations(function)["return"]])


class ParserProcess:
    """One parser, asked by one thread at a time. It starts when it is first asked."""

    def __init__(self, settings: Settings, *, memory_mb: int, time_limit_s: float, warm: bool) -> None:
        """``warm``: whether its children load the compiled loops; they do once a call has needed one."""
        self.settings = settings
        self.memory_mb = memory_mb
        self.time_limit_s = time_limit_s
        self.warm = warm
        self.idle_s = settings.scoring_idle_s
        self.lock = Lock()
        """Held while it is asked."""
        self.ending = Lock()
        self.child: SandboxedChild | None = None
        self.calls = 0
        """How often this child was asked."""
        self.idle_timer: Timer | None = None
        # A child ends with the thread that started it, so that must be one that stays.
        self.starter = ThreadPoolExecutor(max_workers=1)

    def call(
        self,
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
        *,
        readable: Collection[str],
    ) -> T:
        """Call a function of a module; ``readable``: digests of the stored files that it may ask for.

        Raises what the function raises if that is a refusal, InvalidInput if the call takes too much time or
        memory, and Unavailable if the parser ends: the next call starts another.
        """
        with self.lock:
            if self.idle_timer is not None:
                self.idle_timer.cancel()
            try:
                answer = self.converse(function, arguments, named, readable)
            except OutOfTime:
                self.end()
                raise InvalidInput(
                    "reading the files took longer than the limit of {limit} s",
                    code="parsing_time_limit",
                    limit=round(self.time_limit_s),
                ) from None
            except ChildDied:
                self.end()
                raise Unavailable(
                    "the process that reads files has ended; send it again in a moment"
                ) from None
            except (ChildMisbehaved, ValidationError):
                self.end()
                log.exception("parser_misbehaved")
                raise RuntimeError("the process that reads files gave no valid answer") from None
            except BaseException:
                self.end()  # what it would still say belongs to no later call
                raise
            self.rest()
        return answer.unwrap()

    def converse(
        self,
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
        readable: Collection[str],
    ) -> Returned[T] | Raised:
        """Send the call and hand over the files that it asks for, until the answer comes."""
        deadline = time.monotonic() + self.time_limit_s
        request = pickle.dumps((function, arguments, named))
        given = len(request)
        child = self.running_child()
        child.send({"length": len(request)}, content=request, deadline=deadline)
        while True:
            longest = FACTOR * given + ALLOWANCE
            match child.read(max(0.0, deadline - time.monotonic())):
                case None:
                    raise OutOfTime
                case {"fetch": str(digest)} if digest in readable:
                    content = store().get(digest)
                    given += len(content)
                    child.send({"length": len(content)}, content=content, deadline=deadline)
                case {"returned": int(length)} if 0 <= length <= longest:
                    content = child.read_content(length, deadline=deadline)
                    return answer_type(function).model_validate_json(content)
                case {"raised": int(length)} if 0 <= length <= longest:
                    content = child.read_content(length, deadline=deadline)
                    return Raised.model_validate_json(content)
                case {"failed": "cold"} if not self.warm:
                    self.end()
                    self.warm = True
                    return self.converse(function, arguments, named, readable)
                case {"failed": "memory"}:
                    raise InvalidInput(
                        "reading the files needed more memory than the limit of {limit} MB",
                        code="parsing_memory_limit",
                        limit=self.memory_mb,
                    )
                case {"failed": "crash", "trace": str(trace)}:
                    log.error("parser_failed", trace=trace[:LONGEST_TRACE])
                    raise RuntimeError("the files could not be read")
                case _:
                    raise ChildMisbehaved

    def running_child(self) -> SandboxedChild:
        """Return the child, replaced if it has ended, says something unasked, or was asked often enough."""
        used_up = self.calls >= self.settings.scoring_recycle_after
        if self.child is not None and (used_up or not self.child.is_quiet()):
            self.end()
        if self.child is None:
            require_sandbox(self.settings.sandbox)
            self.child = self.starter.submit(
                SandboxedChild,
                PROGRAM,
                setting=self.settings.sandbox,
                memory_mb=self.memory_mb,
                warm=self.warm,
            ).result()
        self.calls += 1
        return self.child

    def rest(self) -> None:
        """End the child if it is asked nothing for a while."""
        self.idle_timer = Timer(self.idle_s, self.end_idle, [self.child, self.calls])
        self.idle_timer.daemon = True
        self.idle_timer.start()

    def end_idle(self, child: SandboxedChild, calls: int) -> None:
        with self.lock:
            if self.child is child and self.calls == calls:
                self.end()

    def end(self) -> None:
        """End the child once, also if the idle timer and ``disable`` want it at the same time."""
        with self.ending:
            child, self.child, self.calls = self.child, None, 0
        if child is not None:
            child.end()


def require_sandbox(setting: str) -> None:
    if setting == sandbox.REQUIRED and not sandbox.available().is_complete:
        log.error("reads_no_files", reason=sandbox.explain_missing())
        raise Unavailable("this service cannot read files safely right now; its operators have been told")


parsers: dict[str, ParserProcess] = {}


def enable(settings: Settings) -> None:
    """Call functions in parsers from now on; so do processes that are forked before the first call."""
    disable()
    parsers[UPLOADS] = ParserProcess(
        settings, memory_mb=settings.parsing_memory_mb, time_limit_s=settings.parsing_time_limit_s, warm=False
    )
    # Scales and examples are computed as scores are, and need as much.
    parsers[ORIGINALS] = ParserProcess(
        settings, memory_mb=settings.scoring_memory_mb, time_limit_s=settings.scoring_time_limit_s, warm=True
    )


def disable() -> None:
    for parser in parsers.values():
        parser.end()
    parsers.clear()


def call(name: str, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function of a module in a parser. Its return annotation must be a type that pydantic knows."""
    return call_reading(name, (), function, *arguments, **named)


def call_reading(
    name: str, digests: Collection[str], function: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """As ``call``; the function may read these files of the store."""
    if name not in parsers:
        return function(*arguments, **named)
    return parsers[name].call(function, arguments, named, readable=digests)
