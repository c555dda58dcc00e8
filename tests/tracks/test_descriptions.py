"""Descriptions of plug-ins keep all data as JSON, and their functions are found again by their paths."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from anoncup.errors import Unavailable
from anoncup.plugins import BUILT_IN
from anoncup.tracks.descriptions import RemoteFunction, build_plugin, describe, find_function
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.plugin import Plugin
from tests.support.cohort_track import COHORTS

TRACKS: dict[str, AnyTrack] = {**BUILT_IN, "cohorts": COHORTS}
"""The built-in tracks, and one that shows a part of its answers."""


def rebuild(name: str) -> Plugin:
    """Return a plug-in that is made of the JSON text of the description of a track."""
    text = json.dumps(describe(Plugin(api=0, tracks={name: TRACKS[name]})))
    return build_plugin(json.loads(text), "elsewhere")


def iterate_values(rebuilt: Any, original: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each value below a rebuilt part with its counterpart."""
    yield rebuilt, original
    if isinstance(rebuilt, RemoteFunction):
        return
    if dataclasses.is_dataclass(rebuilt):
        for field in dataclasses.fields(rebuilt):
            if hasattr(original, field.name):
                yield from iterate_values(getattr(rebuilt, field.name), getattr(original, field.name))
    elif isinstance(rebuilt, Mapping):
        assert rebuilt.keys() == original.keys()
        for key, item in rebuilt.items():
            yield from iterate_values(item, original[key])
    elif isinstance(rebuilt, tuple):
        for item, original_item in zip(rebuilt, original, strict=True):
            yield from iterate_values(item, original_item)


@pytest.mark.parametrize("name", TRACKS)
def test_description_has_all_data_and_finds_all_functions(name: str) -> None:
    track = rebuild(name).tracks[name]
    values = list(iterate_values(track, TRACKS[name]))
    functions = [(value, original) for value, original in values if isinstance(value, RemoteFunction)]
    assert len(functions) > 20
    for function, original in functions:
        assert find_function(TRACKS, function.path) == original
    plain = [(value, original) for value, original in values if isinstance(value, str | int | float | bool)]
    assert len(plain) > 50
    assert all(value == original for value, original in plain)


@pytest.mark.parametrize("name", TRACKS)
def test_rebuilt_track_has_the_capabilities_of_the_original(name: str) -> None:
    rebuilt, original = rebuild(name).tracks[name], TRACKS[name]
    assert rebuilt.can_shuffle == original.can_shuffle
    assert rebuilt.allocates_answer == original.allocates_answer
    assert list(rebuilt.distances) == list(original.distances)
    templates = {key: file.read_text("utf-8") for key, file in rebuilt.examples.templates.items()}
    assert templates == {key: file.read_text("utf-8") for key, file in original.examples.templates.items()}


def test_remote_functions_run_in_no_other_program() -> None:
    with pytest.raises(Unavailable, match="elsewhere"):
        rebuild("microdata").tracks["microdata"].count_individuals(None)
