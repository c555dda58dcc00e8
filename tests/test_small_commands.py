"""A package's track without distances and counts, from a terminal: the same numbers, and no threshold."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import small_track
from tests.support.plugin_installation import install
from tests.support.small_track import written

pytestmark = pytest.mark.full

CONTEST = ("--competition", "competition.toml", "--original", "numbers.csv")
SENT = ("--list", "list.csv", "--secret", "secret.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that ``tests.scoring.test_small_track`` works out by hand."""
    made = tmp_path_factory.mktemp("small")
    install(made, "small_track", "from tests.support.small_track import PLUGIN")
    (made / "competition.toml").write_text(small_track.text())
    (made / "numbers.csv").write_bytes(written("number", [10, 20, 30, 40]))
    (made / "list.csv").write_bytes(written("number", [10, 20, 5]))
    (made / "secret.csv").write_bytes(written("member", [1, 0, 1, 1]))
    return made


def run(folder: Path, *words: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "anoncup.cli", *words],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "COLUMNS": "120"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_score_has_risks_and_details_and_no_distance(folder: Path) -> None:
    found: dict[str, Any] = json.loads(run(folder, "score", *CONTEST, *SENT, "--json"))
    assert found["excessive"] is None
    assert (found["utility"], found["security"]) == (1.0, 1.0)
    assert found["attackers"]["everybody"] == {
        "rate": 0.75, "version": 1, "baseline": 0.5, "risk": 0.5, "details": {"sure": 1.0}
    }  # fmt: skip
    shown = run(folder, "score", *CONTEST, *SENT, "--methods")
    assert "seen: risk 1, member 0.25, first 1" in shown
    assert "everybody: risk 0.5, sure 1" in shown
    assert "distance" not in shown
    assert "threshold" not in shown


def test_a_check_says_nothing_of_distances(folder: Path) -> None:
    found = json.loads(run(folder, "check", *CONTEST, *SENT, "--json"))
    assert found == {"verdict": "accepted", "violations": [], "warnings": [], "excessive": None}


def test_there_is_no_advice(folder: Path) -> None:
    said = run(folder, "threshold", *CONTEST, status=2)
    assert "the small track has no rule against excessive anonymization" in " ".join(said.split())


def test_scales_are_those_that_the_measures_say(folder: Path) -> None:
    written = run(folder, "scales", *CONTEST)
    assert "left_out = 0.5" in written
    assert "shift = 30.0" in written


def test_an_attacker_writes_a_guess_at_each_question(folder: Path) -> None:
    run(folder, "attack", *CONTEST, "--list", "list.csv", "--into", "guesses")
    files = {file.name: file.read_text() for file in (folder / "guesses").iterdir()}
    assert files == {
        "seen.member.csv": "score\n1.0\n1.0\n0.0\n0.0\n",
        "seen.first.csv": "first\n1\n",
        "everybody.member.csv": "score\n1.0\n1.0\n1.0\n1.0\n",
        "foremost.first.csv": "first\n1\n",
    }
