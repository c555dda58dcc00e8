"""The options for a release's files match the files of the tracks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from anoncup.cli import options
from anoncup.cli.main import app
from anoncup.cli.options import (
    REQUIRED_ORIGINALS,
    ReleasePaths,
    accept_files,
    assign_originals,
)
from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import TargetFiles

pytestmark = pytest.mark.full


def test_submitted_files_have_options_and_files_of_targets_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for command, attribute in (("submit", "release_file_names"), ("attack", "target_file_names")):
        parameters = typer.main.get_group(app).commands[command].params
        files = {f"--{name}" for track in TRACKS.values() for name in getattr(track, attribute)}
        assert files <= {option for parameter in parameters for option in parameter.opts}
    hinted_files: TargetFiles[Any, Any, Any, Any] = TargetFiles(specs=(FileSpec("list"), FileSpec("hint")))
    track = replace(TRACKS["microdata"], release_files=(FileSpec("list"),), target_files=hinted_files)
    monkeypatch.setitem(TRACKS, "small", track)
    for with_targets, names in ((False, {"list"}), (True, {"list", "hint"})):
        assert {"list", "hint"} & options._describe_files(with_targets=with_targets).keys() == names


def run_with_options(*arguments: str | Path) -> tuple[int, list[ReleasePaths]]:
    """Run a command that takes a release; return its exit status and the releases it received."""
    releases: list[ReleasePaths] = []
    cli_app = typer.Typer()

    @cli_app.command()
    @accept_files("release")
    def record_release(*, customers: bool = False, release: ReleasePaths) -> None:
        releases.append(release)

    result = CliRunner().invoke(cli_app, [str(word) for word in arguments])
    return (0 if result.exception is None else 2), releases


def test_files_can_be_given_as_name_and_path(
    tmp_path: Path,
) -> None:
    (tmp_path / "m=1.csv").write_text("x\n")
    path = tmp_path / "m=1.csv"
    assert run_with_options("--file", f"moves={path}", "--customers") == (0, [{"moves": path}])
    assert run_with_options("--file", f"customers={path}") == (0, [{"customers": path}])
    for wrong in ("moves", "=m.csv", "moves=", f"moves={tmp_path}", "moves=nowhere.csv"):
        assert run_with_options("--file", wrong) == (2, [])
    assert run_with_options("--file", f"moves={path}", "--file", f"moves={path}") == (2, [])


def test_original_files_are_given_by_order_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("m.csv", "t.csv", "k.csv", "known=k.csv"):
        Path(name).write_text("x\n")
    track = replace(
        TRACKS["transactions"],
        original_files=(FileSpec("customers"), FileSpec("transactions"), FileSpec("known", required=False)),
    )

    def read_originals(*arguments: str) -> dict[str, str]:
        return {name: str(path) for name, path in assign_originals(track, arguments).items()}

    expected = {"customers": "m.csv", "transactions": "t.csv"}
    assert read_originals("m.csv", "t.csv") == expected
    assert read_originals("m.csv", "known=m.csv", "t.csv") == {**expected, "known": "m.csv"}
    assert read_originals("transactions=t.csv", "m.csv") == expected
    assert read_originals("m.csv", "known=k.csv") == {"customers": "m.csv", "transactions": "known=k.csv"}
    for wrong in (["m.csv"], ["m.csv", "t.csv", "k.csv"], ["m.csv", "t.csv", "unknown=k.csv"]):
        with pytest.raises(InvalidInput, match="needs 2 --original: customers, transactions"):
            assign_originals(track, wrong)
    with pytest.raises(InvalidInput, match=r"there is no file nowhere\.csv"):
        assign_originals(track, ["m.csv", "nowhere.csv"])
    assert REQUIRED_ORIGINALS["transactions"] == ("customers", "transactions")
