"""Descriptions of plug-ins as JSON, and plug-ins made of them whose functions run in another interpreter.

A description has the data of a ``Plugin``; functions and fields with their default are left out. The plug-in
that is made of it has the same data, and a ``RemoteFunction`` for each function.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from anoncup.errors import Unavailable
from anoncup.rules.parameters import Parameter
from anoncup.tracks.capabilities import (
    Allocation,
    Distances,
    Examples,
    Scaling,
    TrackSettings,
)
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import AnswerSpec, AnyTrack, Question, ShownAnswer, TargetFiles, Track
from anoncup.tracks.parts import Attacker, Distance, Measure, Method
from anoncup.tracks.plugin import Plugin
from anoncup.tracks.ranking_board import RankingFunction

Description: TypeAlias = Any
"""Plain JSON."""
FunctionPath: TypeAlias = tuple[str, ...]
"""Names of fields, and keys in brackets, from ``tracks`` to a function of it."""

_TYPES: Mapping[str, type] = {
    described_type.__name__: described_type
    for described_type in (
        Allocation,
        AnswerSpec,
        Attacker,
        Distance,
        Distances,
        Examples,
        FileSpec,
        Measure,
        Method,
        Parameter,
        Plugin,
        Question,
        RankingFunction,
        Scaling,
        ShownAnswer,
        TargetFiles,
        Track,
        TrackSettings,
    )
}


_LEFT_OUT = ("identity_release",)
"""Fields that only the interpreter of the package needs."""


@dataclass(frozen=True, slots=True)
class TemplateText:
    """The content of a file of the package."""

    content: str

    def read_text(self, encoding: str | None = None) -> str:  # noqa: ARG002  # like that of a path
        return self.content


@dataclass(frozen=True, slots=True)
class RemoteFunction:
    """A function of a plug-in in the environment ``environment``, found by its path from the tracks."""

    environment: str
    path: FunctionPath

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return _call(self, arguments, keywords)


RemoteCall: TypeAlias = Callable[[RemoteFunction, tuple[Any, ...], dict[str, Any]], Any]


def _refuse_call(function: RemoteFunction, *_: object) -> Any:
    raise Unavailable(
        "{name} runs in the interpreter of its package, which only the service starts",
        name=function.environment,
    )


_call: RemoteCall = _refuse_call


def use_caller(call: RemoteCall) -> None:
    """Let ``call`` run remote functions in this process."""
    global _call  # noqa: PLW0603  # one for each process
    _call = call


def describe(value: Any) -> Description:  # noqa: PLR0911  # one for each kind of value
    """Return a plug-in, or a part of it, as plain JSON."""
    if type(value).__name__ in _TYPES:
        return {"type": type(value).__name__, "fields": _describe_fields(value)}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): describe(item) for key, item in value.items()}}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if callable(value):
        return {"function": True}
    return {"text": value.read_text(encoding="utf-8")}


def _describe_fields(value: Any) -> dict[str, Description]:
    return {
        field.name: describe(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if field.name not in _LEFT_OUT and not _has_default(field, getattr(value, field.name))
    }


def _has_default(field: "dataclasses.Field[Any]", value: Any) -> bool:
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    return field.default is value or (not callable(value) and bool(field.default == value))


def build_plugin(description: Description, environment: str) -> Plugin:
    """Return the plug-in that a description is of; raise TypeError, KeyError or ValueError if it is none."""
    plugin = _build(description, environment, ())
    if not isinstance(plugin, Plugin):
        raise TypeError("the description is of no Plugin")
    return plugin


def _build(description: Description, environment: str, path: FunctionPath) -> Any:  # noqa: PLR0911  # likewise
    match description:
        case {"type": str(name), "fields": dict(fields)}:
            values = {key: _build(item, environment, (*path, key)) for key, item in fields.items()}
            return _TYPES[name](**values)
        case {"mapping": dict(items)}:
            return {key: _build(item, environment, (*path, f"[{key}]")) for key, item in items.items()}
        case {"set": list(items)}:
            return frozenset(items)
        case {"text": str(content)}:
            return TemplateText(content)
        case {"function": True}:
            return RemoteFunction(environment, _start_from_tracks(path))
        case list(items):
            return tuple(_build(item, environment, (*path, f"[{index}]")) for index, item in enumerate(items))
        case dict():
            raise ValueError("the description has an unknown part")
    return description


def _start_from_tracks(path: FunctionPath) -> FunctionPath:
    """Return the path of a part that a plug-in adds to a track, as the path of a part of that track.

    Ranking functions belong to no track, and are called by their names only.
    """
    kind, *rest = path
    return path if kind in {"tracks", "ranking_functions"} else ("tracks", rest[0], kind, *rest[1:])


def find_function(tracks: Mapping[str, Any], path: FunctionPath) -> Callable[..., Any]:
    """Return the function that a path names; raise LookupError or AttributeError if there is none."""
    value: Any = tracks
    for name in path[1:]:
        if not name.startswith("["):
            value = getattr(value, name)
        else:
            key = name[1:-1]
            value = value[key] if isinstance(value, Mapping) else value[int(key)]
    function: Callable[..., Any] = value
    return function


_TEMPLATES = {
    "measures": ("measure_{}", "measure_{}_description", "where_{}"),
    "attackers": ("attacker_{}", "attacker_{}_description"),
    "methods": ("method_{}",),
    "distances": ("distance_{}", "distance_{}_description"),
    "questions": (
        "question_{}",
        "question_asks_{}",
        "guess_description_{}",
        "guess_guide_{}",
        "guess_rules_{}",
        "guess_sample_{}",
        "guess_target_{}",
    ),
}
"""By kind of part; ``{}`` stands for its name."""


def list_own_texts(plugin: Plugin, built_in: Collection[AnyTrack]) -> dict[str, frozenset[str]]:
    """Return the keys of the texts of the parts that the package itself defines, by track.

    Built-in texts with the same keys describe other parts. Parts that the package takes from a built-in track
    keep their texts.
    """
    texts: dict[str, frozenset[str]] = {}
    for track_name, kind, parts in _iter_parts(plugin):
        own_names = [
            name
            for name, part in parts.items()
            if all(getattr(track, kind).get(name) is not part for track in built_in)
        ]
        keys = {template.format(name) for name in own_names for template in _TEMPLATES[kind]}
        texts[track_name] = texts.get(track_name, frozenset()) | keys
    return texts


def _iter_parts(plugin: Plugin) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """Yield the name of a track, a kind of parts, and the parts of this kind by name."""
    for name, track in plugin.tracks.items():
        yield from ((name, kind, getattr(track, kind)) for kind in _TEMPLATES)
    for kind in ("measures", "attackers", "methods"):
        yield from ((name, kind, parts) for name, parts in getattr(plugin, kind).items())
