"""How much is taken in at a time: one upload of a team, a few in all, so many bytes; others wait unread."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select
from starlette.datastructures import UploadFile

from anoncup.tables.csv_text import table_csv
from app.config import Settings, get_settings
from app.db.models import Attempt
from app.db.transaction import transaction
from app.http import redis_lock
from app.http.admission import Admission
from app.http.authentication import COOKIE
from app.services.submissions import uploads
from tests.support.arena import Arena, competition_file, noisy_release
from tests.support.raw_asgi import Process, Sending, process, sending
from tests.support.wait import eventually

pytestmark = pytest.mark.full


@contextmanager
def limited(**settings: Any) -> Iterator[Process]:
    """A web process with limits of its own."""
    with process() as web:
        web.app.state.admission = Admission(get_settings().model_copy(update=settings))
        yield web


@contextmanager
def uploading(web: Process, arena: Arena, team: str, *, seed: int = 1) -> Iterator[Sending]:
    table, secret = noisy_release(seed, arena.table)
    files = {"anonymized": table, "secret": secret}
    path = f"/api/v1/competitions/{arena.slug}/submissions"
    with sending(web, path, token=arena.team(team), files=files) as sent:
        yield sent


def attempts() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).where(Attempt.counts)).one()


def test_a_teams_uploads_are_read_one_after_the_other_and_other_teams_beside_them(arena: Arena) -> None:
    with process() as web, uploading(web, arena, "red") as first:
        first.entered()
        with uploading(web, arena, "red", seed=2) as second, uploading(web, arena, "blue") as other:
            assert eventually(lambda: attempts() == 3)
            other.entered()
            assert other.finish().status == 202
            assert second.asked.empty()
            assert first.finish().status == 202
            second.entered()
            assert second.finish().status == 202
        assert web.app.state.admission.turns == {}


def test_a_teams_uploads_take_turns_in_several_processes(arena: Arena) -> None:
    with process() as web, uploading(web, arena, "red") as first:
        first.entered()
        with process() as other, uploading(other, arena, "red", seed=2) as second:
            assert eventually(lambda: attempts() == 2)
            assert second.asked.empty()
            assert first.finish().status == 202
            second.entered()
            assert second.finish().status == 202


def test_who_waits_too_long_is_told_when_to_come_again_and_loses_no_attempt(arena: Arena) -> None:
    with process() as web, uploading(web, arena, "red") as first:
        first.entered()
        with limited(upload_patience_s=0) as other, uploading(other, arena, "red", seed=2) as second:
            assert second.answered().told == (503, "busy")
            assert int(second.header("retry-after")) > 0
            assert second.asked.empty()
        assert attempts() == 1
        assert first.finish().status == 202


def test_a_few_places_are_there_for_all_teams(arena: Arena) -> None:
    with limited(uploads_at_once=1) as web, uploading(web, arena, "red") as first:
        first.entered()
        with uploading(web, arena, "blue") as second:
            assert eventually(lambda: attempts() == 2)
            assert second.asked.empty()
            first.break_off()
            second.entered()
            assert second.finish().status == 202


@pytest.fixture
def parsed_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One number: the most uploads that have been parsed at a time."""
    read, inside, most = uploads.read_upload, [0], [0]

    def watched(*arguments: Any, **named: Any) -> uploads.Upload:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        try:
            return read(*arguments, **named)
        finally:
            inside[0] -= 1

    monkeypatch.setattr(uploads, "read_upload", watched)
    return most


def all_accepted(arena: Arena, *processes: Process) -> None:
    """Six teams' uploads at once, by turns in the processes; the processes have nothing left of them."""
    with ExitStack() as under_way:
        sent = [
            under_way.enter_context(uploading(web, arena, f"team {number}"))
            for number, web in zip(range(6), cycle(processes), strict=False)
        ]
        for one in sent:
            one.entered()
            one.messages.put({"type": "http.request", "body": one.body, "more_body": False})
        assert [one.answered().status for one in sent] == [202] * 6
    assert [web.app.state.admission.room.used for web in processes] == [0] * len(processes)


def test_so_many_bytes_are_parsed_at_a_time(arena: Arena, parsed_at_once: list[int]) -> None:
    """With room for nothing each is parsed alone."""
    with limited(parsed_mb=0) as web:
        all_accepted(arena, web)
    assert parsed_at_once == [1]


def test_what_is_larger_than_the_room_of_a_process_is_parsed_alone_on_the_machine(
    arena: Arena, parsed_at_once: list[int]
) -> None:
    with limited(parsed_mb=0) as web, limited(parsed_mb=0) as other:
        all_accepted(arena, web, other)
    assert parsed_at_once == [1]


def test_a_large_file_waits_on_the_disk_without_a_name_and_is_gone_after_the_request(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with process() as web, uploading(web, arena, "red") as sent:
        sent.body = sent.body.replace(b"\r\n\r\n", b"\r\n\r\n" + b"x" * 3_000_000, 1)
        sent.entered()
        sent.piece(2_500_000)
        sent.entered()
        assert held_open(tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert sent.finish().status == 422
        assert not held_open(tmp_path)


def held_open(folder: Path) -> bool:
    """Whether this process has a file in the folder open, with a name or without."""
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(os.readlink(handle))
    return any(name.startswith(str(folder)) for name in found)


def test_a_disk_that_is_full_while_a_body_comes_costs_no_attempt(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with process() as web, uploading(web, arena, "red") as sent:
        monkeypatch.setattr(UploadFile, "write", full)
        sent.piece(len(sent.body) // 2)
        assert sent.finish().told == (503, "storage_unavailable")
    assert attempts() == 0


def test_of_a_file_that_is_too_large_no_more_than_the_limit_is_kept(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena.opened(client, file=competition_file(more="[limits]\nfile_mb = 1"))
    kept, write = [0], UploadFile.write

    async def counted(file: UploadFile, content: bytes) -> None:
        kept[0] += len(content)
        await write(file, content)

    monkeypatch.setattr(UploadFile, "write", counted)
    with process() as web, uploading(web, arena, "red") as sent:
        sent.body = sent.body.replace(b"\r\n\r\n", b"\r\n\r\n" + b"x" * 5_000_000, 1)
        while len(sent.body) > 64 * 1024:
            sent.piece(64 * 1024)
        assert sent.finish().told == (413, "too_large")
    assert kept[0] < 1.1 * 2**20


def test_without_redis_each_process_keeps_its_own_turns(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.team("red")
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    monkeypatch.setattr(redis_lock, "get_settings", lambda: away)
    with process() as web, uploading(web, arena, "red") as first:
        first.entered()
        with uploading(web, arena, "red", seed=2) as second:
            assert eventually(lambda: attempts() == 2)
            assert second.asked.empty()
            assert first.finish().status == 202
            second.entered()
            assert second.finish().status == 202


def test_a_turn_is_held_by_one_and_freed_when_its_process_is_gone(settings: Settings) -> None:
    assert redis_lock.take("red", "a")
    assert not redis_lock.take("red", "b")
    redis_lock.end("red", "b")
    redis_lock.extend("red", "b")
    assert not redis_lock.take("red", "b")
    assert 0 < redis_lock.client().ttl(redis_lock.key("red")) <= redis_lock.LIFE_S
    redis_lock.end("red", "a")
    assert redis_lock.take("red", "b")


def test_an_original_waits_for_room_to_be_parsed_as_releases_do(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: Any = arena.client.app
    doors: Admission = app.state.admission
    monkeypatch.setattr(doors, "patience_s", 0.01)
    table, signed_in = table_csv(arena.table), {"Cookie": f"{COOKIE}={arena.session(arena.organizer)}"}
    ways: tuple[Callable[[], Response], ...] = (
        lambda: arena.put("/competitions/small/original/original.csv", content=table),
        lambda: arena.client.post(
            "/competitions/small/organize/original/original.csv",
            headers=signed_in | {"Sec-Fetch-Site": "same-origin"},
            files={"table": ("o.csv", table)},
            follow_redirects=False,
        ),
    )
    for send in ways:
        doors.room.used = doors.room.size
        assert send().status_code == 503
        doors.room.used = 0
        assert send().status_code < 400
    assert doors.room.used == 0
