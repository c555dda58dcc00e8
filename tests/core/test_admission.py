"""Limits on parallel uploads: one per team, a few per process, and a byte budget for parsing."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select
from starlette.datastructures import UploadFile

from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.tables.csv_text import write_csv
from app.config import Settings, get_settings
from app.core.http import admission, throttle
from app.core.http.admission import Admission
from app.core.identity.session_cookie import COOKIE
from app.submissions.models import Attempt
from app.submissions.uploads import ReleaseUpload
from tests.support.arena import Arena, build_noisy_release
from tests.support.database_rows import load_one
from tests.support.raw_asgi import StreamedRequest, WebProcess, open_request, start_web_process
from tests.support.wait import poll_until

pytestmark = pytest.mark.full


@contextmanager
def limited_process(**settings: Any) -> Iterator[WebProcess]:
    """Run a web process with its own admission limits."""
    with start_web_process() as web:
        web.app.state.admission = Admission(get_settings().model_copy(update=settings))
        yield web


@contextmanager
def open_upload(web: WebProcess, arena: Arena, team: str, *, seed: int = 1) -> Iterator[StreamedRequest]:
    table, secret = build_noisy_release(seed, arena.table)
    files = {"anonymized": table, "secret": secret}
    path = f"/api/v1/competitions/{arena.slug}/submissions"
    with open_request(web, path, token=arena.get_team_token(team), files=files) as upload:
        yield upload


def count_attempts() -> int:
    return load_one(select(func.count()).where(Attempt.counts))


def test_uploads_of_a_team_are_serialized_across_processes(arena: Arena) -> None:
    with start_web_process() as web, open_upload(web, arena, "red") as first:
        first.wait_for_body_read()
        with start_web_process() as second_web, open_upload(second_web, arena, "red", seed=2) as second:
            assert poll_until(lambda: count_attempts() == 2)
            assert second.body_reads.empty()
            assert first.finish().status == 202
            second.wait_for_body_read()
            assert second.finish().status == 202


def test_upload_that_waits_too_long_gets_retry_after(arena: Arena) -> None:
    with start_web_process() as web, open_upload(web, arena, "red") as first:
        first.wait_for_body_read()
        with (
            limited_process(upload_patience_s=0) as impatient_web,
            open_upload(impatient_web, arena, "red", seed=2) as second,
        ):
            assert second.wait_for_response().status_and_code == (503, "busy")
            assert int(second.header("retry-after")) > 0
            assert second.body_reads.empty()
        assert count_attempts() == 1
        assert first.finish().status == 202


def test_number_of_parallel_uploads_is_limited(arena: Arena) -> None:
    with limited_process(uploads_at_once=1) as web, open_upload(web, arena, "red") as first:
        first.wait_for_body_read()
        with open_upload(web, arena, "blue") as second:
            assert poll_until(lambda: count_attempts() == 2)
            assert second.body_reads.empty()
            first.disconnect()
            second.wait_for_body_read()
            assert second.finish().status == 202


def test_waiting_competitions_get_slots_in_turn(settings: Settings) -> None:
    busy, quiet, served = uuid4(), uuid4(), list[UUID]()

    async def hold_briefly(limits: Admission, competition_id: UUID) -> None:
        async with limits.hold_slot(limits.upload_slots, competition_id, f"team {uuid4()}"):
            served.append(competition_id)
            await asyncio.sleep(0)

    async def run() -> None:
        limits = Admission(settings.model_copy(update={"uploads_at_once": 1}))
        await asyncio.gather(*(hold_briefly(limits, identifier) for identifier in [*[busy] * 5, quiet]))

    asyncio.run(run())
    assert served == [busy, busy, quiet, busy, busy, busy]


def test_number_of_bytes_parsed_in_parallel_is_limited(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a byte budget of zero, each upload is parsed alone."""
    parse, lock = ReleaseUpload.parse, Lock()

    def parse_alone(upload: ReleaseUpload, *arguments: Any) -> None:
        assert lock.acquire(blocking=False), "another upload is being parsed"
        try:
            parse(upload, *arguments)
        finally:
            lock.release()

    monkeypatch.setattr(ReleaseUpload, "parse", parse_alone)
    with limited_process(parsed_mb=0) as web, ExitStack() as stack:
        uploads = [stack.enter_context(open_upload(web, arena, f"team {number}")) for number in range(6)]
        for upload in uploads:
            upload.wait_for_body_read()
            upload.request_messages.put({"type": "http.request", "body": upload.body, "more_body": False})
        assert [upload.wait_for_response().status for upload in uploads] == [202] * 6
        assert web.app.state.admission.parse_budget.used_bytes == 0


def test_large_file_is_spooled_to_an_unnamed_file(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with start_web_process() as web, open_upload(web, arena, "red") as upload:
        upload.body = upload.body.replace(b"\r\n\r\n", b"\r\n\r\n" + b"x" * 3_000_000, 1)
        upload.wait_for_body_read()
        upload.send_part(2_500_000)
        upload.wait_for_body_read()
        assert has_open_file(tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert upload.finish().status == 422
        assert not has_open_file(tmp_path)


def has_open_file(folder: Path) -> bool:
    """Return whether this process has an open file in the folder, named or unnamed."""
    open_paths = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            open_paths.append(os.readlink(handle))
    return any(name.startswith(str(folder)) for name in open_paths)


def test_full_disk_during_an_upload_costs_no_attempt(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    async def raise_disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with start_web_process() as web, open_upload(web, arena, "red") as upload:
        monkeypatch.setattr(UploadFile, "write", raise_disk_full)
        upload.send_part(len(upload.body) // 2)
        assert upload.finish().status_and_code == (503, "storage_unavailable")
    assert count_attempts() == 0


def test_oversized_file_is_stored_only_up_to_the_limit(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nfile_mb = 1")
    bytes_written, write = [0], UploadFile.write

    async def write_and_count(file: UploadFile, content: bytes) -> None:
        bytes_written[0] += len(content)
        await write(file, content)

    monkeypatch.setattr(UploadFile, "write", write_and_count)
    with start_web_process() as web, open_upload(web, arena, "red") as upload:
        upload.body = upload.body.replace(b"\r\n\r\n", b"\r\n\r\n" + b"x" * 5_000_000, 1)
        while len(upload.body) > 64 * 1024:
            upload.send_part(64 * 1024)
        assert upload.finish().status_and_code == (413, "too_large")
    assert bytes_written[0] < 1.1 * 2**20


def test_without_redis_each_process_locks_teams_itself(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.get_team_token("red")
    unreachable = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    monkeypatch.setattr(admission, "get_settings", lambda: unreachable)
    with start_web_process() as web, open_upload(web, arena, "red") as first:
        first.wait_for_body_read()
        with open_upload(web, arena, "red", seed=2) as second:
            assert poll_until(lambda: count_attempts() == 2)
            assert second.body_reads.empty()
            assert first.finish().status == 202
            second.wait_for_body_read()
            assert second.finish().status == 202


def test_lock_of_a_dead_process_expires(settings: Settings) -> None:
    key = "anoncup:lock:red"

    async def read_ttl_while_held() -> int:
        async with admission._hold_distributed_lock("red"):
            return int(throttle.get_storage().storage.ttl(key))

    assert 0 < asyncio.run(read_ttl_while_held()) <= admission.LOCK_TTL_S
    assert not throttle.get_storage().storage.exists(key)


def test_original_upload_waits_for_the_byte_budget(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    app: Any = arena.client.app
    admission: Admission = app.state.admission
    monkeypatch.setattr(admission, "max_wait_s", 0.01)
    table, cookie = write_csv(arena.table), {"Cookie": f"{COOKIE}={arena.get_session(arena.organizer_token)}"}
    requests: tuple[Callable[[], Response], ...] = (
        lambda: arena.put("/competitions/small/original/original.csv", content=table),
        lambda: arena.client.post(
            "/competitions/small/organize/original/original.csv",
            headers=cookie | {"Sec-Fetch-Site": "same-origin"},
            files={"table": ("o.csv", table)},
            follow_redirects=False,
        ),
    )
    for send in requests:
        admission.parse_budget.used_bytes = admission.parse_budget.capacity
        assert send().status_code == 503
        admission.parse_budget.used_bytes = 0
        assert send().status_code < 400
    assert admission.parse_budget.used_bytes == 0


def test_uploads_that_packages_read_have_limits_of_their_own(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: Any = arena.client.app
    monkeypatch.setattr(app.state.package_admission, "max_wait_s", 0.01)
    monkeypatch.setattr(app.state.package_admission, "upload_slots", asyncio.Semaphore(0))
    assert arena.submit("red").status_code == 202
    package = Package("mine", "1", "", parts=("tracks.microdata",))
    monkeypatch.setattr(admission, "INSTALLED", InstalledParts(TRACKS, (package,)))
    assert arena.submit("red", seed=2).status_code == 503
