"""The organizers' pages of announcements, audit log, health and exports."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from html import unescape

import pytest
from kombu.connection import Connection
from sqlalchemy import update

from anoncup.runner import sandbox
from anoncup.schemas.roles import Role
from app.core.db.models import Evaluation
from app.core.db.now import read_clock
from app.core.db.transaction import transaction
from app.core.processes import parsing
from app.core.processes.parsing import PackageFailure
from app.jobs import health, queue, worker_reports
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.organizer_pages import ORGANIZE_PATH, get_page_text
from tests.support.page_requests import get_page, post_form, send_form
from tests.support.translations import translate
from tests.support.wait import poll_until

pytestmark = pytest.mark.full

MARKUP = "<script>alert(1)</script> & second line"


def test_announcement_is_posted_in_two_languages_and_withdrawn(arena: Arena) -> None:
    text = {"en": f"Hello\r\n{MARKUP}", "ja": "こんにちは"}
    send_form(arena, ORGANIZE_PATH + "/announcements", text, organizer=True)
    html = get_page(arena, ORGANIZE_PATH + "/announcements", organizer=True).text
    assert '<p class="said" lang="ja" dir="auto">こんにちは</p>' in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html
    (path,) = re.findall(r'action="([^"]+/withdraw)"', html)
    assert post_form(arena, path, organizer=True).headers["location"].endswith("announcements?done=withdrawn")
    assert translate("Nothing has been announced yet.") in get_page_text(arena, "/announcements")
    assert "こんにちは" in get_page_text(arena, "/audit")  # the log keeps withdrawn announcements


def test_audit_log_shows_values_before_and_after_as_json(contest: Contest) -> None:
    path, end = f"{contest.path}/phases/anonymization/extend", "2099-01-01T00:00:00+00:00"
    contest.post_as_organizer(path, end=end, move_following=True)
    html = get_page_text(contest.arena, "/audit")
    assert translate("act_phase_extend") in html
    (text,) = re.findall(r'<pre tabindex="0">(.*?2099.*?)</pre>', html)
    values = json.loads(text)
    assert values["before"].keys() == values["after"].keys() == {"anonymization", "reidentification"}
    new_end = values["after"]["anonymization"][1]
    assert datetime.fromisoformat(new_end) == datetime.fromisoformat(end)


def test_health_page_reports_missing_clock_and_workers(arena: Arena) -> None:
    assert "The regular tasks have not run for a minute: phases do not change." in get_page_text(
        arena, "/health"
    )
    arena.submit("red")
    with transaction() as session:
        for task in (health.SWEEP_TASK, "turn"):
            health.record_heartbeat(session, task)
    well = translate("All is well: work gets done, and the regular tasks run.")
    assert well in get_page_text(arena, "/health")
    with transaction() as session:
        session.execute(update(Evaluation).values(created_at=read_clock(session) - timedelta(minutes=5)))
    html = get_page_text(arena, "/health")
    assert "Work has been waiting for more than a minute and nothing is running" in html
    assert well not in html
    assert translate("duty_stalled", n=1) in get_page_text(arena)


@contextmanager
def run_workers(query: str, **answers: Mapping[str, object]) -> Iterator[None]:
    """Run fake workers on the queue that give these answers to a query."""
    stop = threading.Event()
    with ExitStack() as stack:
        for name, answer in answers.items():
            connection = stack.enter_context(queue.celery.connection_for_read())
            node = queue.celery.control.mailbox.Node(name, channel=connection.default_channel)
            node.handlers[query] = lambda _, answer=answer: answer
            stack.enter_context(node.listen(callback=node.handle_message))
            thread = threading.Thread(target=consume_events, args=(connection, stop))
            thread.start()
            stack.callback(thread.join)
        stack.callback(stop.set)
        yield


def consume_events(connection: Connection, stop: threading.Event) -> None:
    while not stop.is_set():
        with suppress(TimeoutError):
            connection.drain_events(timeout=0.05)  # type: ignore[no-untyped-call]


def test_health_page_shows_uploads_that_a_package_could_not_read(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        failure = PackageFailure("the package {package} fails", package="mine")
        failure.traceback = "in parse_release"
        raise failure

    arena.get_team_token("red")
    monkeypatch.setattr(parsing, "read_upload", fail)
    refusal = arena.submit("red")
    assert (refusal.status_code, refusal.json()["code"]) == (503, "package_failed")
    text = get_page_text(arena, "/health")
    for words in ("Uploads that a package could not read", "The package mine fails", "in parse_release"):
        assert words in text


def test_health_page_shows_sandboxes_only_to_administrators(arena: Arena) -> None:
    arena.team_tokens["root"] = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    answers: dict[str, Mapping[str, object]] = {
        name: {"serves": [], "lacks": None, "sandbox": status, "is_sandbox_complete": "," in status}
        for name, status in {"whole": "landlock, seccomp", "partly": "seccomp", "open": "none"}.items()
    } | {
        "broken": {"error": "KeyError('sandbox')"},
    }
    incomplete = '<strong class="falls">Incomplete: {}</strong>'.format
    expected = {"web": sandbox.describe("required"), "whole": "landlock, seccomp"}
    expected |= {"partly": incomplete("seccomp"), "open": incomplete("none")}

    def read_rows() -> dict[str, str]:
        text = unescape(get_page(arena, ORGANIZE_PATH + "/health", team="root").text)
        return dict(re.findall(r'<th scope="row" class="entry">(\w+)</th><td>(.*?)</td>', text))

    no_answer = translate("No worker has answered. A busy worker may be slow: load the page again.")
    assert no_answer in get_page(arena, ORGANIZE_PATH + "/health", team="root").text
    with run_workers(worker_reports.REPORT_QUERY, **answers):
        assert poll_until(lambda: read_rows() == expected)
        title = translate("Sandbox of the processes that read files")
        assert title not in get_page_text(arena, "/health")


def test_organizer_pages_link_to_each_other(arena: Arena) -> None:
    navigation = get_page_text(arena).partition("</nav>\n  <div")[0]
    paths = set(re.findall(rf'href="({ORGANIZE_PATH}[/a-z]*)"', navigation))
    assert len(paths) >= 14
    for path in paths:
        response = get_page(arena, path, organizer=True)
        assert response.status_code == 200, path
        assert f'href="{path}" aria-current="page"' in response.text
        assert unescape(response.text).count("<h1") == 1
