"""Descriptions of plug-ins keep all data as JSON, and their functions are found again by their paths."""

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anoncup.environments import DESCRIPTION_FILE
from anoncup.errors import Unavailable
from anoncup.plugins import BUILT_IN, describe_interpreter, discover_environments, discover_plugins
from anoncup.tracks.descriptions import RemoteFunction, build_plugin, describe, find_function
from anoncup.tracks.model import AnyTrack, ShownAnswer, TargetFiles
from anoncup.tracks.plugin import Plugin
from anoncup.tracks.ranking_board import Ranked, RankingFunction
from tests.support.track_package import install_package

HINTED_TRACK: AnyTrack = dataclasses.replace(
    BUILT_IN["membership"], target_files=TargetFiles(shown_answer=ShownAnswer(max, max))
)
TRACKS = {**BUILT_IN, "hinted": HINTED_TRACK}
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
    templates = {key: file.read_text("utf-8") for key, file in track.examples.templates.items()}
    assert templates == {
        key: file.read_text("utf-8") for key, file in TRACKS[name].examples.templates.items()
    }


def test_texts_of_own_parts_are_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A part that is rebuilt from its description is no longer the part of the built-in track."""
    measures = {name: BUILT_IN["membership"].measures[name] for name in ("marginals", "pairs")}
    measures["pairs"] = dataclasses.replace(measures["pairs"], version=9)
    track = dataclasses.replace(BUILT_IN["microdata"], name="small", measures=measures)
    plugin = Plugin(api=0, tracks={"small": track})
    install_package(tmp_path, "lists", "")
    monkeypatch.setitem(sys.modules, "lists", SimpleNamespace(PLUGIN=plugin))
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "packages/lists"
    folder.mkdir(parents=True)
    (folder / DESCRIPTION_FILE).write_text(json.dumps(describe_interpreter()))
    for installed in (discover_plugins(BUILT_IN), discover_environments(tmp_path / "packages")):
        assert {"measure_pairs", "measure_pairs_description"} <= installed.package_texts["small"]
        assert "measure_marginals" not in installed.package_texts["small"]


def test_remote_functions_run_in_no_other_program() -> None:
    with pytest.raises(Unavailable, match="elsewhere"):
        rebuild("microdata").tracks["microdata"].count_individuals(None)


def test_ranking_functions_are_described_without_a_track() -> None:
    function = RankingFunction("best", 2, lambda board: [Ranked(team, 1.0) for team in board.teams])
    text = json.dumps(describe(Plugin(api=0, ranking_functions={"best": function})))
    rebuilt = build_plugin(json.loads(text), "elsewhere").ranking_functions["best"]
    assert (rebuilt.name, rebuilt.version) == ("best", 2)
    assert rebuilt.rank == RemoteFunction("elsewhere", ("ranking_functions", "[best]", "rank"))
