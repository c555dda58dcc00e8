"""Requests and results of functions that run in a package's environment, for caller and child.

A request is a pickle of the path of a function and its arguments. Originals, releases and other values of
the package stay in the child. The caller has a ``RemoteValue``: the request that makes it. Requests refer
to such values by digest and are sent with the requests that make them, so that any child can answer them.
``app.processes.remote_calls`` describes a call.
"""

import io
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from anoncup.lazy import LazyFunction
from anoncup.rules.parameters import ParameterValue
from anoncup.tables.files import Remark
from anoncup.tracks.descriptions import FunctionPath, RemoteFunction, find_function
from anoncup.tracks.model import ReleaseContext, Track


class ValuePlaceholder(BaseModel):
    """Stands in an answer for a value that stays in the child. ``rows`` is the value's own, if it has any."""

    model_config = ConfigDict(strict=True)

    rows: int | None = None


_Names: TypeAlias = tuple[str, ...]

RESULT_TYPES: Mapping[str, Any] = {
    "tracks.parse_original": tuple[ValuePlaceholder, list[Remark]],
    "tracks.parse_release": tuple[ValuePlaceholder, list[Remark]],
    "tracks.files_of": dict[str, bytes],
    "tracks.count_individuals": int,
    "tracks.anonymize": tuple[ValuePlaceholder, ValuePlaceholder],
    "tracks.shuffle_rows": tuple[ValuePlaceholder, ValuePlaceholder],
    "tracks.check_first_file": None,
    "tracks.answer_spec.read": ValuePlaceholder,
    "tracks.answer_spec.write": bytes,
    "tracks.answer_spec.find_remarks": list[Remark],
    "tracks.questions.read": ValuePlaceholder,
    "tracks.questions.write": bytes,
    "tracks.questions.count_answered": int,
    "tracks.questions.find_remarks": list[Remark],
    "tracks.settings.read": ValuePlaceholder,
    "tracks.settings.list_columns_by_role": dict[str, _Names],
    "tracks.settings.infer": str,
    "tracks.settings.list_shown": dict[str, ParameterValue],
    "tracks.settings.check": None,
    "tracks.allocation.allows_shared": bool,
    "tracks.allocation.check_organizer_file": None,
    "tracks.allocation.make_files": dict[str, bytes],
    "tracks.examples.make_data": dict[str, bytes],
    "tracks.distances.group_columns": tuple[_Names, _Names],
    "header": _Names | None,
    "row_limits": tuple[int, int],
    "example_lines": tuple[_Names, ...],
    "suggest_roles": dict[str, str],
    "anoncup.evaluation.evaluate.check_secret": tuple[Remark, ...],
    "anoncup.evaluation.scales.scales": dict[str, float],
    "anoncup.evaluation.scales.check_scales": None,
    "app.processes.remote_values.is_within_rules": bool,
    "app.processes.remote_values.score_as_json": bytes,
    "app.processes.remote_values.build_frames": list[bytes],
}
"""Types of the results of the functions that the service calls; those of ``FileSpec`` by name only."""


FunctionKey: TypeAlias = FunctionPath | str
"""The path of a function of a track, or the dotted path of a function that calls functions of a track."""


def find_result_type(key: FunctionKey) -> Any:
    """Return the type of a function's result; raise KeyError if the service may not call it."""
    if isinstance(key, str):
        return RESULT_TYPES[key]
    kind = ".".join(name for name in key if not name.startswith("["))
    return RESULT_TYPES[kind if kind in RESULT_TYPES else key[-1]]


def import_function(key: FunctionKey, tracks: Mapping[str, Any]) -> Callable[..., Any]:
    return LazyFunction(key) if isinstance(key, str) else find_function(tracks, key)


def map_placeholders(result_type: Any, result: Any, convert: Callable[[Any, int | None], Any]) -> Any:
    """Convert each value of a result for which ``result_type`` has a placeholder.

    ``convert`` gets the value and its index in a tuple; None if the result is the value itself.
    """
    if result_type is ValuePlaceholder:
        return convert(result, None)
    if get_origin(result_type) is tuple and ValuePlaceholder in get_args(result_type):
        return tuple(
            convert(item, index) if item_type is ValuePlaceholder else item
            for index, (item_type, item) in enumerate(zip(get_args(result_type), result, strict=True))
        )
    return result


@dataclass(frozen=True, slots=True)
class Request:
    """A pickled call, and the calls by digest that make the values among its arguments."""

    content: bytes
    needed: Mapping[str, bytes] = field(default_factory=dict, compare=False)

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class RemoteValue:
    """A value in the child: the result of a request or, with ``index``, an item of this result."""

    request: Request
    index: int | None
    row_count: int | None = field(default=None, compare=False)

    @property
    def rows(self) -> int:
        if self.row_count is None:
            raise AttributeError("rows")
        return self.row_count


class _Pickler(pickle.Pickler):
    """Pickles functions, tracks and values of the package by reference."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.needed: dict[str, bytes] = {}

    def persistent_id(self, value: Any) -> Any:
        match value:
            case RemoteFunction(path=path):
                return "function", path
            case Track(name=name):
                return "track", name
            case RemoteValue(request=request, index=index):
                self.needed |= {**request.needed, request.digest: request.content}
                return "value", request.digest, index
        return None


def build_request(function: FunctionKey, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    buffer = io.BytesIO()
    pickler = _Pickler(buffer)
    named_arguments = {name: _make_picklable(value) for name, value in keywords.items()}
    pickler.dump((function, tuple(map(_make_picklable, arguments)), named_arguments))
    for value in (*arguments, *keywords.values()):
        _skip_random_numbers(value)
    return Request(buffer.getvalue(), pickler.needed)


def _skip_random_numbers(argument: Any) -> None:
    """Skip the numbers that the child may draw from its copy of a random generator."""
    if hasattr(argument, "bit_generator"):
        argument.bit_generator.state = argument.bit_generator.jumped().state


def _make_picklable(argument: Any) -> Any:
    """Return a context whose original is known, because a function that reads it cannot be sent."""
    if isinstance(argument, ReleaseContext):
        return replace(argument, original=partial(_identity, argument.original()), generator=None)
    return argument


def _identity(value: Any) -> Any:
    return value


def is_within_rules(rules: Any, original: Any, release: Any, answer: Any) -> bool:
    """Return whether the rules accept a release."""
    from anoncup.evaluation.evaluate import judge  # noqa: PLC0415  # numpy

    return not judge(rules, original, release, answer)[0]


def score_as_json(rules: Any, original: Any, release: Any, answer: Any) -> bytes:
    """Return the score of a release as ``anoncup score --json`` prints it."""
    from anoncup.evaluation.evaluate import evaluate  # noqa: PLC0415  # numpy

    return json.dumps(evaluate(rules, original, release, answer).to_json(), indent=2).encode()


def build_frames(track: Any, original: Any) -> list[bytes]:
    """Return the tables of an original as Arrow files, which do not depend on the version of pandas."""
    import pyarrow as pa  # noqa: PLC0415  # 50 MB

    contents = []
    for frame in track.build_frames(original):
        table, sink = pa.Table.from_pandas(frame, preserve_index=False), pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        contents.append(sink.getvalue().to_pybytes())
    return contents


class RequestReader(pickle.Unpickler):
    """Reads a request in the child. ``evaluate`` returns the result of the request with a digest."""

    def __init__(self, content: bytes, tracks: Mapping[str, Any], evaluate: Callable[[str], Any]) -> None:
        super().__init__(io.BytesIO(content))
        self.tracks, self.evaluate = tracks, evaluate

    def persistent_load(self, reference: Any) -> Any:
        match reference:
            case ("function", path):
                return find_function(self.tracks, path)
            case ("track", name):
                return self.tracks[name]
            case ("value", digest, index):
                result = self.evaluate(digest)
                return result if index is None else result[index]
        raise pickle.UnpicklingError("unknown reference")
