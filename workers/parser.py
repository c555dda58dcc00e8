"""The program of a parser child: reads calls, returns results or errors (``app.processes.parser_process``).

It enters the sandbox before it reads the first call, and ends if it cannot. It gets stored files from its
parent, which only hands over files that the call may read.
"""

import pickle
from collections.abc import Callable
from functools import partial
from importlib import import_module
from io import BytesIO
from typing import IO, Any, cast

from anoncup.geometry.kernels.compilation import CompiledLoop
from app import storage
from app.processes import remote_calls
from app.processes.call_results import CallResult, answer_call
from app.processes.child_entry import Pipe
from app.processes.parser_process import build_result_model
from app.storage.store import StorageBackend

_CALLED_MODULES = (
    "app.services.attacks.guesses",
    "app.services.originals.original_import",
    "app.services.originals.kits",
    "app.services.originals.organizer_data",
    "app.services.organizing.baselines",
    "app.services.submissions.uploads",
)
"""Modules of the functions that are called. Importing them also loads all tracks, including those of
installed packages, which the sandbox may hide later."""


def prepare(*, warm: bool) -> None:
    """Import the called modules and, if ``warm``, load the compiled loops.

    The loops take 70 MB and a second, and most uploads do not need them.
    """
    for module in _CALLED_MODULES:
        import_module(module)
    if warm:
        from anoncup.geometry import kernels  # noqa: PLC0415  # numpy

        kernels.load_caches()
    else:
        CompiledLoop.is_unavailable = True


def run(pipe: Pipe) -> None:
    storage.use_backend(cast("StorageBackend", ParentFiles(pipe)))  # it can only read
    remote_calls.enable(partial(_relay_to_parent, pipe))
    while request := pipe.receive():
        function, arguments, keywords = pickle.loads(pipe.incoming.read(request["length"]))  # noqa: S301  # our parent's
        answer_call(pipe, partial(_call_function, function, arguments, keywords))


def _call_function(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> CallResult[Any]:
    result: CallResult[Any] = build_result_model(function).model_construct(
        value=function(*arguments, **keywords)
    )
    return result


def _relay_to_parent(pipe: Pipe, environment: str, request: bytes) -> tuple[str, bytes]:
    """Let the parent send a request to a package's environment; return the answer, its kind and JSON."""
    pipe.send({"package": environment, "length": len(request)}, request)
    answer = pipe.receive()
    return answer["kind"], pipe.incoming.read(answer["length"])


class ParentFiles:
    """A read-only store whose files the parent hands over."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def open(self, name: str) -> IO[bytes]:
        return BytesIO(self.pipe.fetch(name.rpartition("/")[2]))
