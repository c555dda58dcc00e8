"""What organizers look at: announcements, the audit log, health, exports."""

import base64
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from html import unescape

import pytest
from kombu.connection import Connection
from sqlalchemy import select, update

from anoncup.messages import Message
from anoncup.schemas.roles import Role
from app.db.models import Evaluation, State, Team
from app.db.now import clock
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.jobs import health, queue
from tests.support.accounts import signed_in
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.organizer_pages import DESK, contest, read
from tests.support.wait import eventually
from tests.web.reader import page, send
from tests.web.spoken import said, sentence
from workers import sandbox

pytestmark = pytest.mark.full

__all__ = ["contest"]

MARKUP = "<script>alert(1)</script> & second line"


def test_an_announcement_is_posted_in_both_languages_read_and_withdrawn(arena: Arena) -> None:
    text = {"en": f"Hello\r\n{MARKUP}", "ja": "こんにちは"}
    assert send(arena, DESK + "/announcements", text, organizer=True).status_code == 303
    shown = page(arena, DESK + "/announcements", organizer=True).text
    assert '<p class="said" lang="ja" dir="auto">こんにちは</p>' in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown
    (path,) = re.findall(r'action="([^"]+/withdraw)"', shown)
    assert send(arena, path, organizer=True).headers["location"].endswith("announcements?done=withdrawn")
    assert said("Nothing has been announced yet.") in read(arena, "/announcements")
    assert "こんにちは" in read(arena, "/audit")  # which keeps it


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ({"en": " ", "ja": ""}, Message("write the announcement in at least one language")),
        (
            {"en": "x" * 4001},
            Message(
                "{language}: text of at most {most} characters, without control characters",
                language="en",
                most=4000,
            ),
        ),
    ],
)
def test_an_announcement_that_cannot_be_is_refused_and_stays_typed(
    arena: Arena, text: dict[str, str], why: Message
) -> None:
    answer = send(arena, DESK + "/announcements", text, organizer=True, language="ja")
    assert (answer.status_code, sentence(why, "ja") in answer.text) == (422, True)
    assert text["en"] in answer.text
    assert arena.get(f"/competitions/{arena.slug}/announcements").json() == []


def test_the_audit_log_says_what_was_before_and_after_in_words(contest: Contest) -> None:
    arena = contest.arena
    contest.organize(f"{contest.path}/phases/anonymization/extend", end="2099-01-01T00:00:00+00:00")
    contest.organize(
        f"{contest.path}/phases/anonymization/extend", end="2099-01-01T00:00:00Z", move_following=True
    )
    for language in LANGUAGES:
        shown = read(arena, "/audit", language=language)
        assert said("act_phase_extend", language) in shown
        assert "2099-01-01 09:00:00 JST" in shown  # on the competition's clock
        content = re.sub(r"<[^>]*>", "", shown.partition("<main")[2].partition("</main>")[0])
        assert "+00:00" not in content  # nothing as it is stored
        assert "{" not in content


@pytest.mark.parametrize("name", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"])
def test_the_audit_log_is_shown_whatever_teams_call_themselves(arena: Arena, name: str) -> None:
    """This is a time on no calendar of another zone."""
    code = arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"]
    token = signed_in(arena.client, "Rei")
    joined = arena.post("/join", token=token, json={"invite": code, "team": name})
    assert joined.is_success, joined.text
    assert name in read(arena, "/audit")


def test_the_audit_log_comes_in_pages(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.organizer.audit_and_health.PAGE", 2)
    for _ in range(3):
        send(arena, DESK + "/announcements", {"en": "again"}, organizer=True)
    query, rows = "", []
    while True:
        shown = read(arena, "/audit" + query)
        rows.append(shown.count("<time ") - shown.partition("<main")[0].count("<time "))
        following = re.search(r'rel="next" href="([^"]+)"', shown)
        if not following:
            break
        query = following.group(1)
    assert rows == [2, 2, 1]  # created, uploaded, and three announcements
    deep = base64.urlsafe_b64encode(b"[" * 30_000).decode()
    for cursor in ("nonsense", deep):
        assert page(arena, DESK + f"/audit?cursor={cursor}", organizer=True).status_code == 422


def test_the_audit_log_is_filtered_and_names_what_was_done_to_what(arena: Arena) -> None:
    red, blue = (arena.submit(team, seed=seed).json()["id"] for seed, team in enumerate(("red", "blue")))
    for one in (red, blue):
        path = f"{DESK}/submissions/{one}/disqualify"
        assert send(arena, path, {"reason": "copied"}, organizer=True).status_code == 303
    with transaction() as session:
        teams = {team.name: team.id for team in session.query(Team)}
    grant = {"cap": "valid_per_day", "amount": "2"}
    send(arena, f"{DESK}/teams/{teams['red']}/grants", grant, organizer=True)
    send(arena, f"{DESK}/announcements", {"en": "Hello"}, organizer=True)

    def found(query: str, language: str = "ja") -> list[tuple[str, str]]:
        shown = read(arena, "/audit" + query, language=language)
        return re.findall(r'<th scope="row" class="entry">([^<]+)</th><td class="entry">(.*?)</td>', shown)

    def kind(name: str, identifier: str) -> str:
        return f"{said(f'subject_{name}', 'ja')} <code>{identifier[:8]}</code>"

    out, granted = said("act_submission_disqualify", "ja"), said("act_quota_grant", "ja")
    assert [act for act, _ in found("?action=submission.disqualify")] == [out, out]
    of_red = [(act, re.sub("</?a[^>]*>", "", on)) for act, on in found(f"?team={teams['red']}")]
    assert (granted, "red") in of_red
    assert (out, kind("submission", red)) in of_red
    assert (out, kind("submission", blue)) not in of_red
    assert found("?person=clock") == []
    assert said("Nothing matches.") in read(arena, "/audit?person=clock")
    assert len(found("?person=nobody&action=nothing&team=%00")) >= 5
    shown = read(arena, "/audit", language="ja")
    assert said("cap_valid_per_day", "ja") in shown.partition("</form>")[2]
    assert said("subject_announcement", "ja") + " <code>" in shown


def test_the_health_page_says_that_no_worker_is_there(arena: Arena) -> None:
    arena.submit("red")
    with transaction() as session:
        for task in (health.SWEEP, "turn"):
            health.beat(session, task)
    assert said("All is well: work gets done, and the regular tasks run.") in read(arena, "/health")
    with transaction() as session:
        session.execute(update(Evaluation).values(created_at=clock(session) - timedelta(minutes=5)))
    shown = read(arena, "/health")
    assert (
        said(
            "Work has been waiting for more than a minute and nothing is running: there seems to be no worker."
        )
        in shown
    )
    assert said("All is well: work gets done, and the regular tasks run.") not in shown
    assert said("duty_stalled", n=1) in read(arena)


def test_work_that_waits_behind_another_competitions_lacks_no_worker(arena: Arena) -> None:
    arena.submit("red")
    with transaction() as session:
        ask_long_ago = clock(session) - timedelta(minutes=5)
        session.execute(update(Evaluation).values(created_at=ask_long_ago))
        waiting = set(session.scalars(select(Evaluation.id)))
    other = Contest.opened(arena.client, slug="other")
    other.arena.submit("red")
    with transaction() as session:
        begun = update(Evaluation).where(Evaluation.id.not_in(waiting)).values(state=State.SCORING)
        session.execute(begun)
    assert said("duty_stalled", n=1) not in read(arena)


def test_the_health_page_says_that_the_regular_tasks_do_not_run(arena: Arena) -> None:
    assert said("The regular tasks have not run for a minute: phases do not change.", "ja") in read(
        arena, "/health", language="ja"
    )


@contextmanager
def workers_that_say(**said: Mapping[str, object]) -> Iterator[None]:
    """Some who listen on the queue as workers do, and answer that when they are asked for their sandbox."""
    ended = threading.Event()
    with ExitStack() as stack:
        for name, answer in said.items():
            connection = stack.enter_context(queue.celery.connection_for_read())
            node = queue.celery.control.mailbox.Node(name, channel=connection.default_channel)
            node.handlers[queue.SANDBOX] = lambda _, answer=answer: answer
            stack.enter_context(node.listen(callback=node.handle_message))
            thread = threading.Thread(target=listen, args=(connection, ended))
            thread.start()
            stack.callback(thread.join)
        stack.callback(ended.set)
        yield


def listen(connection: Connection, ended: threading.Event) -> None:
    while not ended.is_set():
        with suppress(TimeoutError):
            connection.drain_events(timeout=0.05)  # type: ignore[no-untyped-call]


def test_the_health_page_tells_administrators_alone_how_children_are_sandboxed(arena: Arena) -> None:
    arena.tokens["root"] = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    said_by: dict[str, Mapping[str, object]] = {
        "whole": {"standing": "landlock, seccomp", "complete": True},
        "partly": {"standing": "seccomp", "complete": False},
        "open": {"standing": "none", "complete": False},
        "broken": {"error": "KeyError('sandbox')"},
    }
    shown = {
        "web": sandbox.standing("required"),
        "whole": "landlock, seccomp",
        "partly": f'<strong class="falls">{said("Incomplete: {standing}", standing="seccomp")}</strong>',
        "open": f'<strong class="falls">{said("Incomplete: {standing}", standing="none")}</strong>',
    }

    def rows() -> dict[str, str]:
        text = unescape(page(arena, DESK + "/health", team="root").text)
        return dict(re.findall(r'<th scope="row" class="entry">(\w+)</th><td>(.*?)</td>', text))

    with workers_that_say(**said_by):
        assert eventually(lambda: rows() == shown)
        for language in ("en", "ja"):
            assert said("Sandbox of the processes that read files", language) not in read(
                arena, "/health", language=language
            )


def test_the_health_page_says_that_no_worker_reported_its_sandbox(arena: Arena) -> None:
    arena.tokens["root"] = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    for language in ("en", "ja"):
        shown = unescape(page(arena, DESK + "/health", team="root", language=language).text)
        assert (
            said("No worker has answered. A busy worker may be slow: load the page again.", language) in shown
        )


def test_every_export_is_offered_and_can_be_fetched_with_the_pages_cookie(arena: Arena) -> None:
    shown = read(arena, "/exports")
    links = re.findall(r'href="(/api/[^"]+)" download', shown)
    assert [link.rpartition("/")[2] for link in links] == [
        "export.zip",
        "kit.zip",
        "competition.toml",
        "anonymization.csv",
        "reidentification.csv",
        "matrix.csv",
    ]
    assert [page(arena, link, organizer=True).status_code for link in links] == [200] * 6


def test_every_page_of_the_organizers_leads_to_all_others(arena: Arena) -> None:
    ways = set(re.findall(rf'href="({DESK}[/a-z]*)"', read(arena).partition("</nav>\n  <div")[0]))
    assert len(ways) >= 15
    for way in ways:
        shown = page(arena, way, organizer=True)
        assert shown.status_code == 200, way
        assert f'href="{way}" aria-current="page"' in shown.text
        assert unescape(shown.text).count("<h1") == 1
