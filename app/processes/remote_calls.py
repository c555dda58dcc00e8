"""Call the functions of packages that have an environment of their own, from processes of the service.

The calls run in a sandboxed child with the environment's interpreter (``workers.package_functions``).
``anoncup.tracks.descriptions.RemoteFunction`` calls ``call`` here.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from anoncup.lazy import LazyFunction
from anoncup.plugins import INSTALLED
from anoncup.tracks.descriptions import RemoteFunction, use_caller
from anoncup.tracks.model import AnyTrack
from app.config import get_settings
from app.processes import parser_process, remote_values
from app.processes.call_results import CallError, CallResult
from app.processes.parser_process import ParserProcess
from app.processes.remote_values import (
    FunctionKey,
    RemoteValue,
    Request,
    build_request,
    find_result_type,
    map_placeholders,
)

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")

PROGRAM = "workers.package_functions"
_MAX_CACHED_BYTES = 20_000
"""Results of larger requests are not cached: these have the content of files."""

Exchange = Callable[[str, bytes], tuple[str, bytes]]
"""Sends a request to a child of an environment; returns the kind of answer and its JSON."""

_processes: dict[str, ParserProcess] = {}
_via_parent: list[Exchange] = []
"""In a sandboxed parser: the function that lets its parent exchange messages."""


def enable(*exchanges: Exchange) -> None:
    """Let this process call functions of packages, by ``exchanges`` if it cannot start programs itself."""
    _via_parent[:] = exchanges
    parser_process.relays[:] = [exchange]
    use_caller(call)


def call(function: RemoteFunction, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of a track in its environment and return the result."""
    return _call(function.environment, function.path, arguments, keywords)


def run_where_installed(
    track: AnyTrack, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs
) -> T:
    """Call a function that calls functions of the track, in the track's interpreter."""
    environment = INSTALLED.find_environment(track.name)
    if not environment:
        return function(*arguments, **keywords)
    return cast("T", _call(environment, _get_dotted_path(function), arguments, keywords))


def _get_dotted_path(function: Any) -> str:
    return (
        function.path if isinstance(function, LazyFunction) else f"{function.__module__}.{function.__name__}"
    )


def build_frames(track: AnyTrack, original: Any) -> "Sequence[pd.DataFrame]":
    """Return the tables of an original, also of one that is in another interpreter."""
    if not INSTALLED.find_environment(track.name):
        return track.build_frames(original)
    import pyarrow as pa  # noqa: PLC0415  # 50 MB

    contents = run_where_installed(track, remote_values.build_frames, track, original)
    return [pa.ipc.open_file(content).read_pandas() for content in contents]


def _call(environment: str, key: FunctionKey, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    request = build_request(key, arguments, keywords)
    size = len(request.content) + sum(map(len, request.needed.values()))
    send = _send_cached if size <= _MAX_CACHED_BYTES else _send
    kind, content = send(environment, request)
    if kind == "raised":
        CallError.model_validate_json(content).unwrap()
    result = _make_result_model(key).model_validate_json(content).value
    return map_placeholders(
        find_result_type(key), result, lambda value, index: RemoteValue(request, index, value.rows)
    )


@cache
def _make_result_model(key: FunctionKey) -> type[CallResult[Any]]:
    return cast("type[CallResult[Any]]", cast("Any", CallResult)[find_result_type(key)])


def _send(environment: str, request: Request) -> tuple[str, bytes]:
    content = pickle.dumps((request.content, dict(request.needed)))
    return _via_parent[0](environment, content) if _via_parent else exchange(environment, content)


_send_cached = lru_cache(maxsize=512)(_send)


def exchange(environment: str, content: bytes) -> tuple[str, bytes]:
    """Send a pickled request to the environment's child of this process."""
    if environment not in {package.environment for package in INSTALLED.packages} - {""}:
        raise LookupError("there is no such environment")
    settings = get_settings()
    process = _processes.setdefault(
        environment,
        ParserProcess(
            settings,
            memory_mb=settings.scoring_memory_mb,
            time_limit_s=settings.scoring_time_limit_s,
            warm=True,
            program=PROGRAM,
            environment=environment,
        ),
    )
    return process.exchange(content, lambda kind, answer: (kind, answer))


def end_all() -> None:
    """End the children of this process."""
    for process in list(_processes.values()):
        process.slot.end()
