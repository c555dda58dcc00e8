"""Calls of functions of a package's track, for what only a competition file determines.

The service cannot import such a package. It has a ``RemoteFunction`` for each function of the track, and an
``OpaqueSettings`` for the track's own settings, which are read again wherever they are needed.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypeAlias

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from anoncup.lazy import lazy_in
from anoncup.messages import JsonObject, replace_control_characters
from anoncup.plugins import MAX_LINE_LENGTH, TRACKS, describe_interpreter
from anoncup.rules.parameters import ParameterValue
from anoncup.runner.jobs import Files, Job
from anoncup.runner.protocol import MAX_FILES_BYTES
from anoncup.tracks.descriptions import Description, FunctionPath, find_function

_Names: TypeAlias = tuple[str, ...]

READ_SETTINGS = "tracks.settings.read"
_RESULT_TYPES: Mapping[str, Any] = {
    READ_SETTINGS: None,  # they stay in the child
    "tracks.settings.list_columns_by_role": dict[str, _Names],
    "tracks.settings.list_shown": dict[str, ParameterValue],
    "tracks.settings.check": None,
    "tracks.allocation.allows_shared": bool,
    "tracks.examples.make_data": Files,
    "tracks.distances.group_columns": tuple[_Names, _Names],
    "header": _Names | None,
    "row_limits": tuple[int, int],
    "example_lines": tuple[_Names, ...],
}
"""Types of the results of the functions that the service calls; those of ``FileSpec`` by name only."""


def find_kind(path: FunctionPath) -> str:
    """Return the key of a function in ``_RESULT_TYPES``."""
    kind = ".".join(name for name in path if not name.startswith("["))
    return kind if kind in _RESULT_TYPES else path[-1]


class CallJob(Job[Any]):
    """Call a function of a track. ``arguments`` are pickled by the service, never by a child."""

    handler = lazy_in(__name__)("call")
    max_result_bytes = MAX_FILES_BYTES
    is_single = True

    competition_file: str = ""
    path: tuple[str, ...]
    arguments: bytes

    def find_result_type(self) -> Any:
        return _RESULT_TYPES[find_kind(self.path)]


def call(job: CallJob, _: object) -> Any:
    result = _evaluate(job.path, job.arguments)
    return None if find_kind(job.path) == READ_SETTINGS else result


_Line: TypeAlias = Annotated[
    str, AfterValidator(replace_control_characters), AfterValidator(lambda text: text[:MAX_LINE_LENGTH])
]
"""A text for a terminal, cut to a line."""


class DescribedPlugin(TypedDict):
    """A plug-in as ``anoncup.plugins`` describes it; ``broken`` says why it cannot be used."""

    name: _Line
    version: _Line
    entry: _Line
    broken: _Line
    plugin: NotRequired[JsonObject]


class DescribedInterpreter(TypedDict):
    """What ``anoncup.plugins.describe_interpreter`` returns."""

    library: _Line
    versions: dict[str, _Line]
    plugins: list[DescribedPlugin]
    catalogues: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


class DescribeJob(Job[DescribedInterpreter]):
    """Import the packages of an interpreter, and describe what they add and why some cannot be used."""

    handler = lazy_in(__name__)("describe")
    is_single = True

    competition_file: str = ""


def describe(*_: object) -> Description:
    return describe_interpreter()


@dataclass(frozen=True, slots=True)
class OpaqueSettings:
    """The settings of a package's track. Unpickled in a child, they are the settings themselves."""

    path: FunctionPath
    arguments: bytes

    def __reduce__(self) -> Any:
        return _evaluate, (self.path, self.arguments)


def _evaluate(path: FunctionPath, content: bytes) -> Any:
    arguments, keywords = pickle.loads(content)  # noqa: S301  # the service's
    return find_function(TRACKS, path)(*arguments, **keywords)
