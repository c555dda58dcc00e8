"""Local commands on a package's track without distances, counts and threshold."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import small_track
from tests.support.small_track import format_column
from tests.support.track_package import install_package

pytestmark = pytest.mark.full

CONTEST_OPTIONS = ("--competition", "competition.toml", "--original", "numbers.csv")
RELEASE_OPTIONS = ("--list", "list.csv", "--secret", "secret.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the release whose scores ``tests.tracks.test_small_track`` computes by hand."""
    new_folder = tmp_path_factory.mktemp("small")
    install_package(new_folder, "small_track", "from tests.support.small_track import PLUGIN")
    (new_folder / "competition.toml").write_text(small_track.build_competition_toml())
    (new_folder / "numbers.csv").write_bytes(format_column("number", [10, 20, 30, 40]))
    (new_folder / "list.csv").write_bytes(format_column("number", [10, 20, 5]))
    (new_folder / "secret.csv").write_bytes(format_column("member", [1, 0, 1, 1]))
    return new_folder


def run_anoncup(folder: Path, *arguments: str, status: int = 0) -> str:
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "anoncup.cli", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "COLUMNS": "120"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert completed.returncode == status, completed.stdout + completed.stderr
    assert "Traceback" not in completed.stderr
    return completed.stdout + completed.stderr


def test_score_shows_risks_and_details_without_distances(folder: Path) -> None:
    content: dict[str, Any] = json.loads(
        run_anoncup(folder, "score", *CONTEST_OPTIONS, *RELEASE_OPTIONS, "--json")
    )
    assert content["excessive"] is None
    assert (content["utility"], content["security"]) == (1.0, 1.0)
    assert content["attackers"]["everybody"] == {
        "rate": 0.75, "version": 1, "baseline": 0.5, "risk": 0.5, "details": {"sure": 1.0}
    }  # fmt: skip
    output = run_anoncup(folder, "score", *CONTEST_OPTIONS, *RELEASE_OPTIONS)
    assert "seen: risk 1, member 0.25, first 1" in output
    assert "everybody: risk 0.5, sure 1" in output
    assert "distance" not in output
    assert "threshold" not in output


def test_check_shows_no_distances(folder: Path) -> None:
    content = json.loads(run_anoncup(folder, "check", *CONTEST_OPTIONS, *RELEASE_OPTIONS, "--json"))
    assert content == {"verdict": "accepted", "violations": [], "warnings": [], "excessive": None}


def test_threshold_advice_is_unavailable(folder: Path) -> None:
    output = run_anoncup(folder, "threshold", *CONTEST_OPTIONS, status=2)
    assert "the small track has no rule against excessive anonymization" in " ".join(output.split())


def test_scales_come_from_the_measures(folder: Path) -> None:
    scaled_file = run_anoncup(folder, "scales", *CONTEST_OPTIONS)
    assert "left_out = 0.5" in scaled_file
    assert "shift = 30.0" in scaled_file


def test_attacker_writes_a_guess_for_each_question(folder: Path) -> None:
    output = run_anoncup(
        folder, "attack", *CONTEST_OPTIONS, "--list", "list.csv", "--into", "guesses", "--json"
    )
    files = {file.name: file.read_text() for file in (folder / "guesses").iterdir()}
    assert files == {
        "seen.member.csv": "score\n1.0\n1.0\n0.0\n0.0\n",
        "seen.first.csv": "first\n1\n",
        "everybody.member.csv": "score\n1.0\n1.0\n1.0\n1.0\n",
        "foremost.first.csv": "first\n1\n",
    }
    assert sorted(json.loads(output)) == sorted(f"guesses/{name}" for name in files)
