"""The example package with a track of its own: its laws, and a contest on one's own files."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.environments import TRACK, Environment, environment

pytestmark = pytest.mark.full
__all__ = ["environment"]

LOCAL = ("--competition", "places.toml", "--original", "data/places.csv")
SENT = ("--file", "moved=mine/moved.csv", "--secret", "mine/secret.csv")


@pytest.fixture
def cup(environment: Environment, tmp_path: Path) -> Path:
    """A folder with the template and made-up data, where the package is installed."""
    environment.install(Path(shutil.copytree(TRACK, tmp_path / "track")), tmp_path / "wheels")
    folder = tmp_path / "cup"
    folder.mkdir()
    run(environment, "generate", "data", "--track", "places", "--seed", "1", cwd=folder)
    (folder / "places.toml").write_text(run(environment, "template", "places", cwd=folder), "utf-8")
    run(environment, "anonymize", *LOCAL, "--method", "blur", "--into", "mine", cwd=folder)
    return folder


def run(environment: Environment, *words: str, cwd: Path) -> str:
    done = environment.run("-m", "anoncup.cli", *words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_test_holds_it_to_the_laws(environment: Environment, cup: Path) -> None:
    done = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", TRACK / "tests", cwd=cup)
    assert done.returncode == 0, done.stdout


def test_a_release_is_scored_and_attacked_by_its_own_questions(environment: Environment, cup: Path) -> None:
    found = json.loads(run(environment, "score", *LOCAL, *SENT, "--json", cwd=cup))
    assert (found["verdict"], found["excessive"]) == ("accepted", None)
    shift, link, sure = (
        found["measures"]["shift"]["value"],
        found["attackers"]["nearest_place"]["rate"],
        found["attackers"]["nearest_pairs"]["rate"],
    )
    assert found["utility"] == shift / 2
    assert found["security"] == max(link, sure)
    places, moved = (lines(cup / name) for name in ("data/places.csv", "mine/moved.csv"))
    source = [int(line) - 1 for line in (cup / "mine/secret.csv").read_text().split()[1:]]
    near = [min(range(len(places)), key=lambda person: apart(places[person], one)) for one in moved]
    assert link == sum(map(int.__eq__, near, source)) / len(source)
    ways = [apart(one, places[person]) for one, person in zip(moved, source, strict=True)]
    assert shift == pytest.approx(sum(ways) / len(ways) / apart((0, 0), (1000, 1000)), rel=1e-12)


def lines(path: Path) -> list[tuple[float, ...]]:
    return [tuple(map(float, line.split(","))) for line in path.read_text().split()[1:]]


def apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)


@pytest.mark.parametrize(
    ("text", "code", "row"),
    [
        ("x,y\n1,2\n3,4000\n", "out_of_range", 2),
        ("x,y\n1,two\n", "not_a_number", 1),
        ("x\n1\n", "header", None),
    ],
)
def test_a_release_that_is_none_is_refused_with_its_place(
    environment: Environment, cup: Path, text: str, code: str, row: int | None
) -> None:
    (cup / "mine/moved.csv").write_text(text)
    done = environment.run("-m", "anoncup.cli", "check", *LOCAL, *SENT[:2], "--json", cwd=cup)
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)["errors"]
    assert (problem["file"], problem["code"], problem["row"]) == ("moved.csv", code, row)
