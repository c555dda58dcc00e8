"""The program of a parser: calls in, results and refusals out. See ``app.processes.parser_process``.

It enters the sandbox before it reads the first call, and ends if it cannot. Its store is its parent, which
gives it the files that the call may read.
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
from anoncup.geometry.kernels.compilation import Compiled, LoopsNotLoaded
from app import storage
from app.processes import memory
from app.processes.child_entry import Pipe
from app.processes.parser_process import Raised, answer_type
from app.storage.place import Place

CALLED = (
    "app.services.attacks.guesses",
    "app.services.originals.original_import",
    "app.services.originals.kits",
    "app.services.originals.originals",
    "app.services.originals.organizer_data",
    "app.services.organizing.baselines",
    "app.services.submissions.uploads",
)
"""Modules of the functions that are called: they load the tracks, also those of packages, which the sandbox
may forbid to read later."""


def prepare(*, warm: bool) -> None:
    """``warm``: with the compiled loops, 70 MB and a second, which most uploads need none of."""
    memory.give_back()
    for module in CALLED:
        import_module(module)
    if warm:
        from anoncup.geometry import kernels  # noqa: PLC0415  # numpy

        kernels.open_caches()
    else:
        Compiled.refused = True


def run(pipe: Pipe) -> None:
    storage.use(cast("Place", ParentFiles(pipe)))  # of which only reading is there
    while request := pipe.receive():
        function, arguments, named = pickle.loads(pipe.incoming.read(request["length"]))  # noqa: S301  # of our parent
        answer(pipe, function, arguments, named)


def answer(
    pipe: Pipe, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    try:
        kind, content = result_of(function, arguments, named)
        pipe.send({kind: len(content)}, content)
    except LoopsNotLoaded:
        pipe.send({"failed": "cold"})
    except MemoryError:
        pipe.send({"failed": "memory"})
    except Exception:
        # The frames, not the message: a message may quote what must stay secret.
        error, _, frames = sys.exc_info()
        trace = "".join(traceback.format_tb(frames)) + getattr(error, "__qualname__", "")
        pipe.send({"failed": "crash", "trace": trace})


def result_of(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[str, bytes]:
    """Call the function. Returns the kind of the answer, and its JSON."""
    try:
        found = answer_type(function).model_construct(value=function(*arguments, **named))
    except DomainError as problem:
        return "raised", to_json(Raised.from_error(problem))
    return "returned", to_json(found)


def to_json(found: BaseModel) -> bytes:
    return found.model_dump_json(warnings=False, fallback=plain_value).encode()


def plain_value(value: Any) -> Any:
    """Return a number of numpy as one of Python; AttributeError if it is none."""
    return value.item()


class ParentFiles:
    """The files of the store that the parent gives."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def open(self, name: str) -> IO[bytes]:
        return BytesIO(self.pipe.fetch(name.rpartition("/")[2]))
