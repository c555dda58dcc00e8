"""The example package with its own track: its laws, and a contest on local files."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.environments import EXAMPLE_TRACK, PackageEnvironment, environment

pytestmark = pytest.mark.full
__all__ = ["environment"]

CONTEST_OPTIONS = ("--competition", "places.toml", "--original", "data/places.csv")
RELEASE_OPTIONS = ("--file", "moved=mine/moved.csv", "--secret", "mine/secret.csv")


@pytest.fixture
def cup(environment: PackageEnvironment, tmp_path: Path) -> Path:
    """A folder with the template and generated data, in an environment that has the package."""
    environment.install(Path(shutil.copytree(EXAMPLE_TRACK, tmp_path / "track")), tmp_path / "wheels")
    folder = tmp_path / "cup"
    folder.mkdir()
    run_anoncup(environment, "generate", "data", "--track", "places", "--seed", "1", cwd=folder)
    (folder / "places.toml").write_text(run_anoncup(environment, "template", "places", cwd=folder), "utf-8")
    run_anoncup(environment, "anonymize", *CONTEST_OPTIONS, "--method", "blur", "--into", "mine", cwd=folder)
    return folder


def run_anoncup(environment: PackageEnvironment, *arguments: str, cwd: Path) -> str:
    completed = environment.run("-m", "anoncup.cli", *arguments, cwd=cwd)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


def test_example_track_keeps_the_laws(environment: PackageEnvironment, cup: Path) -> None:
    completed = environment.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE_TRACK / "tests", cwd=cup
    )
    assert completed.returncode == 0, completed.stdout


def test_release_of_the_example_track_is_scored_and_attacked(
    environment: PackageEnvironment, cup: Path
) -> None:
    scores = json.loads(
        run_anoncup(environment, "score", *CONTEST_OPTIONS, *RELEASE_OPTIONS, "--json", cwd=cup)
    )
    assert (scores["verdict"], scores["excessive"]) == ("accepted", None)
    shift = scores["measures"]["shift"]["value"]
    link = scores["attackers"]["nearest_place"]["rate"]
    sure = scores["attackers"]["nearest_pairs"]["rate"]
    assert scores["utility"] == shift / 2
    assert scores["security"] == max(link, sure)
    original_points, moved_points = (
        read_points(cup / name) for name in ("data/places.csv", "mine/moved.csv")
    )
    source = [int(line) - 1 for line in (cup / "mine/secret.csv").read_text().split()[1:]]
    nearest = [
        min(range(len(original_points)), key=lambda index: euclidean_distance(original_points[index], point))
        for point in moved_points
    ]
    assert link == sum(map(int.__eq__, nearest, source)) / len(source)
    distances = [
        euclidean_distance(point, original_points[index])
        for point, index in zip(moved_points, source, strict=True)
    ]
    assert shift == pytest.approx(
        sum(distances) / len(distances) / euclidean_distance((0, 0), (1000, 1000)), rel=1e-12
    )


def read_points(path: Path) -> list[tuple[float, ...]]:
    return [tuple(map(float, line.split(","))) for line in path.read_text().split()[1:]]


def euclidean_distance(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)
