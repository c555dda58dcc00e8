"""A real Postgres on its own full disk."""

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
from anoncup.tables.csv_text import write_csv
from app.operations.embedded_servers import run_embedded_services
from app.operations.supervisor import Program, wait_until_healthy
from app.submissions.uploads import MAX_COMMENT_LENGTH
from tests.support.arena import PASSWORD, build_competition_toml, build_noisy_release, build_original_table
from tests.support.service_processes import (
    QUICK_SETTINGS,
    find_free_port,
    read_command_line,
    require_running,
    run_program,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

DISK_MB = 160
"""Space for a new database and one more segment of its log."""
MAX_ANNOUNCEMENTS = 200
"""More rows of 2 kB than fit into the allocated pages of the tables."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of limited size."""
    mount_point = tmp_path / "disk"
    mount_point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(mount_point)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("skipped: no small disk (this user may mount no tmpfs)")
    try:
        yield mount_point
    finally:
        subprocess.run(["umount", "--lazy", str(mount_point)], check=True)


@pytest.fixture
def data(tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose database is on the small disk."""
    for name in ("DATABASE_URL", "REDIS_URL", "ANONCUP_SEALING_KEY_FILE", "ANONCUP_OPENING_KEYS_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "data"
    with run_embedded_services(folder):
        pass
    shutil.move(folder / "postgres", disk / "postgres")
    (folder / "postgres").symlink_to(disk / "postgres")
    return folder


def fill_disk(disk: Path) -> Path:
    """Fill the disk with a file of another program."""
    file = disk / "other-program"
    command = ["dd", "if=/dev/zero", f"of={file}", "bs=4k"]
    stderr = subprocess.run(command, text=True, capture_output=True, check=False).stderr
    assert "No space left" in stderr
    return file


def create_organizer(data: Path) -> None:
    arguments = [
        "admin",
        "create-user",
        "Ada",
        "--role",
        "organizer",
        "--password-stdin",
        "--data",
        str(data),
    ]
    command = [sys.executable, "-m", "anoncup.cli", *arguments]
    subprocess.run(command, input=PASSWORD + "\n", text=True, capture_output=True, check=True)


def post_announcement(url: str, token: str) -> httpx2.Response:
    return httpx2.post(
        f"{url}/api/v1/competitions/small/announcements",
        headers={"Authorization": f"Bearer {token}"},
        json={"text": {"en": os.urandom(1000).hex()}},
        timeout=TIMEOUT_S,
    )


def announce_until_refused(url: str, token: str) -> httpx2.Response:
    for _ in range(MAX_ANNOUNCEMENTS):
        response = post_announcement(url, token)
        if response.status_code != 201:
            return response
    raise AssertionError(f"{MAX_ANNOUNCEMENTS} announcements fitted on a full disk")


@dataclass(frozen=True)
class DiskTestService:
    url: str
    token: str
    """The token of the organizer."""
    process: "subprocess.Popen[bytes]"


@contextmanager
def run_service(folder: Path, data: Path) -> Iterator[DiskTestService]:
    """Run the whole service with a competition."""
    port, log = find_free_port(), folder / "serve.log"
    command = [sys.executable, "-m", "anoncup.cli", "serve", "--port", str(port), "--data", str(data)]
    url = f"http://127.0.0.1:{port}"
    env = QUICK_SETTINGS | {"ANONCUP_WEB_PROCESSES": "1"}
    with run_program(Program(name="serve", command=command, env=env, log=log)) as process:
        wait_until_healthy(f"{url}/readyz", check=lambda: require_running(process, log))
        create_organizer(data)
        with Client(url) as client:
            token = client.create_token("Ada", PASSWORD)
        with Client(url, token) as client:
            client.create_competition(build_competition_toml(extra_toml="[limits]\nvalid_per_day = 50"))
        yield DiskTestService(url, token, process)


def is_ready(url: str) -> bool:
    return httpx2.get(f"{url}/readyz", timeout=TIMEOUT_S).status_code == 200


def post_upload(url: str, token: str, *, key: str) -> httpx2.Response:
    """Send the release that belongs to a key."""
    anonymized, secret = build_noisy_release(sum(key.encode()), build_original_table())
    return httpx2.post(
        f"{url}/api/v1/competitions/small/submissions",
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
        files={"anonymized": ("anonymized.csv", anonymized), "secret": ("secret.csv", secret)},
        data={"comment": Random(key).randbytes(MAX_COMMENT_LENGTH // 2).hex()},
        timeout=TIMEOUT_S,
    )


def test_accepted_uploads_survive_a_full_disk(tmp_path: Path, disk: Path, data: Path) -> None:
    with run_service(tmp_path, data) as service:
        url = service.url
        with Client(url, service.token, password=lambda: PASSWORD) as client:
            client.put_original("small", write_csv(build_original_table()), filename="original.csv")
            invite = client.create_invite("small")
        with Client(url) as client:
            token = client.sign_up(invite=invite, team="red", name="Rie", password=PASSWORD)
        workers = psutil.Process(service.process.pid).children(recursive=True)
        with ExitStack() as stack:
            for item in workers:
                if any("workers" in word for word in read_command_line(item)):
                    item.suspend()
                    stack.callback(item.resume)
            responses = {"a": post_upload(url, token, key="a")}
            obstacle = fill_disk(disk)
            announce_until_refused(url, service.token)
        for key in "bcdefghijklmnopqrstuvwxyz":
            responses[key] = post_upload(url, token, key=key)
            if responses[key].status_code != 202:
                break
        refused = responses.pop(key)
        assert (refused.status_code, refused.json()["code"]) == (503, "database_full")

        obstacle.unlink()
        assert poll_until(lambda: is_ready(url))
        repeated_responses = {key: post_upload(url, token, key=key) for key in (*responses, key)}
        assert {response.status_code for response in repeated_responses.values()} == {202}
        assert [repeated_responses[item].json()["id"] for item in responses] == [
            item.json()["id"] for item in responses.values()
        ]
        with Client(url, token) as client:
            assert poll_until(
                lambda: {item.status for item in client.list_submissions("small")} == {"SCORED"}
            )
            submission_ids = {str(item.id) for item in client.list_submissions("small")}
        assert submission_ids == {response.json()["id"] for response in repeated_responses.values()}
        quota_spent = [
            responses["a"].json()["quota_left"][name] - quota_left
            for name, quota_left in repeated_responses[key].json()["quota_left"].items()
        ]
        assert set(quota_spent) == {len(responses)}
