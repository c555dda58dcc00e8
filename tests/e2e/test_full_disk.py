"""A real Postgres on a disk of its own that is really full."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.client import Client
from app.local.embedded import embedded_services
from app.local.processes import Program, wait_until_healthy
from tests.arena import PASSWORD, competition_file
from tests.e2e.stack import QUICK, check_runs, free_port, running
from tests.patience import PATIENCE_S, eventually

pytestmark = pytest.mark.full

DISK_MB = 160
"""Room for a new database, and for a segment of its log more."""
ENOUGH = 200
"""Rows of 2 kB that do not fit into the pages that the tables have already."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a bounded size."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(mounted)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("skipped: no small disk (this user may mount no tmpfs)")
    try:
        yield mounted
    finally:
        subprocess.run(["umount", "--lazy", str(mounted)], check=True)


@pytest.fixture
def data(tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose database lies on the small disk."""
    for name in ("DATABASE_URL", "REDIS_URL", "ANONCUP_SEALING_KEY_FILE", "ANONCUP_OPENING_KEYS_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "data"
    with embedded_services(folder):
        pass
    shutil.move(folder / "postgres", disk / "postgres")
    (folder / "postgres").symlink_to(disk / "postgres")
    return folder


def fill(disk: Path) -> Path:
    """Another program's file that takes all the space that is left."""
    file = disk / "other-program"
    command = ["dd", "if=/dev/zero", f"of={file}", "bs=4k"]
    said = subprocess.run(command, text=True, capture_output=True, check=False).stderr
    assert "No space left" in said
    return file


def create_organizer(data: Path) -> None:
    words = ["admin", "create-user", "Ada", "--role", "organizer", "--password-stdin", "--data", str(data)]
    command = [sys.executable, "-m", "app.cli", *words]
    subprocess.run(command, input=PASSWORD + "\n", text=True, capture_output=True, check=True)


def announce(url: str, token: str) -> httpx2.Response:
    return httpx2.post(
        f"{url}/api/v1/competitions/small/announcements",
        headers={"Authorization": f"Bearer {token}"},
        json={"text": {"en": os.urandom(1000).hex()}},
        timeout=PATIENCE_S,
    )


def refused_announcement(url: str, token: str) -> httpx2.Response:
    for _ in range(ENOUGH):
        answer = announce(url, token)
        if answer.status_code != 201:
            return answer
    raise AssertionError(f"{ENOUGH} announcements fitted on a full disk")


def logged(log: Path, event: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


@pytest.mark.full
def test_a_full_disk_under_the_database_is_named_logged_and_makes_the_service_unready(
    tmp_path: Path, disk: Path, data: Path
) -> None:
    port, log = free_port(), tmp_path / "serve.log"
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port), "--data", str(data)]
    url = f"http://127.0.0.1:{port}"
    env = QUICK | {"ANONCUP_WEB_PROCESSES": "1"}
    with running(Program(name="serve", command=command, env=env, log=log)) as process:
        wait_until_healthy(f"{url}/readyz", check=lambda: check_runs(process, log))
        create_organizer(data)
        with Client(url) as client:
            token = client.token("Ada", PASSWORD)
        with Client(url, token) as client:
            client.create_competition(competition_file())

        obstacle = fill(disk)
        refused = refused_announcement(url, token)
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
        assert refused.json()["code"] == "database_full"
        assert refused.json()["detail"] == "the database's disk is full"
        assert {
            (line["kind"], line["sqlstate"]) for line in logged(data / "logs" / "web.log", "database_error")
        } == {("DiskFull", "53100")}
        assert eventually(lambda: httpx2.get(f"{url}/readyz", timeout=PATIENCE_S).status_code == 503)
        assert httpx2.get(f"{url}/readyz", timeout=PATIENCE_S).json()["code"] == "database_full"
        assert httpx2.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
        assert httpx2.get(f"{url}/api/v1/competitions/small", timeout=PATIENCE_S).status_code == 200

        obstacle.unlink()
        assert eventually(lambda: httpx2.get(f"{url}/readyz", timeout=PATIENCE_S).status_code == 200)
        assert announce(url, token).status_code == 201
    for name in ("web", "worker", "reports", "scheduler"):
        assert "Traceback" not in (data / "logs" / f"{name}.log").read_text(), name
