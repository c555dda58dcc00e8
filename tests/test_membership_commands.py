"""The commands on local files, for contests of membership: from generated data to guesses."""

import json
from pathlib import Path

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.model import About
from tests.support.shell_commands import run

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]
GIVEN = ("--competition", "competition.toml", "--original", "candidates.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example data, a release of members that the command drew, and the guesses of all attackers."""
    here = tmp_path_factory.mktemp("membership")
    (here / "competition.toml").write_text(run("template", "membership", cwd=here).stdout, "utf-8")
    for words in (
        ("generate", ".", "--track", "membership", "--rows", "60"),
        ("anonymize", *GIVEN, "--method", "noise", "--set", "strength=0.5", "--into", "mine"),
        ("attack", *GIVEN, "--released", "mine/released.csv", "--into", "guesses"),
    ):
        done = run(*words, cwd=here)
        assert (done.returncode, done.stderr) == (0, ""), words
    return here


def test_a_score_is_that_of_the_rules(folder: Path) -> None:
    done = run(
        "score",
        *GIVEN,
        "--released",
        "mine/released.csv",
        "--secret",
        "mine/members.csv",
        "--json",
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rules = parse_competition(template("membership"))
    original, _ = TRACK.parse_original({"candidates": (folder / "candidates.csv").read_bytes()}, rules)
    release, _ = TRACK.parse_release(
        {"released": (folder / "mine/released.csv").read_bytes()}, original, rules
    )
    sizes = {"originals": 60, "rows": 30}
    members = TRACK.answers.read(
        (folder / "mine/members.csv").read_bytes(), About(rules, sizes, lambda: original)
    )
    expected, found = evaluate(rules, original, release, members).to_json(), json.loads(done.stdout)
    assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))


def test_every_attackers_guess_can_be_sent(folder: Path) -> None:
    rules, sizes = parse_competition(template("membership")), {"originals": 60, "rows": 30}
    about = About(rules, sizes, lambda: pytest.fail("sizes say enough"))
    for name in TRACK.attackers:
        scores = TRACK.questions["membership"].read((folder / f"guesses/{name}.csv").read_bytes(), about)
        assert ((scores >= 0) & (scores <= 1)).all()


def test_a_teams_own_file_is_what_a_method_takes(folder: Path) -> None:
    again = (*GIVEN, "--secret", "mine/members.csv", "--method", "copy", "--into", "copied")
    done = run("anonymize", *again, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "wrote released.csv into copied\n")
    members = (folder / "mine/members.csv").read_text().splitlines()
    released = (folder / "copied/released.csv").read_text().splitlines()
    assert sorted(line.partition(",")[2] for line in members[1:]) == sorted(released[1:])
    assert np.array_equal(members[0].split(",")[1:], released[0].split(","))


def test_several_files_need_a_folder(folder: Path) -> None:
    done = run("generate", "--track", "membership", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "name a folder for candidates.csv, background.csv" in done.stderr
