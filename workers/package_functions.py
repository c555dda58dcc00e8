"""The program that runs the functions of a package in its environment (``app.processes.remote_calls``).

It enters the sandbox before it reads the first request, and ends if it cannot. It imports the library only.
"""

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any

from anoncup.geometry import kernels
from anoncup.plugins import TRACKS
from app.processes.call_results import CallResult, answer_call
from app.processes.child_entry import Pipe
from app.processes.remote_values import (
    RequestReader,
    ValuePlaceholder,
    find_result_type,
    import_function,
    map_placeholders,
)

_MAX_RESULTS = 8
"""Number of results kept for later requests: those of a release are its original, settings and answer."""


def prepare(*, warm: bool) -> None:
    """Import the tracks, and the compiled loops if ``warm``."""
    if warm:
        kernels.load_caches()
    kernels.disable_cache_writes()


def run(pipe: Pipe) -> None:
    results = Results()
    while request := pipe.receive():
        content, needed = pickle.loads(pipe.incoming.read(request["length"]))  # noqa: S301  # our parent's
        answer_call(pipe, partial(results.answer, content, needed))


class Results:
    """The last results by request."""

    def __init__(self) -> None:
        self.by_request: OrderedDict[bytes, tuple[Any, Any]] = OrderedDict()

    def answer(self, content: bytes, needed: Mapping[str, bytes]) -> CallResult[Any]:
        """Return the result of a request, without the values that stay here."""
        result_type, result = self.compute(content, needed)
        return CallResult[Any].model_construct(
            value=map_placeholders(
                result_type, result, lambda value, _: ValuePlaceholder(rows=_count_rows(value))
            )
        )

    def compute(self, content: bytes, needed: Mapping[str, bytes]) -> tuple[Any, Any]:
        """Return the type of a request's result and the result."""
        if content not in self.by_request:
            reader = RequestReader(content, TRACKS, lambda digest: self.compute(needed[digest], needed)[1])
            key, arguments, keywords = reader.load()
            result = import_function(key, TRACKS)(*arguments, **keywords)
            self.by_request[content] = find_result_type(key), result
            while len(self.by_request) > _MAX_RESULTS:
                self.by_request.popitem(last=False)
        else:
            self.by_request.move_to_end(content)
        return self.by_request[content]


def _count_rows(value: Any) -> int | None:
    rows = getattr(value, "rows", None)
    return rows if isinstance(rows, int) else None
