"""A real Postgres on a disk of its own that is really full."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import httpx2
import psutil
import pytest

from anoncup.client import Client
from anoncup.tables.csv_text import table_csv
from app.processes.embedded_servers import embedded_services
from app.processes.supervisor import Program, wait_until_healthy
from app.services.submissions.uploads import LONGEST_COMMENT
from tests.e2e.stack import QUICK, check_runs, free_port, running
from tests.support.arena import PASSWORD, competition_file, noisy_release, original_table
from tests.support.wait import PATIENCE_S, eventually

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
    command = [sys.executable, "-m", "anoncup.cli", *words]
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


@dataclass(frozen=True)
class Served:
    url: str
    token: str
    """Of the organizer."""
    process: "subprocess.Popen[bytes]"


@contextmanager
def served(folder: Path, data: Path) -> Iterator[Served]:
    """The whole service, with a competition."""
    port, log = free_port(), folder / "serve.log"
    command = [sys.executable, "-m", "anoncup.cli", "serve", "--port", str(port), "--data", str(data)]
    url = f"http://127.0.0.1:{port}"
    env = QUICK | {"ANONCUP_WEB_PROCESSES": "1"}
    with running(Program(name="serve", command=command, env=env, log=log)) as process:
        wait_until_healthy(f"{url}/readyz", check=lambda: check_runs(process, log))
        create_organizer(data)
        with Client(url) as client:
            token = client.token("Ada", PASSWORD)
        with Client(url, token) as client:
            client.create_competition(competition_file(more="[limits]\nvalid_per_day = 50"))
        yield Served(url, token, process)


def is_ready(url: str) -> bool:
    return httpx2.get(f"{url}/readyz", timeout=PATIENCE_S).status_code == 200


@pytest.mark.full
def test_a_full_disk_under_the_database_is_named_logged_and_makes_the_service_unready(
    tmp_path: Path, disk: Path, data: Path
) -> None:
    with served(tmp_path, data) as service:
        url, token = service.url, service.token
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
        assert eventually(lambda: not is_ready(url))
        assert httpx2.get(f"{url}/readyz", timeout=PATIENCE_S).json()["code"] == "database_full"
        assert httpx2.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
        assert httpx2.get(f"{url}/api/v1/competitions/small", timeout=PATIENCE_S).status_code == 200

        obstacle.unlink()
        assert eventually(lambda: is_ready(url))
        assert announce(url, token).status_code == 201
    for name in ("web", "worker", "reports", "scheduler"):
        assert "Traceback" not in (data / "logs" / f"{name}.log").read_text(), name


def upload(url: str, token: str, *, key: str) -> httpx2.Response:
    """Send the release that belongs to a key."""
    anonymized, secret = noisy_release(sum(key.encode()), original_table())
    return httpx2.post(
        f"{url}/api/v1/competitions/small/submissions",
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
        files={"anonymized": ("anonymized.csv", anonymized), "secret": ("secret.csv", secret)},
        data={"comment": Random(key).randbytes(LONGEST_COMMENT // 2).hex()},
        timeout=PATIENCE_S,
    )


@pytest.mark.full
def test_of_uploads_on_a_full_disk_the_accepted_are_scored_and_the_refused_leave_nothing(
    tmp_path: Path, disk: Path, data: Path
) -> None:
    with served(tmp_path, data) as service:
        url = service.url
        with Client(url, service.token, password=lambda: PASSWORD) as client:
            client.put_original("small", table_csv(original_table()), file="original.csv")
            invite = client.invite("small")
        with Client(url) as client:
            token = client.sign_up(invite=invite, team="red", name="Rie", password=PASSWORD)
        workers = psutil.Process(service.process.pid).children(recursive=True)
        with ExitStack() as stack:
            for each in workers:
                if any("workers" in word for word in each.cmdline()):
                    each.suspend()
                    stack.callback(each.resume)
            answers = {"a": upload(url, token, key="a")}
            obstacle = fill(disk)
            refused_announcement(url, service.token)
        for key in "bcdefghijklmnopqrstuvwxyz":
            answers[key] = upload(url, token, key=key)
            if answers[key].status_code != 202:
                break
        refused = answers.pop(key)
        assert (refused.status_code, refused.json()["code"]) == (503, "database_full")

        obstacle.unlink()
        assert eventually(lambda: is_ready(url))
        again = {key: upload(url, token, key=key) for key in (*answers, key)}
        assert {answer.status_code for answer in again.values()} == {202}
        assert [again[each].json()["id"] for each in answers] == [
            each.json()["id"] for each in answers.values()
        ]
        with Client(url, token) as client:
            assert eventually(lambda: {each.status for each in client.submissions("small")} == {"SCORED"})
            found = {str(each.id) for each in client.submissions("small")}
        assert found == {answer.json()["id"] for answer in again.values()}
        spent = [
            answers["a"].json()["quota_left"][name] - left
            for name, left in again[key].json()["quota_left"].items()
        ]
        assert set(spent) == {len(answers)}
