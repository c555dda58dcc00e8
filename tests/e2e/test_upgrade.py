"""Upgrade to a version with one more migration, while the old processes run and after they have ended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from app.config import Settings
from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.operations.backup import backup_and_restore
from tests.support.arena import Arena
from tests.support.backups import clear_caches, restore, restore_url
from tests.support.contest import Contest
from tests.support.service_processes import ServedContest, run_web_server, run_worker
from tests.support.wait import TIMEOUT_S

__all__ = ["restore_url"]

pytestmark = pytest.mark.full

MIGRATIONS = Path(__file__).parents[2] / "migrations"
BOARDS = ("anonymization", "reidentification", "matrix")
NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "{head}", None, None


def upgrade():
    op.add_column("teams", sa.Column("motto", sa.Text(), nullable=False, server_default="we are"))
    op.create_index("ix_submissions_motto", "submissions", ["received_at"])
"""


@dataclass(frozen=True)
class Installation:
    """A service with a contest that has ended, and one that takes submissions."""

    token: str
    logs: Path
    next_version: Path

    def upgrade(self) -> None:
        """Migrate with the command of the next version."""
        completed = self.run("migrate", PYTHONPATH=str(self.next_version))
        assert completed.returncode == 0, completed.stderr
        with transaction() as session:
            assert session.scalar(text("SELECT version_num FROM alembic_version")) == "9999"

    def run(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of anoncup, outside of the checkout so that PYTHONPATH comes first."""
        code = "from anoncup.cli.main import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=self.logs,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def submit(self, url: str, *, seed: int) -> str:
        return ServedContest(url, "small", self.token).submit(seed=seed)

    def wait_until_scored(self, url: str, identifier: str) -> None:
        ServedContest(url, "small", self.token).wait_for_state(identifier, "SCORED")


def read_boards(url: str) -> list[bytes]:
    """Return the boards of the contest that has ended, as JSON and CSV."""
    return [
        httpx2.get(f"{url}/api/v1/competitions/played/boards/{name}", timeout=TIMEOUT_S)
        .raise_for_status()
        .content
        for board in BOARDS
        for name in (board, f"{board}.csv")
    ]


def play_contest(client: TestClient) -> None:
    contest = Contest.create(client, slug="played")
    first, second = contest.publish_targets("red", "green")
    contest.submit_correct_guess("green", first, 3)
    contest.submit_correct_guess("red", second, 5)
    contest.close_attacks()


@pytest.fixture
def installation(
    client: TestClient, settings: Settings, restore_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    """An installation in another database, restored from a backup."""
    play_contest(client)
    token = Arena.create(client, slug="small").get_team_token("blue")
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", restore_url, tmp_path / "data")
    next_version = tmp_path / "next"
    shutil.copytree(MIGRATIONS, next_version / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    head = max(path.name[:4] for path in MIGRATIONS.glob("versions/[0-9]*.py"))
    (next_version / "migrations" / "versions" / "9999_next.py").write_text(
        NEXT_REVISION.replace("{head}", head)
    )
    monkeypatch.setenv("DATABASE_URL", restore_url)
    monkeypatch.setenv("ANONCUP_DATA", str(tmp_path / "data"))
    clear_caches()
    yield Installation(token, tmp_path, next_version)
    monkeypatch.undo()
    clear_caches()


def test_upgrade_while_the_old_processes_run_changes_no_board(installation: Installation) -> None:
    with run_web_server(installation.logs) as url:
        boards = read_boards(url)
        queued = installation.submit(url, seed=1)
        with run_worker(installation.logs):
            installation.upgrade()
            later = installation.submit(url, seed=2)
            for identifier in (queued, later):
                installation.wait_until_scored(url, identifier)
        assert read_boards(url) == boards


def test_upgrade_of_a_stopped_service_scores_what_waited_and_cannot_be_undone(
    installation: Installation,
) -> None:
    with run_web_server(installation.logs) as url:
        boards = read_boards(url)
        queued = installation.submit(url, seed=1)
    installation.upgrade()
    with run_web_server(installation.logs) as url, run_worker(installation.logs):
        installation.wait_until_scored(url, queued)
        assert read_boards(url) == boards
    for command in ("migrate", "serve", "worker", "scheduler", "deliver"):
        completed = installation.run(command)
        assert completed.returncode == 2
        assert completed.stderr == (
            "anoncup: the database is of revision 9999, which this version of anoncup does not know: "
            "install the version that made it, or restore the backup from before the upgrade\n"
        )
    report = installation.run("doctor")
    assert report.returncode == 1
    assert "install the version that made it" in " ".join(report.stdout.split())
    assert "run anoncup migrate" not in report.stdout
