"""A contest on a track that a package provides, from its template to the reveal."""

import io
import json
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx2
import pytest

from anoncup import schemas
from anoncup.client import ApiError, Client
from app.core.processes import child_process
from app.operations.supervisor import wait_until_healthy
from tests.support.arena import PASSWORD
from tests.support.environments import EXAMPLE_TRACK, PackageEnvironment, create_environment, environment
from tests.support.pinned_package import PINNED_PANDAS, add_pinned_package
from tests.support.service_processes import QUICK_SETTINGS, find_free_port, require_running
from tests.support.wait import TIMEOUT_S, poll_until

__all__ = ["environment"]
pytestmark = pytest.mark.full

IMMEDIATE_REVEAL = """
[publication]
reveal_notice_hours = 0

"""
TEAMS = ("red", "blue")
BOARD_PAGES = ("/boards/anonymization", "/boards/reidentification", "/boards/matrix")
PAGES = {
    "visitor": ("", "/rules", *BOARD_PAGES, "/targets"),
    "red": ("", "/rules", "/submissions", "/targets", "/team", "/boards/matrix"),
    "Ada": ("", "/organize", "/organize/data", "/organize/file"),
}


@dataclass
class PackageCup:
    """A running service with the package. ``tokens``: by user name; ``file``: current competition file."""

    url: str
    installed: PackageEnvironment
    folder: Path
    tokens: dict[str, str]
    file: str

    def connect(self, user_name: str) -> Client:
        return Client(self.url, self.tokens[user_name], password=lambda: PASSWORD)

    def move_phases(self, **hours: tuple[float, float]) -> None:
        """Move the phases to windows in hours from now."""
        now = datetime.now(UTC)
        head, *phases = self.file.split("[[phases]]")
        for name, windows in hours.items():
            start, end = ((now + timedelta(hours=offset)).isoformat() for offset in windows)
            phases = [
                f'\nname = "{name}"\nstart = {start}\nend = {end}\n\n' if f'"{name}"' in text else text
                for text in phases
            ]
        self.file = "[[phases]]".join([head, *phases])
        with self.connect("Ada") as client:
            client.put_competition_file("places", self.file)

    def run(self, *arguments: str) -> str:
        result = self.installed.run("-m", "anoncup.cli", *arguments, cwd=self.folder)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def check_pages(self) -> None:
        """Require that every page works in both languages for each user who may see it."""
        for user_name, pages in PAGES.items():
            for language in ("en", "ja"):
                with httpx2.Client(
                    base_url=self.url, headers={"Accept-Language": language}, timeout=TIMEOUT_S
                ) as browser:
                    if user_name != "visitor":
                        sign_in(browser, user_name)
                    for page in pages:
                        response = browser.get(f"/competitions/places{page}", headers={"Accept": "text/html"})
                        assert response.status_code in (200, 303), (user_name, page, response.status_code)


def sign_in(browser: httpx2.Client, name: str) -> None:
    form = {"name": name, "password": PASSWORD, "next": "/"}
    response = browser.post("/sign-in", data=form, headers={"Origin": str(browser.base_url).rstrip("/")})
    assert response.status_code == 303, response.text


@contextmanager
def run_service(environment: PackageEnvironment, data: Path, log: Path) -> Iterator[str]:
    """Run ``anoncup serve`` in the environment. Yield its URL."""
    port = find_free_port()
    program = [str(environment.python_path), "-P", "-m", "anoncup.cli"]
    command = [*program, "serve", "--port", str(port), "--data", str(data)]
    process = child_process.start(command, log=log, env=environment.variables | QUICK_SETTINGS)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/readyz", check=lambda: require_running(process, log))
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT_S)


def create_organizer(environment: PackageEnvironment, data: Path, url: str) -> str:
    program = [str(environment.python_path), "-P", "-m", "anoncup.cli", "admin", "create-user", "Ada"]
    options = ["--role", "organizer", "--password-stdin", "--data", str(data)]
    subprocess.run(
        program + options, env=environment.variables, input=PASSWORD.encode(), check=True, capture_output=True
    )
    with Client(url) as client:
        return client.create_token("Ada", PASSWORD)


@pytest.fixture(params=["the service's interpreter", "an interpreter of its own"])
def cup(
    request: pytest.FixtureRequest, environment: PackageEnvironment, tmp_path: Path
) -> Iterator[PackageCup]:
    """A contest on the track, which the teams' commands have in their environment.

    With an interpreter of its own, the package pins an older pandas and needs a compiled module there.
    """
    environment.install(Path(shutil.copytree(EXAMPLE_TRACK, tmp_path / "track")), tmp_path / "wheels")
    service = environment
    if request.param == "an interpreter of its own":
        service = create_environment(tmp_path / "service")
        assert f"pandas {PINNED_PANDAS}" in add_pinned_package(service, tmp_path, tmp_path / "data")
    with run_service(service, tmp_path / "data", tmp_path / "service.log") as url:
        running_cup = PackageCup(
            url, environment, tmp_path, {"Ada": create_organizer(service, tmp_path / "data", url)}, ""
        )
        running_cup.run("generate", "given", "--track", "places", "--seed", "1")
        first, *phases = running_cup.run("template", "places").split("[[phases]]")
        running_cup.file = "[[phases]]".join([first + IMMEDIATE_REVEAL, *phases])
        with running_cup.connect("Ada") as client:
            client.create_competition(running_cup.file)
            client.put_original("places", (tmp_path / "given/places.csv").read_bytes(), filename="places.csv")
            client.publish_competition("places")
            code = client.create_invite("places", uses=len(TEAMS))
        running_cup.move_phases(anonymization=(-1, 1), reidentification=(2, 3))
        for team in TEAMS:
            with Client(url) as client:
                running_cup.tokens[team] = client.sign_up(
                    invite=code, team=team, name=team, password=PASSWORD
                )
        yield running_cup


def list_targets(client: Client) -> list[schemas.Target]:
    """Return the targets; none until they are published."""
    with suppress(ApiError):
        return client.list_targets("places")
    return []


def is_scored(client: Client, identifier: str) -> bool:
    return client.get_submission(identifier).status == "SCORED"


def require_eventually(condition: Callable[[], bool]) -> None:
    assert poll_until(condition)


def test_contest_on_a_packaged_track_runs_to_its_end(cup: PackageCup) -> None:
    (cup.folder / "places.toml").write_text(cup.file)
    input_options = ("--competition", "places.toml", "--original", "given/places.csv")
    scored: dict[str, Any] = {}
    for seed, team in enumerate(TEAMS):
        method_options = ("--method", "blur", "--set", f"km={4 * seed + 1}", "--seed", str(seed))
        cup.run("anonymize", *input_options, *method_options, "--into", team)
        anonymized, secret = ((cup.folder / team / name).read_bytes() for name in ("moved.csv", "secret.csv"))
        with cup.connect(team) as client:
            identifier = str(client.submit("places", {"moved": anonymized}, secret=secret).id)
            require_eventually(partial(is_scored, client, identifier))
            scored[team] = client.get_submission(identifier).model_dump(mode="json")["result"]
        score_options = ("--file", f"moved={team}/moved.csv", "--secret", f"{team}/secret.csv")
        local_scores = json.loads(cup.run("score", *input_options, *score_options, "--json"))
        assert scored[team]["overall"] == pytest.approx(local_scores["overall"], rel=1e-12)
    cup.check_pages()
    kit = httpx2.get(f"{cup.url}/api/v1/competitions/places/kit.zip", timeout=TIMEOUT_S).content
    with ZipFile(io.BytesIO(kit)) as files:
        readme = files.read("README.md").decode()
    path, digest = re.findall(
        rf'--with "anoncup-places @ {cup.url}(\S+)#sha256=(\w+)" anoncup score', readme
    )[0]
    assert sha256(httpx2.get(cup.url + path).content).hexdigest() == digest

    cup.move_phases(anonymization=(-2, -1), reidentification=(-0.5, 1))
    with cup.connect("red") as client:
        require_eventually(lambda: bool(list_targets(client)))
        (target,) = [item for item in list_targets(client) if not item.own]
        rows = len((cup.folder / "blue/secret.csv").read_text().split()) - 1
        persons = (cup.folder / "blue/secret.csv").read_text().split()[1:]
        half_guess = "row,person\n" + "".join(
            f"{row},{person}\n" for row, person in enumerate(persons[: rows // 2], 1)
        )
        client.send_guess(str(target.id), half_guess.encode(), question="sure")
        client.send_guess(str(target.id), b"original_row\n" + b"0\n" * rows)
        require_eventually(lambda: {item.status for item in client.list_guesses("places")} == {"SCORED"})
    cup.check_pages()

    cup.move_phases(reidentification=(-0.5, -0.01))
    with cup.connect("red") as client:
        require_eventually(lambda: any(row.rival_risk is not None for row in client.get_board("places").rows))
        board = {row.team: row for row in client.get_board("places").rows}
        assert board["blue"].rival_risk == (rows // 2) / rows
        assert board["red"].rival_risk is None
        (own_row,) = [row for row in client.get_attackers_board("places").rows if row.own]
        assert (own_row.rank, own_row.identified) == (1, None)
    cup.check_pages()
