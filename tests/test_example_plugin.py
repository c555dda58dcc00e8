"""The example package: built, installed next to anoncup in a virtual environment, used and uninstalled."""

import json
from pathlib import Path

import pytest

from tests.support.environments import PackageEnvironment, environment, example
from tests.support.release_files import COMPETITION, ORIGINAL, RELEASE, SECRET

pytestmark = pytest.mark.full
__all__ = ["environment", "example"]

PACKAGE_TABLES = """
[requires]
Anoncup_Example = ">=0.1,<1"
[measures.combinations_lost]
weight = 1.0
[attackers.nearest_total]
"""
CONTEST_OPTIONS = ("--competition", "competition.toml", "--original", "original.csv")
RELEASE_OPTIONS = (*CONTEST_OPTIONS, "--anonymized", "release.csv", "--secret", "secret.csv")


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    folder = tmp_path / "cup"
    folder.mkdir()
    files = {"original.csv": ORIGINAL, "release.csv": RELEASE, "secret.csv": SECRET}
    for name, content in {**files, "competition.toml": COMPETITION + PACKAGE_TABLES}.items():
        (folder / name).write_text(content, "utf-8")
    return folder


def read_refusal_code(environment: PackageEnvironment, cup: Path) -> str:
    completed = environment.run("-m", "anoncup.cli", "score", *RELEASE_OPTIONS, "--json", cwd=cup)
    assert completed.returncode == 2, completed.stderr
    return str(json.loads(completed.stdout)["code"])


def test_example_is_listed_and_scores_and_anonymizes(
    environment: PackageEnvironment, example: Path, cup: Path, tmp_path: Path
) -> None:
    assert environment.run_anoncup("plugins", cwd=cup) == []
    assert read_refusal_code(environment, cup) == "package_missing"
    environment.install(example, tmp_path / "wheels")
    (package,) = environment.run_anoncup("plugins", cwd=cup)
    assert package == {
        "name": "anoncup-example",
        "version": "0.1.0",
        "entry": "anoncup_example:PLUGIN",
        "parts": [
            "microdata.measures.combinations_lost",
            "microdata.attackers.nearest_total",
            "microdata.methods.round_values",
        ],
        "broken": None,
        "environment": "",
        "versions": {},
    }
    scores = environment.run_anoncup("score", *RELEASE_OPTIONS, cwd=cup)
    assert scores["measures"]["combinations_lost"]["value"] == 0.0
    assert scores["attackers"]["nearest_total"]["rate"] == 1.0
    (cup / "release.csv").write_text(RELEASE.replace("m,40", "m,30"), "utf-8")
    scores = environment.run_anoncup("score", *RELEASE_OPTIONS, cwd=cup)
    assert scores["measures"]["combinations_lost"]["value"] == 0.25
    rounding = ("--method", "round_values", "--set", "step=50", "--into", "mine", "--keep-order")
    completed = environment.run("-m", "anoncup.cli", "anonymize", *CONTEST_OPTIONS, *rounding, cwd=cup)
    assert completed.returncode == 0, completed.stderr
    assert (cup / "mine/anonymized.csv").read_text().splitlines()[1:3] == ["f,20,100.0,0.0", "m,30,200.0,0.0"]
    completed = environment.run("-m", "pytest", "-q", str(example / "tests"), cwd=cup)
    assert completed.returncode == 0, completed.stdout
    light_program = (
        "import anoncup.cli.main, anoncup.plugins, sys; assert not {'numpy', 'pandas'} & set(sys.modules)"
    )
    assert environment.run("-c", light_program, cwd=cup).returncode == 0


def test_failing_part_affects_only_contests_that_count_it(
    environment: PackageEnvironment, example: Path, cup: Path, tmp_path: Path
) -> None:
    (cup / "competition.toml").write_text(COMPETITION, "utf-8")
    scores_before = environment.run_anoncup("score", *RELEASE_OPTIONS, cwd=cup)
    parts = example / "anoncup_example/parts.py"
    parts.write_text(parts.read_text().replace("import numpy as np", "raise ImportError('not here')"))
    environment.install(example, tmp_path / "wheels")
    uncounted_file = COMPETITION + "[attackers.nearest_total]\ncounts = false\n"
    (cup / "competition.toml").write_text(uncounted_file, "utf-8")
    assert environment.run_anoncup("score", *RELEASE_OPTIONS, cwd=cup) == scores_before
    (cup / "competition.toml").write_text(COMPETITION + PACKAGE_TABLES, "utf-8")
    completed = environment.run("-m", "anoncup.cli", "score", *RELEASE_OPTIONS, cwd=cup)
    assert (completed.returncode, "ImportError: not here" in completed.stderr) == (70, True)
