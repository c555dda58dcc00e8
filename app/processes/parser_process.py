"""Parse uploaded files in a sandboxed child process.

The parser has an empty environment and no access to keys, database, network or store. It gets only the stored
files that a call names. Calls are sent as pickles. Answers come back as JSON and are validated against the
function's return annotation, because a compromised parser may send anything.

The parser also keeps numpy, pandas and Arrow (200 MB) out of the web processes, whose other threads continue
while it parses. It ends when it is idle. Unless ``enable`` has been called, functions run in this process, as
in commands and most tests.
"""

import inspect
import pickle
import time
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar, cast

import structlog
from pydantic import ValidationError

from anoncup.errors import InvalidInput, Unavailable
from anoncup.runner import sandbox
from app.config import Settings
from app.processes.call_results import CallError, CallResult
from app.processes.child_slot import ChildSlot
from app.processes.sandboxed_child import (
    ChildDiedError,
    ChildProtocolError,
    ChildTimeoutError,
    SandboxedChild,
)
from app.storage import get_store

P = ParamSpec("P")
T = TypeVar("T")
Relay = Callable[[str, bytes], tuple[str, bytes]]
"""Passes a pickled request on to a package's environment. Returns the answer: its kind and JSON."""
_relay: Relay | None = None

UPLOADS, ORIGINALS = "uploads", "originals"
"""Names of the two parsers: parsing a large original must not delay the uploads of teams."""

PROGRAM = "workers.parser"

ANSWER_FACTOR, ANSWER_ALLOWANCE_BYTES = 4, 16 << 20
"""An answer may have at most ``ANSWER_FACTOR`` times the bytes of the input, plus the allowance."""
_MAX_TRACE_LENGTH = 10_000

log = structlog.get_logger(__name__)


def build_result_model(function: Callable[..., T]) -> type[CallResult[T]]:
    """Return the model that validates the function's result, from its return annotation."""
    return cast("type[CallResult[T]]", cast("Any", CallResult)[inspect.get_annotations(function)["return"]])


class _LoopsMissingError(Exception):
    """The call needs compiled loops, which the child has not loaded."""


class ParserProcess:
    """One parser, used by one thread at a time. Its child starts at the first call."""

    def __init__(
        self,
        settings: Settings,
        *,
        memory_mb: int,
        time_limit_s: float,
        warm: bool,
        program: str = "",
        environment: str = "",
    ) -> None:
        """``environment`` is that of the package whose interpreter runs the program; empty for this one.

        With ``warm``, children load the compiled loops, which are numerical functions compiled by numba, at
        start. A child without them cannot do calls that need them. After the first such call, all are warm.
        """
        self.settings = settings
        self.memory_mb = memory_mb
        self.time_limit_s = time_limit_s
        self.warm = warm
        self.slot = ChildSlot(program or PROGRAM, environment)
        self.is_closed = False

    def call(
        self,
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        *,
        readable_digests: Collection[str],
    ) -> T:
        """Call a module's function in the child and return its result.

        The child may fetch the stored files in ``readable_digests``. Raises the function's own domain errors,
        InvalidInput if the call takes too much time or memory, and Unavailable if the child ends. The next
        call then starts another child.
        """
        model, request = build_result_model(function), pickle.dumps((function, arguments, keywords))
        return self.exchange(
            request,
            lambda kind, content: (CallError if kind == "raised" else model).model_validate_json(content),
            readable_digests=readable_digests,
        ).unwrap()

    def exchange(
        self, request: bytes, parse: Callable[[str, bytes], T], *, readable_digests: Collection[str] = ()
    ) -> T:
        """Send a pickled request and return what ``parse`` makes of its answer, a kind and JSON."""
        with self.slot.lock:
            try:
                answer = parse(*self._fetch_answer(request, readable_digests))
            except ChildTimeoutError:
                self.slot.end()
                raise InvalidInput(
                    "reading the files took longer than the limit of {limit} s",
                    code="parsing_time_limit",
                    limit=round(self.time_limit_s),
                ) from None
            except ChildDiedError:
                self.slot.end()
                raise _build_ended_error() from None
            except (ChildProtocolError, ValidationError):
                self.slot.end()
                log.exception("parser_misbehaved")
                raise RuntimeError("the process that reads files gave no valid answer") from None
            except BaseException:
                self.slot.end()  # its later output must not be taken for the answer to another call
                raise
            self.slot.release(self.settings)
        return answer

    def _fetch_answer(self, request: bytes, readable_digests: Collection[str]) -> tuple[str, bytes]:
        """Send the request to a child and return its answer. Both tries share the time limit."""
        deadline = time.monotonic() + self.time_limit_s
        try:
            return self._exchange_messages(request, readable_digests, deadline)
        except _LoopsMissingError:
            self.warm = True  # so that another child is started
            return self._exchange_messages(request, readable_digests, deadline)

    def _get_child(self) -> SandboxedChild:
        if self.is_closed:
            raise _build_ended_error()
        if self.slot.child is None:
            _require_sandbox(self.settings.sandbox)
        return self.slot.get(self.settings, memory_mb=self.memory_mb, warm=self.warm)

    def _exchange_messages(
        self, request: bytes, readable_digests: Collection[str], deadline: float
    ) -> tuple[str, bytes]:
        """Send the request, and what the child asks for, until its answer arrives."""
        child = self._get_child()
        child.send({"length": len(request)}, content=request, deadline=deadline)
        sent_bytes = len(request)
        while True:
            max_bytes = ANSWER_FACTOR * sent_bytes + ANSWER_ALLOWANCE_BYTES
            match child.read(max(0.0, deadline - time.monotonic())):
                case None:
                    raise ChildTimeoutError
                case {"fetch": str(digest)} if digest in readable_digests:
                    content = get_store().get(digest)
                    sent_bytes += len(content)
                    child.send({"length": len(content)}, content=content, deadline=deadline)
                case {"package": str(name), "length": int(length)} if 0 <= length <= max_bytes and _relay:
                    kind, content = _relay(name, child.read_content(length, deadline=deadline))
                    sent_bytes += len(content)
                    child.send({"kind": kind, "length": len(content)}, content=content, deadline=deadline)
                case {"returned": int(length)} if 0 <= length <= max_bytes:
                    return "returned", child.read_content(length, deadline=deadline)
                case {"raised": int(length)} if 0 <= length <= max_bytes:
                    return "raised", child.read_content(length, deadline=deadline)
                case {"failed": "cold"} if not self.warm:
                    raise _LoopsMissingError
                case {"failed": "memory"}:
                    raise InvalidInput(
                        "reading the files needed more memory than the limit of {limit} MB",
                        code="parsing_memory_limit",
                        limit=self.memory_mb,
                    )
                case {"failed": "crash", "trace": str(trace)}:
                    log.error("parser_failed", trace=trace[:_MAX_TRACE_LENGTH])
                    raise RuntimeError("the files could not be read")
                case _:
                    raise ChildProtocolError


def _build_ended_error() -> Unavailable:
    return Unavailable("the process that reads files has ended; try again in a moment")


def _require_sandbox(setting: str) -> None:
    if setting == sandbox.REQUIRED and not sandbox.get_available().is_complete:
        log.error("sandbox_unavailable", reason=sandbox.explain_missing())
        raise Unavailable("this service cannot read files safely right now; its operators have been told")


parsers: dict[str, ParserProcess] = {}


def use_relay(relay: Relay) -> None:
    """Let parsers call functions of packages with an environment of their own."""
    global _relay  # noqa: PLW0603  # one for each process
    _relay = relay


def enable(settings: Settings) -> None:
    """Call functions in parsers from now on, also in processes forked before the first call."""
    disable()
    parsers[UPLOADS] = ParserProcess(
        settings, memory_mb=settings.parsing_memory_mb, time_limit_s=settings.parsing_time_limit_s, warm=False
    )
    # Originals need the limits of scoring, because scales and examples are computed for them.
    parsers[ORIGINALS] = ParserProcess(
        settings, memory_mb=settings.scoring_memory_mb, time_limit_s=settings.scoring_time_limit_s, warm=True
    )


def close() -> None:
    """End the parsers and refuse later calls, which must not run in this process."""
    for parser in parsers.values():
        parser.is_closed = True
        parser.slot.end()


def disable() -> None:
    """End the parsers and call functions in this process from now on."""
    for parser in parsers.values():
        parser.slot.end()
    parsers.clear()


def call(parser_name: str, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Call a module's function in a parser. Its return annotation must be a type that pydantic supports."""
    return call_with_files(parser_name, (), function, *arguments, **keywords)


def call_with_files(
    parser_name: str,
    digests: Collection[str],
    function: Callable[P, T],
    *arguments: P.args,
    **keywords: P.kwargs,
) -> T:
    """Call a function like ``call``, and let it read the stored files with these digests."""
    if parser_name not in parsers:
        return function(*arguments, **keywords)
    return parsers[parser_name].call(function, arguments, keywords, readable_digests=digests)
