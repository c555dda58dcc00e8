"""A contest on a package's own track, from its template to the reveal."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from anoncup import schemas
from anoncup.client import Client, Refused
from tests.support.arena import PASSWORD
from tests.support.environments import TRACK, Environment, environment
from tests.support.package_service import organizer_at, serving
from tests.support.wait import PATIENCE_S, eventually

__all__ = ["environment"]
pytestmark = pytest.mark.full

AT_ONCE = """
[publication]
reveal_notice_hours = 0

"""
TEAMS = ("red", "blue")
PAGES = {
    "visitor": (
        "",
        "/rules",
        "/boards/anonymization",
        "/boards/reidentification",
        "/boards/matrix",
        "/targets",
    ),
    "red": ("", "/rules", "/submissions", "/targets", "/team", "/boards/matrix"),
    "Ada": (
        "",
        "/organize",
        "/organize/measures",
        "/organize/data",
        "/organize/publication",
        "/organize/file",
    ),
}


@dataclass
class Cup:
    """A running service with the package; ``tokens`` by who acts, ``file`` the contest's as it stands."""

    url: str
    installed: Environment
    folder: Path
    tokens: dict[str, str]
    file: str

    def acting(self, who: str) -> Client:
        return Client(self.url, self.tokens[who], password=lambda: PASSWORD)

    def move(self, **hours: tuple[float, float]) -> None:
        """Give the phases windows, in hours from now."""
        now = datetime.now(UTC)
        head, *phases = self.file.split("[[phases]]")
        for name, windows in hours.items():
            start, end = ((now + timedelta(hours=at)).isoformat() for at in windows)
            phases = [
                f'\nname = "{name}"\nstart = {start}\nend = {end}\n\n' if f'"{name}"' in one else one
                for one in phases
            ]
        self.file = "[[phases]]".join([head, *phases])
        with self.acting("Ada") as client:
            client.put_competition_file("places", self.file)

    def run(self, *words: str) -> str:
        done = self.installed.run("-m", "anoncup.cli", *words, cwd=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def look(self) -> None:
        """Every page answers, in both languages, for each who may see it."""
        for who, pages in PAGES.items():
            for language in ("en", "ja"):
                with httpx2.Client(
                    base_url=self.url, headers={"Accept-Language": language}, timeout=PATIENCE_S
                ) as browser:
                    if who != "visitor":
                        sign_in(browser, who)
                    for page in pages:
                        answer = browser.get(f"/competitions/places{page}", headers={"Accept": "text/html"})
                        assert answer.status_code in (200, 303), (who, page, answer.status_code)


def sign_in(browser: httpx2.Client, name: str) -> None:
    sent = {"name": name, "password": PASSWORD, "next": "/"}
    answer = browser.post("/sign-in", data=sent, headers={"Origin": str(browser.base_url).rstrip("/")})
    assert answer.status_code == 303, answer.text


@pytest.fixture
def cup(environment: Environment, tmp_path: Path) -> Iterator[Cup]:
    environment.install(Path(shutil.copytree(TRACK, tmp_path / "track")), tmp_path / "wheels")
    with serving(environment, tmp_path / "data", tmp_path / "service.log") as url:
        made = Cup(url, environment, tmp_path, {"Ada": organizer_at(environment, tmp_path / "data", url)}, "")
        made.run("generate", "given", "--track", "places", "--seed", "1")
        first, *phases = made.run("template", "places").split("[[phases]]")
        made.file = "[[phases]]".join([first + AT_ONCE, *phases])
        with made.acting("Ada") as client:
            client.create_competition(made.file)
            client.put_original("places", (tmp_path / "given/places.csv").read_bytes(), file="places.csv")
            code = client.invite("places", uses=len(TEAMS))
        made.move(anonymization=(-1, 1), reidentification=(2, 3))
        for team in TEAMS:
            with Client(url) as client:
                made.tokens[team] = client.sign_up(invite=code, team=team, name=team, password=PASSWORD)
        yield made


def targets_of(client: Client) -> list[schemas.Target]:
    """None until they are published."""
    with suppress(Refused):
        return client.targets("places")
    return []


def is_scored(client: Client, identifier: str) -> bool:
    return client.submission(identifier).status == "SCORED"


def until(reached: Callable[[], bool]) -> None:
    assert eventually(reached)


def test_a_contest_of_a_track_that_only_its_package_knows(cup: Cup) -> None:
    (cup.folder / "places.toml").write_text(cup.file)
    local = ("--competition", "places.toml", "--original", "given/places.csv")
    scored: dict[str, Any] = {}
    for seed, team in enumerate(TEAMS):
        made = ("--method", "blur", "--set", f"km={4 * seed + 1}", "--seed", str(seed), "--into", team)
        cup.run("anonymize", *local, *made)
        moved, secret = ((cup.folder / team / name).read_bytes() for name in ("moved.csv", "secret.csv"))
        with cup.acting(team) as client:
            identifier = str(client.submit("places", {"moved": moved}, secret=secret).id)
            until(partial(is_scored, client, identifier))
            scored[team] = client.submission(identifier).model_dump(mode="json")["result"]
        sent = ("--file", f"moved={team}/moved.csv", "--secret", f"{team}/secret.csv")
        assert json.loads(cup.run("score", *local, *sent, "--json"))["overall"] == scored[team]["overall"]
    cup.look()

    cup.move(anonymization=(-2, -1), reidentification=(-0.5, 1))
    with cup.acting("red") as client:
        until(lambda: bool(targets_of(client)))
        (target,) = [one for one in targets_of(client) if not one.own]
        rows = len((cup.folder / "blue/secret.csv").read_text().split()) - 1
        source = (cup.folder / "blue/secret.csv").read_text().split()[1:]
        half = "row,person\n" + "".join(
            f"{row},{person}\n" for row, person in enumerate(source[: rows // 2], 1)
        )
        client.guess(str(target.id), half.encode(), question="sure")
        client.guess(str(target.id), b"original_row\n" + b"0\n" * rows)
        until(lambda: {one.status for one in client.guesses("places")} == {"SCORED"})
    cup.look()

    cup.move(reidentification=(-0.5, -0.01))
    with cup.acting("red") as client:
        until(lambda: any(row.rivals is not None for row in client.board("places").rows))
        board = {row.team: row for row in client.board("places").rows}
        assert board["blue"].rivals == (rows // 2) / rows
        assert board["red"].rivals is None
        (mine,) = [row for row in client.attackers("places").rows if row.own]
        assert (mine.rank, mine.identified) == (1, None)
    cup.look()
