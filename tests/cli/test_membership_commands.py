"""Local commands on the membership track, from generated data to guesses."""

from pathlib import Path

import numpy as np
import pytest

from anoncup.plugins import TRACKS
from tests.support.shell_commands import run_json, run_line

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]
CONTEST = "--competition competition.toml --original candidates.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example data, a release of members that the command chose, and the guesses of all attackers."""
    work_folder = tmp_path_factory.mktemp("membership")
    (work_folder / "competition.toml").write_text(run_line(work_folder, "template membership"), "utf-8")
    run_line(work_folder, "generate . --track membership --rows 60")
    run_line(work_folder, f"anonymize {CONTEST} --method noise --set strength=0.5 --into mine")
    run_line(work_folder, f"attack {CONTEST} --released mine/released.csv --into guesses")
    return work_folder


def test_own_file_of_a_team_is_the_input_of_methods(folder: Path) -> None:
    line = f"anonymize {CONTEST} --secret mine/members.csv --method copy --into copied"
    assert run_line(folder, line) == "wrote released.csv into copied\n"
    members = (folder / "mine/members.csv").read_text().splitlines()
    released = (folder / "copied/released.csv").read_text().splitlines()
    assert sorted(line.partition(",")[2] for line in members[1:]) == sorted(released[1:])
    assert np.array_equal(members[0].split(",")[1:], released[0].split(","))


def test_track_without_distances_shows_none_and_has_no_threshold(folder: Path) -> None:
    files = "--released mine/released.csv --secret mine/members.csv"
    checked = run_json(folder, f"check {CONTEST} {files}")
    assert checked == {"verdict": "accepted", "violations": [], "warnings": [], "excessive": None}
    text = run_line(folder, f"score {CONTEST} {files}")
    assert all(f"{name}: risk " in text for name in TRACK.attackers)
    assert "distance" not in text
    refusal = " ".join(run_line(folder, f"threshold {CONTEST}", status=2).split())
    assert "the membership track has no rule against excessive anonymization" in refusal
