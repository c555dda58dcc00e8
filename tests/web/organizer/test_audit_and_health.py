"""The organizers' pages of announcements, audit log, health and exports."""

import base64
import importlib
import json
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from kombu.connection import Connection
from sqlalchemy import func, select, update

from anoncup.competition import parser, required_packages, scoring_versions
from anoncup.messages import Message
from anoncup.plugins import BUILT_IN, discover_plugins
from anoncup.schemas.roles import Role
from app.db.models import Evaluation, State
from app.db.now import read_clock
from app.db.transaction import transaction
from app.services.jobs import health, queue, worker_reports
from app.web.organizer import audit_and_health
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_team_id
from tests.support.organizer_pages import ORGANIZE_PATH, get_page_text
from tests.support.package_catalogues import open_package_folder
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.translations import LABEL_KEYS, translate, translate_message
from tests.support.uploads import score_everything
from tests.support.wait import poll_until
from workers import sandbox

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


def test_invalid_announcement_is_refused_and_kept_in_the_form(arena: Arena) -> None:
    long_text = "{language}: text of at most {most} characters, without control characters"
    too_long = translate_message(Message(long_text, language="en", most=4000), "ja")
    empty = translate_message("write the announcement in at least one language", "ja")
    for text, problem in ((" ", empty), ("x" * 4001, too_long)):
        fields = {"en": text, "ja": ""}
        response = post_form(arena, ORGANIZE_PATH + "/announcements", fields, organizer=True, language="ja")
        assert_refused(response, 422, problem)
        assert text in response.text
    assert arena.get(f"/competitions/{arena.slug}/announcements").json() == []


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


def test_every_recorded_action_has_a_label() -> None:
    texts = [
        path.read_text("utf-8")
        for folder in ("app/services", "workers")
        for path in Path(folder).rglob("*.py")
    ]
    audited = "".join(text for text in texts if re.search(r"\baudit\b", text))
    known_kinds = {key.split("_")[1] for key in LABEL_KEYS if key.startswith("act_")} - {"user"}
    actions = {
        action
        for action in re.findall(r'"([a-z]+\.(?!csv|toml)[a-z_]+)"', audited)
        if action.partition(".")[0] in known_kinds
    }
    assert len(actions) > 30
    assert [name for name in actions if f"act_{name.replace('.', '_')}" not in LABEL_KEYS] == []


def test_audit_log_is_paginated(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.organizer.audit_and_health.PAGE_SIZE", 2)
    for _ in range(3):
        post_form(arena, ORGANIZE_PATH + "/announcements", {"en": "again"}, organizer=True)
    query, row_counts = "", []
    while True:
        html = get_page_text(arena, "/audit" + query)
        row_counts.append(html.count("<time ") - html.partition("<main")[0].count("<time "))
        next_link = re.search(r'rel="next" href="([^"]+)"', html)
        if not next_link:
            break
        query = next_link.group(1)
    assert row_counts == [2, 2, 1]  # created, uploaded, and three announcements
    deep = base64.urlsafe_b64encode(b"[" * 30_000).decode()
    for cursor in ("nonsense", deep):
        assert get_page(arena, ORGANIZE_PATH + f"/audit?cursor={cursor}", organizer=True).status_code == 422


def test_audit_log_can_be_filtered(arena: Arena) -> None:
    red, blue = (arena.submit(team, seed=seed).json()["id"] for seed, team in enumerate(("red", "blue")))
    for submission_id in (red, blue):
        path = f"{ORGANIZE_PATH}/submissions/{submission_id}/disqualify"
        send_form(arena, path, {"reason": "copied"}, organizer=True)
    team_id, grant = load_team_id("red"), {"cap": "valid_per_day", "amount": "2"}
    send_form(arena, f"{ORGANIZE_PATH}/teams/{team_id}/grants", grant, organizer=True)
    send_form(arena, f"{ORGANIZE_PATH}/announcements", {"en": "Hello"}, organizer=True)

    def filter_log(query: str) -> list[tuple[str, str]]:
        html = re.sub(r"</?a\b[^>]*>", "", get_page_text(arena, "/audit" + query))
        return re.findall(r'<th scope="row" class="entry">([^<]+)</th><td class="entry">(.*?)</td>', html)

    entries = {item: (translate("act_submission_disqualify"), item) for item in (red, blue)}
    assert filter_log("?action=submission.disqualify") == [entries[blue], entries[red]]
    red_entries = filter_log(f"?team={team_id}")
    assert (translate("act_quota_grant"), "red") in red_entries
    assert entries[red] in red_entries
    assert entries[blue] not in red_entries
    assert translate("Nothing matches.") in get_page_text(arena, "/audit?person=clock")
    assert len(filter_log("?person=nobody&action=nothing&team=%00")) >= 5


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


def test_jobs_waiting_for_another_competition_are_no_missing_worker(arena: Arena) -> None:
    arena.submit("red")
    with transaction() as session:
        long_ago = read_clock(session) - timedelta(minutes=5)
        session.execute(update(Evaluation).values(created_at=long_ago))
        waiting_ids = set(session.scalars(select(Evaluation.id)))
    other_contest = Contest.create(arena.client, slug="other")
    other_contest.arena.submit("red")
    with transaction() as session:
        statement = update(Evaluation).where(Evaluation.id.not_in(waiting_ids)).values(state=State.SCORING)
        session.execute(statement)
    assert translate("duty_stalled", n=1) not in get_page_text(arena)


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


def test_health_page_shows_sandboxes_only_to_administrators(arena: Arena) -> None:
    arena.team_tokens["root"] = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    answers: dict[str, Mapping[str, object]] = {
        "whole": {"standing": "landlock, seccomp", "complete": True},
        "partly": {"standing": "seccomp", "complete": False},
        "open": {"standing": "none", "complete": False},
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
    with run_workers(worker_reports.SANDBOX_QUERY, **answers):
        assert poll_until(lambda: read_rows() == expected)
        title = translate("Sandbox of the processes that read files")
        assert title not in get_page_text(arena, "/health")


@pytest.fixture
def package_contest(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Contest, Path]]:
    """A contest that requires version 0.1.0 of a package, and the folder in which the package is installed."""
    install_package(tmp_path, "0.1.0")
    (tmp_path / "places.py").write_text("from anoncup.tracks.plugin import Plugin\n\nPLUGIN = Plugin(0)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open_package_folder(tmp_path):
        installed = discover_plugins(BUILT_IN)
        for module in (parser, required_packages, scoring_versions, audit_and_health):
            monkeypatch.setattr(module, "INSTALLED", installed)
        yield Contest.create(client, extra_toml='[requires]\nanoncup-places = ">=0.1"\n'), tmp_path


def install_package(folder: Path, version: str | None) -> None:
    """Install a version of the package in place of the present one; None removes it."""
    for old_metadata in folder.glob("*.dist-info"):
        shutil.rmtree(old_metadata)
    if version:
        metadata = folder / f"anoncup_places-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: anoncup-places\nVersion: {version}\n"
        )
        (metadata / "entry_points.txt").write_text("[anoncup.plugins]\nplaces = places:PLUGIN\n")
    importlib.invalidate_caches()


def test_pages_say_that_work_waits_for_a_package(package_contest: tuple[Contest, Path]) -> None:
    contest, folder = package_contest
    arena = contest.arena
    assert translate("in use") in get_page_text(arena, "/health")
    submission = contest.submit("red", score=False)
    for version, message in (
        (
            "0.2.0",
            "version 0.1.0 of the package anoncup-places was installed when the service started, and 0.2.0 is "
            "now: the service must be restarted",
        ),
        (None, "requires.anoncup-places: the package anoncup-places is not installed"),
    ):
        install_package(folder, version)
        reason = message[0].upper() + message[1:] + "." if version else message + "."
        dashboard_html, health_html = get_page_text(arena), get_page_text(arena, "/health")
        assert translate("duty_changed_package", n=1, reason=reason) in dashboard_html
        assert translate("duty_newer_scorer", n=1) not in dashboard_html
        row = health_html.partition('class="entry">anoncup-places')[2].partition("</tr>")[0]
        assert f"<td>{version or '–'}</td>" in row
        assert translate("Cannot be used: {reason}", reason=reason) in row
    score_everything()
    failure = arena.get_submission(submission, "red")["failure"]
    assert failure == message
    for path in ("/health", "/submissions", f"/submissions/{submission}"):
        assert f"{failure}." in get_page_text(arena, path).partition("<h2>Packages")[0]
    team_text = unescape(get_page(arena, f"/submissions/{submission}", team="red").text)
    assert "It is waiting for a package of this contest; nothing is lost." in team_text
    assert f"{failure}." in team_text
    execute(update(Evaluation).values(created_at=func.now() - timedelta(minutes=5)))
    no_worker = translate(
        "Work has been waiting for more than a minute and nothing is running: there seems to be no worker."
    )
    for duty in ("scores", "reports"):
        with run_workers(worker_reports.DUTIES_QUERY, worker={"kinds": [duty], "lacks": None}):
            assert poll_until(lambda: bool(worker_reports.list_workers()))
            assert (no_worker in get_page_text(arena, "/health")) is (duty == "reports")


def test_exports_can_be_downloaded_with_the_session_cookie(arena: Arena) -> None:
    links = re.findall(r'href="(/api/[^"]+)" download', get_page_text(arena, "/exports"))
    boards = [f"{board}.csv" for board in ("anonymization", "reidentification", "matrix")]
    names = ["export.zip", "kit.zip", "competition.toml", *boards]
    assert [link.rpartition("/")[2] for link in links] == names
    assert [get_page(arena, link, organizer=True).status_code for link in links] == [200] * 6


def test_organizer_pages_link_to_each_other(arena: Arena) -> None:
    navigation = get_page_text(arena).partition("</nav>\n  <div")[0]
    paths = set(re.findall(rf'href="({ORGANIZE_PATH}[/a-z]*)"', navigation))
    assert len(paths) >= 15
    for path in paths:
        response = get_page(arena, path, organizer=True)
        assert response.status_code == 200, path
        assert f'href="{path}" aria-current="page"' in response.text
        assert unescape(response.text).count("<h1") == 1
