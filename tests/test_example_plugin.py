"""The example package: built, installed beside anoncup into an environment of its own, played, taken away."""

import json
from pathlib import Path

import pytest

from tests.support.environments import Environment, environment, example
from tests.support.release_files import COMPETITION, ORIGINAL, RELEASE, SECRET

pytestmark = pytest.mark.full
__all__ = ["environment", "example"]

USED = """
[requires]
Anoncup_Example = ">=0.1,<1"
[measures.combinations_lost]
weight = 1.0
[attackers.nearest_total]
"""
CONTEST = ("--competition", "competition.toml", "--original", "original.csv")
RELEASED = (*CONTEST, "--anonymized", "release.csv", "--secret", "secret.csv")


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    folder = tmp_path / "cup"
    folder.mkdir()
    files = {"original.csv": ORIGINAL, "release.csv": RELEASE, "secret.csv": SECRET}
    for name, content in {**files, "competition.toml": COMPETITION + USED}.items():
        (folder / name).write_text(content, "utf-8")
    return folder


def refusal(environment: Environment, cup: Path) -> str:
    done = environment.run("-m", "anoncup.cli", "score", *RELEASED, "--json", cwd=cup)
    assert done.returncode == 2, done.stderr
    return str(json.loads(done.stdout)["code"])


def test_the_example_is_listed_scores_anonymizes_and_loads_no_numbers_until_then(
    environment: Environment, example: Path, cup: Path, tmp_path: Path
) -> None:
    assert environment.anoncup("plugins", cwd=cup) == []
    assert refusal(environment, cup) == "package_missing"
    environment.install(example, tmp_path / "wheels")
    (found,) = environment.anoncup("plugins", cwd=cup)
    assert found == {
        "name": "anoncup-example",
        "version": "0.1.0",
        "entry": "anoncup_example:PLUGIN",
        "parts": [
            "microdata.measures.combinations_lost",
            "microdata.attackers.nearest_total",
            "microdata.methods.round_values",
        ],
        "broken": None,
    }
    scored = environment.anoncup("score", *RELEASED, cwd=cup)
    assert scored["measures"]["combinations_lost"]["value"] == 0.0
    assert scored["attackers"]["nearest_total"]["rate"] == 1.0
    (cup / "release.csv").write_text(RELEASE.replace("m,40", "m,30"), "utf-8")
    scored = environment.anoncup("score", *RELEASED, cwd=cup)
    assert scored["measures"]["combinations_lost"]["value"] == 0.25
    rounding = ("--method", "round_values", "--set", "step=50", "--into", "mine", "--keep-order")
    done = environment.run("-m", "anoncup.cli", "anonymize", *CONTEST, *rounding, cwd=cup)
    assert done.returncode == 0, done.stderr
    assert (cup / "mine/anonymized.csv").read_text().splitlines()[1:3] == ["f,20,100.0,0.0", "m,30,200.0,0.0"]
    worded = (
        "from anoncup.testing import words; from anoncup_example import PLUGIN; words.check_words(PLUGIN)"
    )
    assert environment.run("-c", worded, cwd=cup).returncode == 0
    light = "import anoncup.cli.main, anoncup.plugins, sys; assert not {'numpy', 'pandas'} & set(sys.modules)"
    assert environment.run("-c", light, cwd=cup).returncode == 0


COUNTED = """
from pathlib import Path
from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import what_counts
from anoncup.competition.writer import with_scored_by
path = Path("competition.toml")
text = path.read_text()
counted = what_counts(parse_competition(text))
assert counted["packages.anoncup-example"] == "0.1.0", counted
assert counted["measures.combinations_lost"] == counted["attackers.nearest_total"] == "1"
path.write_text(with_scored_by(text, counted))
"""


def test_what_it_brought_counts_in_one_version_and_neither_another_nor_none_scores(
    environment: Environment, example: Path, cup: Path, tmp_path: Path
) -> None:
    environment.install(example, tmp_path / "wheels")
    assert environment.run("-c", COUNTED, cwd=cup).returncode == 0
    assert environment.anoncup("score", *RELEASED, cwd=cup)["verdict"] == "accepted"
    environment.upgrade(example, tmp_path / "wheels", "0.2.0")
    assert refusal(environment, cup) == "part_version"
    environment.upgrade(example, tmp_path / "wheels", "1.0")
    assert refusal(environment, cup) == "package_version"
    environment.uninstall()
    assert refusal(environment, cup) == "package_missing"


def test_a_file_has_the_scale_of_its_measure_where_that_weighs_and_is_read_without_it_elsewhere(
    environment: Environment, example: Path, cup: Path, tmp_path: Path
) -> None:
    environment.install(example, tmp_path / "wheels")
    for text, scaled in ((COMPETITION + USED, True), (COMPETITION, False)):
        (cup / "competition.toml").write_text(text, "utf-8")
        done = environment.run("-m", "anoncup.cli", "scales", *CONTEST, cwd=cup)
        assert ("combinations_lost = " in done.stdout, done.returncode) == (scaled, 0)


def test_what_fails_costs_a_contest_nothing_that_does_not_count_it(
    environment: Environment, example: Path, cup: Path, tmp_path: Path
) -> None:
    (cup / "competition.toml").write_text(COMPETITION, "utf-8")
    before = environment.anoncup("score", *RELEASED, cwd=cup)
    parts = example / "anoncup_example/parts.py"
    parts.write_text(parts.read_text().replace("import numpy as np", "raise ImportError('not here')"))
    environment.install(example, tmp_path / "wheels")
    uncounted = COMPETITION + "[attackers.nearest_total]\ncounts = false\n"
    (cup / "competition.toml").write_text(uncounted, "utf-8")
    assert environment.anoncup("score", *RELEASED, cwd=cup) == before
    (cup / "competition.toml").write_text(COMPETITION + USED, "utf-8")
    done = environment.run("-m", "anoncup.cli", "score", *RELEASED, cwd=cup)
    assert (done.returncode, "ImportError: not here" in done.stderr) == (70, True)
