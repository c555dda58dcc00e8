"""A client that openapi-python-client makes from the description of the API plays a contest."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from anoncup.client import Client
from anoncup.tables.csv_text import write_csv
from app.config import Settings
from tests.support.arena import build_noisy_release, build_original_table
from tests.support.contest import build_two_phase_toml
from tests.support.pinned_package import skip_without_registry
from tests.support.service_processes import create_invite, move_phases, open_contest, run_worker
from tests.support.wait import poll_until

pytestmark = pytest.mark.full

GENERATOR = "openapi-python-client==0.29.1"
REQUIREMENTS = ("httpx", "attrs", "python-dateutil")
SCRIPT = Path(__file__).parents[1] / "support/generated_client_contest.py"
CONFIGURATION = Path(__file__).parents[2] / "examples/openapi_client.yml"
UV = Path(sys.executable).parent / "uv"


def run_uv(*arguments: str | Path) -> str:
    """Run a command of uv and return its output; skip without a registry of packages."""
    completed = subprocess.run([UV, *arguments], capture_output=True, encoding="utf-8", check=False)
    skip_without_registry(completed)
    return completed.stdout


@pytest.fixture
def play(server: str, tmp_path: Path) -> Callable[[str], list[str]]:
    """Generate the client from the server's description; return a function that plays a step with it."""
    description = tmp_path / "openapi.json"
    description.write_bytes(httpx2.get(f"{server}/api/v1/openapi.json").content)
    run_uv(
        *("tool", "run", "-q", "--from", GENERATOR, "openapi-python-client", "generate"),
        *("--path", description, "--config", CONFIGURATION, "--meta", "none", "--fail-on-warning"),
        *("--output-path", tmp_path / "contest_client"),
    )
    script = shutil.copy(SCRIPT, tmp_path)
    packages = [option for name in REQUIREMENTS for option in ("--with", name)]
    command = ["run", "-q", "--no-project", "--isolated", "--python", sys.executable, *packages]
    return lambda step: run_uv(*command, "python", script, server, tmp_path, step).split()


def test_generated_client_plays_a_contest(
    settings: Settings, server: str, tmp_path: Path, play: Callable[[str], list[str]]
) -> None:
    original = {"original": write_csv(build_original_table())}
    contest = open_contest(server, file=build_two_phase_toml(), original=original, slug="small")
    (tmp_path / "invite").write_text(create_invite(server, "small"))
    for name, content in zip(
        ("anonymized", "secret"), build_noisy_release(1, build_original_table()), strict=True
    ):
        (tmp_path / f"{name}.csv").write_bytes(content)
    with run_worker(tmp_path), Client(server, contest.token) as client:
        contest.wait_for_state(contest.submit(seed=2), "SCORED")
        status, overall, *teams = play("release")
        assert (status, sorted(teams)) == ("SCORED", ["Blue", "red"])
        (board_overall,) = (row.overall for row in client.get_board("small").rows if row.team == "Blue")
        assert board_overall == round(float(overall), 4)
        move_phases(anonymization=(-2, -1), reidentification=(-1, 1))
        assert poll_until(lambda: client.get_competition("small").state == "reidentification")
        (own_target,) = (target for target in client.list_targets("small") if target.own)
        guess = ["original_row", *map(str, range(1, own_target.rows + 1))]
        (tmp_path / "guess.csv").write_text("\n".join(guess))
        assert play("guess") == [own_target.name, "SCORED", str(own_target.rows)]
