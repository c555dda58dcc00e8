"""A team goes from its invite to its first score with the kit alone, as the README in it says."""

import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.competition.writer import set_threshold
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from tests.support.arena import PASSWORD, Arena
from tests.support.command_line import run_worker
from tests.support.contest import run_clock
from tests.support.kit_commands import list_kit_commands
from tests.support.library_environment import light_python, python, run_python, wheel
from tests.support.notebooks import list_code_cells
from tests.support.shop_contest import ORIGINAL as SHOP_FILES
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

__all__ = ["light_python", "python", "wheel"]

SLUG = "cup"


def open_contest(client: TestClient, name: str) -> Arena:
    """Open a contest of the track with its template and example data."""
    track, now = TRACKS[name], datetime.now(UTC)
    text = re.sub(
        'slug = ".*"', f'slug = "{SLUG}"', template(next(iter(track.examples.templates), name)), count=1
    )
    text = replace_phases(
        text,
        [
            Phase("anonymization", now - timedelta(days=1), now + timedelta(days=1)),
            Phase("reidentification", now + timedelta(days=2), now + timedelta(days=3)),
        ],
    )
    if track.examples.make_data is None:
        original = {name: content.encode() for name, content in SHOP_FILES.items()}
    else:
        original = track.examples.make_data(parse_competition(text), 40, 0)
    original = {name: original[name] for name in track.original_file_names if name in original}
    needs_threshold = parse_competition(text).excessive is not None
    file = set_threshold(text, 0.2) if needs_threshold else text
    return Arena.create(client, slug=SLUG, file=file, original=original)


@dataclass(frozen=True)
class Team:
    """A person with two environments: one with the library alone, one with the extra ``score``."""

    light_python: Path
    full_python: Path
    folder: Path
    url: str

    def run(self, words: str, *answers: str, scores: bool = False) -> str:
        return run_python(
            self.full_python if scores else self.light_python,
            *("-m", "anoncup.cli", *shlex.split(words), *answers),
            folder=self.folder,
            env={"XDG_CONFIG_HOME": str(self.folder / "config"), "ANONCUP_URL": self.url},
            typed=f"{PASSWORD}\n" if answers else "",
        )

    def unpack_kit(self) -> str:
        """Download and unpack the kit, and return the English part of its README."""
        self.run(f"download {SLUG} --kit --into .")
        ZipFile(self.folder / "kit.zip").extractall(self.folder)
        return (self.folder / "README.md").read_text("utf-8").partition("## 参加")[0]


@pytest.fixture
def team(light_python: Path, python: Path, url: str, quiet_server: None, tmp_path: Path) -> Team:
    return Team(light_python, python, tmp_path, url)


@pytest.mark.parametrize("name", TRACKS)
def test_a_team_scores_its_first_release(client: TestClient, team: Team, name: str) -> None:
    arena, verbs = open_contest(client, name), []
    code = arena.post(f"/competitions/{SLUG}/invites", json={}).json()["code"]
    person = ("--name", "Bob", "--password-stdin")
    answers = {"login": person, "sign-up": (*person, "--invite", code)}
    commands = list_kit_commands(team.unpack_kit())
    # The account is made first: a newcomer signs up instead of signing in.
    commands.sort(key=lambda entry: not entry[1].startswith("sign-up"))
    outputs = {}
    with run_worker(score_everything):
        for extra, command in commands:
            verbs.append(command.split()[0])
            outputs[verbs[-1]] = team.run(command, *answers.get(verbs[-1], ()), scores=bool(extra))
            run_clock()  # the service allocates data to the new team
    local = ["check-kit", "anonymize", "check", "score", "login"]
    if TRACKS[name].allocates_answer:
        local = ["check-kit", "check", "score", "login", "download", "anonymize"]
    assert verbs == ["sign-up", *local, "submit", "board"]
    assert "this machine computes the scores of the service" in outputs["check-kit"]
    assert "accepted" in outputs["submit"]
    assert "TEAM" in outputs["board"]
    notebook = nbformat.read(team.folder / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in list_code_cells(notebook))
    printed = run_python(team.full_python, "-c", f"{code}\nprint(mine)", folder=team.folder)
    assert printed.startswith("AnonymizedTables: ")
