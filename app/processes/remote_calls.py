"""Call functions of packages that have an environment of their own, from processes of the service.

Such a package cannot be imported here. Each process of the service that calls its functions starts one
sandboxed child with the environment's interpreter (``workers.package_functions``). A parser is itself in a
sandbox and cannot start programs, so it sends its requests to its parent, which passes them on.

For example, ``original, remarks = track.parse_original(files, rules)`` takes these steps:

1. ``track.parse_original`` is a ``RemoteFunction``, which calls ``call`` here.
2. The path of the function and the arguments are pickled as a ``Request`` and sent to the child.
3. The child calls the function and keeps the original. It answers in JSON with a placeholder for it.
4. The answer is validated by the function's entry in ``remote_values.RESULT_TYPES``. A ``RemoteValue``
   replaces the placeholder. It refers to the original by the request that makes it.
5. If a later call has this ``RemoteValue`` as an argument, that request is sent along. A child that does not
   have the original any more makes it again.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from anoncup.competition.required_packages import check_unchanged
from anoncup.errors import InvalidCompetition, PackageChangeError, Unavailable
from anoncup.lazy import LazyFunction
from anoncup.plugins import INSTALLED
from anoncup.tracks.descriptions import RemoteFunction, use_caller
from anoncup.tracks.model import AnyTrack
from app.config import get_settings
from app.processes import parser_process, remote_values
from app.processes.call_results import CallError, CallResult
from app.processes.parser_process import ParserProcess, Relay
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
"""Maximum size of requests whose answers are cached. Larger ones contain files."""

_processes: dict[str, ParserProcess] = {}
"""The child of each environment."""
_parent_relay: Relay | None = None
"""Passes requests to the parent, which sends them to a child of its own; None unless this is a parser."""


def enable(parent_relay: Relay | None = None) -> None:
    """Let this process call functions of packages. Parsers pass a relay to their parent."""
    global _parent_relay  # noqa: PLW0603  # one for each process
    _parent_relay = parent_relay
    parser_process.use_relay(_send_to_child)
    use_caller(call)


def call(function: RemoteFunction, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of a track in the track's environment and return the result."""
    return _call(function.environment, function.path, arguments, keywords)


def run_where_installed(
    track: AnyTrack, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs
) -> T:
    """Call a function of the library or the service in the environment in which the track is installed.

    There it gets the values themselves for arguments that are a ``RemoteValue`` here.
    """
    environment = INSTALLED.find_environment(track.name)
    if not environment:
        return function(*arguments, **keywords)
    return cast("T", _call(environment, _get_dotted_path(function), arguments, keywords))


def _get_dotted_path(function: Any) -> str:
    return (
        function.path if isinstance(function, LazyFunction) else f"{function.__module__}.{function.__name__}"
    )


def build_frames(track: AnyTrack, original: Any) -> "Sequence[pd.DataFrame]":
    """Return the tables of an original, which may be a ``RemoteValue``."""
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
        raise CallError.model_validate_json(content).to_error()
    result = _make_result_model(key).model_validate_json(content).value
    return map_placeholders(
        find_result_type(key),
        result,
        lambda placeholder, index: RemoteValue(request, index, placeholder.rows),
    )


@cache
def _make_result_model(key: FunctionKey) -> type[CallResult[Any]]:
    return cast("type[CallResult[Any]]", cast("Any", CallResult)[find_result_type(key)])


def _send(environment: str, request: Request) -> tuple[str, bytes]:
    send = _parent_relay or _send_to_child
    return send(environment, pickle.dumps((request.content, dict(request.needed))))


_send_cached = lru_cache(maxsize=512)(_send)


def _send_to_child(environment: str, content: bytes) -> tuple[str, bytes]:
    """Send a pickled request to the environment's child of this process."""
    if environment not in {package.environment for package in INSTALLED.packages} - {""}:
        raise LookupError("there is no such environment")
    # Threads may do this at the same time. The child starts at the first request only.
    process = _processes.get(environment) or _processes.setdefault(environment, _build_process(environment))
    try:
        return process.exchange(content, lambda kind, answer: (kind, answer))
    except (RuntimeError, Unavailable):
        _require_unchanged(environment)  # if it is not, that is the reason
        raise


def _require_unchanged(environment: str) -> None:
    """Raise PackageChangeError if packages of the environment were upgraded or removed."""
    try:
        for package in INSTALLED.packages:
            if package.environment == environment:
                check_unchanged(package)
    except InvalidCompetition as problem:
        raise PackageChangeError(problem.message) from None


def _build_process(environment: str) -> ParserProcess:
    settings = get_settings()
    return ParserProcess(
        settings,
        memory_mb=settings.scoring_memory_mb,
        time_limit_s=settings.scoring_time_limit_s,
        warm=True,
        program=PROGRAM,
        environment=environment,
    )


def end_all() -> None:
    """End the children of this process."""
    for process in list(_processes.values()):
        process.slot.end()
