"""The options for a release's files are those of the tracks."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from app.cli.main import app
from app.cli.options import Release, takes_release
from app.cli.sending import release_of
from app.errors import InvalidInput
from app.scoring.tracks import TRACKS


def test_every_file_of_every_tracks_release_has_an_option() -> None:
    command = typer.main.get_group(app).commands["submit"]
    known = {option for each in command.params for option in each.opts}
    assert {f"--{name}" for track in TRACKS.values() for name in track.files} <= known


def test_a_command_is_told_of_the_files_that_were_given_only(tmp_path: Path) -> None:
    found: list[Release] = []
    alone = typer.Typer()

    @alone.command()
    @takes_release
    def keep(*, release: Release) -> None:
        found.append(release)

    (tmp_path / "m.csv").write_text("x\n")
    assert CliRunner().invoke(alone, ["--customers", str(tmp_path / "m.csv")]).exit_code == 0
    assert found == [{"customers": tmp_path / "m.csv"}]


def test_a_release_is_all_files_of_one_track(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="give --anonymized, or --customers and --transactions"):
        release_of({"customers": tmp_path / "m.csv"})
