"""The options for a release's files are those of the tracks."""

from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from anoncup.cli.main import app
from anoncup.cli.options import NEEDED, Release, originals_of, takes_release
from anoncup.cli.submit import release_of
from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import Draw

pytestmark = pytest.mark.full


def test_every_file_of_every_tracks_release_has_an_option() -> None:
    command = typer.main.get_group(app).commands["submit"]
    known = {option for each in command.params for option in each.opts}
    assert {f"--{name}" for track in TRACKS.values() for name in (*track.files, *track.target_files)} <= known


@pytest.mark.parametrize("command", ["check", "score", "attack", "anonymize", "threshold"])
def test_the_help_of_original_names_the_files_of_every_track(command: str) -> None:
    options = {each.name: each for each in typer.main.get_group(app).commands[command].params}
    said = getattr(options["original"], "help", "")
    assert [name for files in NEEDED.values() for name in files if f"{name}.csv" not in said] == []


def test_the_help_of_a_release_says_what_each_track_expects() -> None:
    options = {each.name: each for each in typer.main.get_group(app).commands["submit"].params}
    assert getattr(options["transactions_file"], "help", "") == (
        "transactions: the anonymized purchases; "
        "monthly: the anonymized purchases in the original's order or the purchases of a target"
    )


def kept(*words: str | Path) -> tuple[int, list[Release]]:
    """What a command is told of the options that are given, and how it ends."""
    found: list[Release] = []
    alone = typer.Typer()

    @alone.command()
    @takes_release
    def keep(*, customers: bool = False, release: Release) -> None:
        found.append(release)

    done = CliRunner().invoke(alone, [str(word) for word in words])
    return (0 if done.exception is None else 2), found


def test_a_command_is_told_of_the_files_that_were_given_only(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("x\n")
    assert kept("--transactions", tmp_path / "m.csv") == (0, [{"transactions": tmp_path / "m.csv"}])


def test_a_file_is_given_by_name_where_its_track_is_elsewhere_or_another_option_is_called_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "m=1.csv").write_text("x\n")
    path = tmp_path / "m=1.csv"
    assert kept("--file", f"moves={path}", "--customers") == (0, [{"moves": path}])
    assert kept("--file", f"customers={path}") == (0, [{"customers": path}])
    for wrong in ("moves", "=m.csv", "moves=", f"moves={tmp_path}", "moves=nowhere.csv"):
        assert kept("--file", wrong) == (2, [])
    assert kept("--file", f"moves={path}", "--file", f"moves={path}") == (2, [])


def test_a_release_is_all_files_of_one_track_with_its_secret(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("m\n")
    (tmp_path / "s.csv").write_text("s\n")
    file, secret = tmp_path / "m.csv", tmp_path / "s.csv"
    with pytest.raises(InvalidInput, match="give --anonymized, or --customers and --transactions"):
        release_of({"customers": file}, secret)
    with pytest.raises(InvalidInput, match="give --secret too"):
        release_of({"anonymized": file}, None)
    assert release_of({"anonymized": file}, secret) == ({"anonymized": b"m\n"}, b"s\n")
    assert release_of({"moves": file}, None) == ({"moves": b"m\n"}, None)  # the service knows that track


def test_no_secret_goes_to_a_service_that_has_drawn_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.csv").write_text("m\n")
    draw = Draw((FileSpec("secret"),), each_team=True, make=lambda *_: {})
    drawn = replace(TRACKS["microdata"], name="drawn", release=(FileSpec("moves"),), draw=draw)
    monkeypatch.setitem(TRACKS, "drawn", drawn)
    file = tmp_path / "m.csv"
    with pytest.raises(InvalidInput, match="the service draws the answer: no --secret is sent"):
        release_of({"moves": file}, file)
    assert release_of({"moves": file}, None) == ({"moves": b"m\n"}, None)


def test_an_original_is_given_in_order_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("m.csv", "t.csv", "k.csv", "known=k.csv"):
        Path(name).write_text("x\n")
    track = replace(
        TRACKS["transactions"],
        original=(FileSpec("customers"), FileSpec("transactions"), FileSpec("known", required=False)),
    )

    def found(*given: str) -> dict[str, str]:
        return {name: str(path) for name, path in originals_of(track, given).items()}

    both = {"customers": "m.csv", "transactions": "t.csv"}
    assert found("m.csv", "t.csv") == both
    assert found("m.csv", "known=m.csv", "t.csv") == {**both, "known": "m.csv"}
    assert found("transactions=t.csv", "m.csv") == both
    assert found("m.csv", "known=k.csv") == {"customers": "m.csv", "transactions": "known=k.csv"}
    for wrong in (["m.csv"], ["m.csv", "t.csv", "k.csv"], ["m.csv", "t.csv", "unknown=k.csv"]):
        with pytest.raises(InvalidInput, match="needs 2 --original: customers, transactions"):
            originals_of(track, wrong)
    with pytest.raises(InvalidInput, match=r"there is no file nowhere\.csv"):
        originals_of(track, ["m.csv", "nowhere.csv"])
    assert NEEDED["transactions"] == ("customers", "transactions")
