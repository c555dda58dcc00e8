"""Notifications of organizers, sent through apprise to a real server on this machine."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from structlog.testing import capture_logs

from anoncup.errors import InvalidInput, NotFound
from app.config import Settings
from app.core.db.models import Delivery, NotificationUrl
from app.core.db.transaction import transaction
from app.notifications import deliveries, organizer_notifications
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_all
from tests.support.page_requests import get_page
from tests.support.secret_search import build_needles, find_leaks
from workers import clock, deliver, notification_sender

pytestmark = pytest.mark.full

SECRET = "correct-horse-battery"


@dataclass
class Receiver:
    """A server that keeps each body. While ``hangs`` is set it sends single bytes of an endless answer."""

    host: str = ""
    status: int = 200
    hangs: bool = False
    release: Event = field(default_factory=Event)
    on_request: Callable[[], None] = lambda: None
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"json://user:{SECRET}@{self.host}/"

    def read_messages(self) -> list[str]:
        return [body["message"] for body in self.bodies]


class Server(ThreadingHTTPServer):
    receiver: Receiver

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that give up."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        receiver.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        receiver.on_request()
        self.send_response(receiver.status)
        self.end_headers()
        while receiver.hangs and not receiver.release.wait(0.05):
            self.wfile.write(b".")

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.receiver = Receiver(f"127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.receiver
        server.receiver.release.set()
        server.shutdown()
        thread.join()


def set_urls(contest: Contest, *urls: str) -> list[str]:
    with transaction() as session:
        return organizer_notifications.set_urls(session, contest.arena.slug, urls)


def announce(contest: Contest, text: str = "Hello") -> str:
    body = {"text": {"en": text, "ja": "こんにちは"}}
    return str(contest.arena.post(f"{contest.path}/announcements", json=body).json()["id"])


def make_due() -> None:
    execute(update(Delivery).values(next_attempt_at=datetime.now(UTC) - timedelta(seconds=1)))


def test_phase_changes_and_announcements_are_sent_in_order(contest: Contest, receiver: Receiver) -> None:
    assert set_urls(contest, receiver.url) == ["JSON"]
    announce(contest, "Hello <b>everybody</b> & all")
    contest.post_as_organizer(f"{contest.path}/phases/anonymization/pause")
    contest.post_as_organizer(f"{contest.path}/phases/anonymization/resume")
    contest.publish_targets("red", "blue")
    contest.close_attacks()
    deliver.send_due_notifications()
    assert {body["title"] for body in receiver.bodies} == {"Small cup"}
    expected = [
        f"{sentence}\n/competitions/small"
        for sentence in (
            "Hello <b>everybody</b> & all",
            "The competition is paused.",
            "The competition goes on. All later starts and ends have moved.",
            "The finals are fixed.",
            "The targets are published.",
            "The competition has closed, and all scores are visible.",
            "The secrets are revealed.",
        )
    ]
    # The service may announce more.
    assert [message for message in receiver.read_messages() if message in expected] == expected
    needles = {
        needle
        for source in contest.secrets.values()
        for needle in build_needles(b"original_row\n" + b"\n".join(b"%d" % (row + 1) for row in source))
    }
    assert find_leaks(json.dumps(receiver.bodies).encode(), needles) == []


def test_the_start_of_a_phase_is_sent_once(contest: Contest, receiver: Receiver) -> None:
    set_urls(contest, receiver.url)
    contest.move_phases(anonymization=(-0.5, 2), reidentification=(3, 4))
    clock.sweep()
    clock.sweep()
    assert deliver.send_due_notifications() == 1
    assert receiver.read_messages() == ["The anonymization phase has begun.\n/competitions/small"]


def test_withdrawn_announcements_and_those_of_other_competitions_are_not_sent(
    client: TestClient, contest: Contest, receiver: Receiver
) -> None:
    set_urls(contest, receiver.url)
    announce(Contest.create(client, slug="other"))
    contest.arena.call("DELETE", f"/announcements/{announce(contest)}")
    assert deliver.send_due_notifications() == 1
    assert receiver.bodies == []


def test_a_failure_is_tried_again_later_a_limited_number_of_times(
    contest: Contest, receiver: Receiver
) -> None:
    set_urls(contest, receiver.url)
    announce(contest)
    receiver.status = 500
    for count in range(1, deliveries.MAX_ATTEMPTS + 1):
        assert deliver.send_due_notifications() == 1
        assert deliver.send_due_notifications() == 0  # it waits
        assert len(receiver.bodies) == count
        make_due()
    assert deliver.send_due_notifications() == 0
    receiver.status = 200
    announce(contest, "Later")
    deliver.send_due_notifications()
    assert receiver.read_messages()[-1] == "Later\n/competitions/small"
    assert all(row.finished_at is not None for row in load_all(select(Delivery)))


def test_an_answer_that_never_ends_is_cut_off_and_counts_as_a_failure(
    contest: Contest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_sender, "LIMIT_S", 3)
    set_urls(contest, receiver.url)
    announce(contest)
    receiver.hangs = True
    assert deliver.send_due_notifications() == 1
    receiver.hangs = False
    make_due()
    deliver.send_due_notifications()
    assert len(receiver.bodies) == 2


@pytest.mark.parametrize(
    "url",
    [
        "nosuch://correct-horse-battery",
        "json://",
        "file:///etc/passwd",
        "correct-horse-battery",
        "json://a/\x00",
    ],
)
def test_an_unknown_url_is_refused_without_showing_it_and_earlier_ones_stay(
    contest: Contest, receiver: Receiver, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    set_urls(contest, receiver.url)
    with pytest.raises(InvalidInput) as refusal:
        set_urls(contest, receiver.url, url)
    assert "URL 2 is none" in str(refusal.value)
    assert SECRET not in f"{refusal.value!r}{capfd.readouterr()}"
    assert len(load_all(select(NotificationUrl))) == 1


def test_the_competition_must_exist(settings: Settings) -> None:
    with transaction() as session, pytest.raises(NotFound):
        organizer_notifications.set_urls(session, "nowhere", ["json://localhost"])


def test_the_command_reads_urls_from_its_input_and_prints_none(
    contest: Contest, settings: Settings, receiver: Receiver
) -> None:
    variables = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}
    command = [str(Path(sys.executable).parent / "anoncup"), "admin", "notify", contest.arena.slug]
    outputs = [
        subprocess.run(command, input=text, env=variables, capture_output=True, text=True, check=False)
        for text in (f"{receiver.url}\n{receiver.url}\n", f"nosuch://{SECRET}\n", "")
    ]
    assert [output.returncode for output in outputs] == [0, 2, 0]
    assert outputs[0].stdout == "notifications of small: JSON, JSON\n"
    assert outputs[2].stdout == "notifications of small: none\n"
    assert not any(SECRET in output.stdout + output.stderr for output in outputs)


def test_nothing_shows_a_url(contest: Contest, receiver: Receiver, capfd: pytest.CaptureFixture[str]) -> None:
    receiver.status = 500
    with capture_logs() as logs:
        set_urls(contest, receiver.url)
        announce(contest)
        deliver.send_due_notifications()
    pages = [
        get_page(contest.arena, f"{contest.path}{path}", organizer=True).text
        for path in ("/organize", "/organize/announcements", "/organize/audit")
    ]
    export = contest.arena.get(f"{contest.path}/export.zip").content.decode("latin-1")
    texts = [*pages, export, contest.arena.get(f"{contest.path}/audit").text, str(logs), *capfd.readouterr()]
    assert [entry["sent"] for entry in logs if entry["event"] == "notification_attempted"] == [False]
    assert not any(SECRET in text for text in texts)


def test_old_deliveries_are_removed(contest: Contest, receiver: Receiver) -> None:
    set_urls(contest, receiver.url)
    announce(contest)
    deliver.send_due_notifications()
    announce(contest)
    with transaction() as session:
        session.execute(update(Delivery).values(finished_at=Delivery.finished_at - timedelta(days=8)))
        deliveries.remove_old(session)
        (waiting,) = session.scalars(select(Delivery)).all()
    assert waiting.finished_at is None
