"""The program of a parser child: reads calls, returns results or errors (``app.processes.parser_process``).

It enters the sandbox before it reads the first call, and ends if it cannot. It gets stored files from its
parent, which only hands over files that the call may read.
"""

import pickle
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import IO, Any, cast

from pydantic import BaseModel

from anoncup.errors import DomainError
from anoncup.geometry.kernels.compilation import CompiledLoop, LoopsUnavailable
from app import storage
from app.processes.child_entry import Pipe
from app.processes.parser_process import CallError, build_result_model
from app.storage.store import StorageBackend

_CALLED_MODULES = (
    "app.services.attacks.guesses",
    "app.services.originals.original_import",
    "app.services.originals.kits",
    "app.services.originals.originals",
    "app.services.originals.organizer_data",
    "app.services.organizing.baselines",
    "app.services.submissions.uploads",
)
"""Modules of the functions that are called. Importing them also loads all tracks, including those of
installed packages, which the sandbox may hide later."""


def prepare(*, warm: bool) -> None:
    """Import the called modules, and the compiled loops if ``warm``.

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
    while request := pipe.receive():
        function, arguments, keywords = pickle.loads(pipe.incoming.read(request["length"]))  # noqa: S301  # our parent's
        _answer_call(pipe, function, arguments, keywords)


def _answer_call(
    pipe: Pipe, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    try:
        kind, content = _call_function(function, arguments, keywords)
        pipe.send({kind: len(content)}, content)
    except LoopsUnavailable:
        pipe.send({"failed": "cold"})
    except MemoryError:
        pipe.send({"failed": "memory"})
    except Exception:
        # Only the frames: an error's message may quote secrets.
        error, _, frames = sys.exc_info()
        trace = "".join(traceback.format_tb(frames)) + getattr(error, "__qualname__", "")
        pipe.send({"failed": "crash", "trace": trace})


def _call_function(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[str, bytes]:
    """Call the function; return the kind of answer, "returned" or "raised", and its JSON."""
    try:
        result = build_result_model(function).model_construct(value=function(*arguments, **keywords))
    except DomainError as problem:
        return "raised", serialize(CallError.from_error(problem))
    return "returned", serialize(result)


def serialize(model: BaseModel) -> bytes:
    return model.model_dump_json(warnings=False, fallback=_convert_numpy_scalar).encode()


def _convert_numpy_scalar(value: Any) -> Any:
    """Convert a numpy scalar to a Python number; raise AttributeError for other values."""
    return value.item()


class ParentFiles:
    """A read-only store whose files the parent hands over."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def open(self, name: str) -> IO[bytes]:
        return BytesIO(self.pipe.fetch(name.rpartition("/")[2]))
