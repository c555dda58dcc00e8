"""Mail, sent to a real server on this machine."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update
from structlog.testing import capture_logs

from anoncup.errors import Unavailable
from app.accounts.models import UserIdentity
from app.config import Settings, SmtpServer
from app.core.db.models import Delivery, EmailAddress, User
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.notifications import deliveries, mail
from tests.support.accounts import list_audit_entries
from tests.support.arena import API, PASSWORD, Arena
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_all, load_one
from tests.support.mail_server import (
    DRIP,
    DROP,
    PUBLIC_URL,
    SENDER,
    MailServer,
    make_certificate,
    read_mail,
    run_mail_server,
)
from tests.support.page_requests import extract_text, get_page, post_form
from tests.support.setting_changes import change_settings
from workers import clock, deliver, mail_sender

pytestmark = pytest.mark.full

ADDRESS = "Red.Person@example.org"
NEW_PASSWORD = "battery staple"
BAD_ADDRESSES = (
    *("x", "x@", "@example.org", "a@b@example.org", "a b@example.org", "a@example.org,b@example.org"),
    *("a@example.org\nBcc: b@example.org", "a@example.org\r\nRCPT TO:<b@example.org>", "a@例.jp"),
    *("A <a@example.org>", "a..b@example.org", "あ@example.org", "a\x00@example.org"),
    "a" * 250 + "@example.org",
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def server(certificate: Path, tmp_path: Path) -> Iterator[MailServer]:
    """A server that requires STARTTLS and a password, to which the service sends its mail."""
    with run_mail_server(certificate) as running, change_settings(**running.build_settings(tmp_path)):
        yield running


@pytest.fixture
def contest(server: MailServer, client: TestClient) -> Contest:
    return Contest.create(client)


def store_address(arena: Arena, team: str = "red", address: str = ADDRESS, language: str = "en") -> Response:
    fields = {"address": address, "password": PASSWORD}
    return post_form(arena, "/account/email", fields, team=team, language=language)


def find_code(text: str) -> str:
    (code,) = re.findall(r"\?code=(\S+)", text)
    return str(code)


def read_source(server: MailServer) -> str:
    """Return the only mail as it was sent."""
    (envelope,) = server.envelopes
    assert isinstance(envelope.content, bytes)
    return envelope.content.decode()


def confirm(arena: Arena, code: str) -> Response:
    return post_form(arena, f"/email?code={code}")


def add_address(
    arena: Arena, server: MailServer, team: str = "red", address: str = ADDRESS, language: str = "en"
) -> None:
    """Store an address and confirm it with the mail that it gets."""
    assert store_address(arena, team, address, language).status_code == 303
    deliver.send_due_mail()
    assert confirm(arena, find_code(server.take_text())).status_code == 303


def announce(contest: Contest, text: str = "Hello") -> str:
    body = {"text": {"en": text, "ja": "こんにちは"}}
    return str(contest.arena.post(f"{contest.path}/announcements", json=body).json()["id"])


def request_link(arena: Arena, address: str = ADDRESS) -> Response:
    return post_form(arena, "/password/forgotten", {"address": address})


def set_password(arena: Arena, code: str) -> Response:
    return post_form(arena, f"/password?code={code}", {"password": NEW_PASSWORD})


def make_due() -> None:
    """Let leases and pauses of all deliveries be over."""
    execute(update(Delivery).values(next_attempt_at=func.clock_timestamp() - timedelta(seconds=1)))


def list_deliveries() -> list[tuple[str, int, bool]]:
    """Return event, attempts and whether it has ended of each delivery."""
    rows = load_all(select(Delivery).order_by(Delivery.created_at))
    return [(row.event, row.attempt, row.finished_at is not None) for row in rows]


def list_waiting() -> list[tuple[str, int]]:
    return [(event, attempt) for event, attempt, has_ended in list_deliveries() if not has_ended]


def find_address() -> EmailAddress:
    return load_one(select(EmailAddress))


def test_without_settings_nothing_mentions_mail(client: TestClient) -> None:
    contest = Contest.create(client)
    pages = [get_page(contest.arena, "/account", team="red"), get_page(contest.arena, "/sign-in")]
    assert not any("mail" in extract_text(page).lower() for page in pages)
    assert store_address(contest.arena).status_code == 404
    assert request_link(contest.arena).status_code == 404
    announce(contest)
    assert deliver.send_due_mail() == 0


def test_an_address_is_confirmed_by_the_mail_that_it_gets(contest: Contest, server: MailServer) -> None:
    assert "Not confirmed" not in get_page(contest.arena, "/account", team="red").text
    store_address(contest.arena)
    assert "Not confirmed" in get_page(contest.arena, "/account", team="red").text
    assert deliver.send_due_mail() == 1
    assert server.sessions[0].ssl is not None
    assert server.sessions[0].authenticated
    (message,) = server.read_mails()
    assert (message["From"], message["To"]) == (SENDER, ADDRESS)
    assert message["Subject"] == "Confirm your e-mail address"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe"] is None
    assert message.get_content_type() == "text/plain"
    code = find_code(server.take_text())
    assert "Confirm the address" in get_page(contest.arena, f"/email?code={code}").text
    assert find_address().confirmed_at is None  # only the button confirms
    assert confirm(contest.arena, code).headers["location"] == "/?done=email_confirmed"
    first_time = find_address().confirmed_at
    assert first_time is not None
    confirm(contest.arena, code)
    assert find_address().confirmed_at == first_time
    page = get_page(contest.arena, "/account", team="red")
    assert ADDRESS in page.text
    assert "Stop mail about competitions" in page.text


def test_a_wrong_or_expired_code_confirms_nothing(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server, "green", "green@example.org")
    store_address(contest.arena)
    deliver.send_due_mail()
    wrong = confirm(contest.arena, "x" * 32)
    assert (wrong.status_code, "unknown, used or expired" in wrong.text) == (422, True)
    execute(update(EmailAddress).values(created_at=func.clock_timestamp() - timedelta(hours=25)))
    assert confirm(contest.arena, find_code(server.take_text())).status_code == 422
    store_address(contest.arena, "blue", "blue@example.org")
    with transaction() as session:
        mail.remove_unconfirmed(session)
    assert set(load_all(select(EmailAddress.address))) == {"green@example.org", "blue@example.org"}


def test_what_is_no_address_is_refused(contest: Contest) -> None:
    for number, address in enumerate(BAD_ADDRESSES):
        team = f"team {number // throttle.MAIL_LIMIT.amount}"
        response = store_address(contest.arena, team, address)
        assert response.status_code == 422, address
        assert "no e-mail address such as" in response.text
    assert list_deliveries() == []


def test_texts_of_people_cannot_add_headers_or_commands(server: MailServer, client: TestClient) -> None:
    """A title may have a line separator, and a line of one dot ends a message in SMTP."""
    contest = Contest.create(client)
    add_address(contest.arena, server)
    execute(update(User).values(name="x\r\nBcc: y@example.org"))
    file = contest.arena.get(f"{contest.path}/competition.toml").text
    changed = file.replace('"Small cup"', '"Cup\\u2028Bcc: y@example.org"')
    assert contest.arena.call("PUT", f"{contest.path}/competition.toml", content=changed).status_code == 200
    text = "first\n.\nMAIL FROM:<x@example.org>\nRCPT TO:<y@example.org>\nBcc: y@example.org"
    announce(contest, text)
    request_link(contest.arena)
    assert deliver.send_due_mail() == 2
    assert server.list_recipients() == [ADDRESS, ADDRESS]
    link, announcement = server.read_mails()
    assert link["Bcc"] is None
    assert announcement["Bcc"] is None
    assert announcement["Subject"] == "Cup Bcc: y@example.org: announcement"
    assert announcement.get_content().replace("\r\n", "\n").startswith(text)


@pytest.mark.parametrize(
    "title", ["第1回 匿名加工コンテスト データ お知らせ 第2回 募集", "=?utf-8?q?x?= cup"]
)
def test_titles_and_addresses_that_look_encoded_are_not_decoded(
    contest: Contest, server: MailServer, title: str
) -> None:
    address = "=?utf-8?q?x=40example.com?=@example.org"
    add_address(contest.arena, server, address=address, language="ja")
    file = contest.arena.get(f"{contest.path}/competition.toml").text
    changed = file.replace('"小さな杯"', f'"{title}"')
    assert contest.arena.call("PUT", f"{contest.path}/competition.toml", content=changed).status_code == 200
    announce(contest)
    deliver.send_due_mail()
    (message,) = server.read_mails()
    assert message["Subject"] == f"{title}：お知らせ"
    assert f"To: {address}\r\n" in read_source(server)


def test_announcements_go_to_participants_in_their_language(
    contest: Contest, server: MailServer, client: TestClient
) -> None:
    add_address(contest.arena, server, "red", language="ja")
    add_address(contest.arena, server, "blue", "blue@example.org")
    second_contest = Contest.create(client, slug="second")
    add_address(second_contest.arena, server, "green", "green@example.org")
    announce(contest)
    assert deliver.send_due_mail() == 2
    mails = {message["To"]: message for message in server.read_mails()}
    assert sorted(mails) == [ADDRESS, "blue@example.org"]
    assert mails[ADDRESS]["Subject"] == "小さな杯：お知らせ"
    japanese, english = (
        mails[address].get_content().replace("\r\n", "\n") for address in (ADDRESS, "blue@example.org")
    )
    url = f"{PUBLIC_URL}/competitions/small"
    assert japanese.startswith(f"こんにちは\n\n{url}\n\n-- \nコンテスト")
    assert english.startswith(f"Hello\n\n{url}\n\n-- \nTo stop")


def test_a_withdrawn_announcement_is_not_sent(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    contest.arena.call("DELETE", f"/announcements/{announce(contest)}")
    deliver.send_due_mail()
    assert server.envelopes == []
    assert list_waiting() == []


def test_mail_programs_stop_mail_with_one_request(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    announce(contest)
    deliver.send_due_mail()
    (message,) = server.read_mails()
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert f"\r\nList-Unsubscribe: {message['List-Unsubscribe']}\r\n" in read_source(server)
    path = message["List-Unsubscribe"].removeprefix(f"<{PUBLIC_URL}").removesuffix(">")
    server.envelopes.clear()
    assert "Stop mail about competitions" in get_page(contest.arena, path).text
    announce(contest)
    assert deliver.send_due_mail() == 1  # the page alone stops nothing
    answer = contest.arena.client.post(path, data={"List-Unsubscribe": "One-Click"}, follow_redirects=False)
    assert (answer.status_code, "has stopped" in answer.text) == (200, True)
    announce(contest)
    assert deliver.send_due_mail() == 0
    server.envelopes.clear()
    request_link(contest.arena)
    assert deliver.send_due_mail() == 1  # what the person asks for is still sent


def test_the_account_page_stops_and_starts_mail_and_removes_the_address(
    contest: Contest, server: MailServer
) -> None:
    add_address(contest.arena, server)
    for value, count in (("false", 0), ("true", 1)):
        post_form(contest.arena, "/account/email/subscription", {"subscribed": value}, team="red")
        announce(contest)
        assert deliver.send_due_mail() == count
    announce(contest)
    response = post_form(contest.arena, "/account/email/remove", team="red")
    assert response.headers["location"] == "/account?done=email_removed"
    assert deliver.send_due_mail() == 0
    assert ADDRESS not in get_page(contest.arena, "/account", team="red").text
    assert [action for _, action, _ in list_audit_entries() if "email" in action] == [
        "user.email_store",
        "user.email_remove",
    ]


def test_a_phase_that_ends_soon_is_announced_once(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    contest.move_phases(anonymization=(-5, 25), reidentification=(30, 40))
    clock.sweep()
    assert deliver.send_due_mail() == 0
    contest.move_phases(anonymization=(-5, 23))
    clock.sweep()
    clock.sweep()
    assert deliver.send_due_mail() == 1
    (message,) = server.read_mails()
    assert message["Subject"] == "Small cup: The anonymization phase ends soon"
    assert "(Asia/Tokyo)" in message.get_content()
    contest.move_phases(anonymization=(-5, 26), reidentification=(30, 40))
    clock.sweep()
    contest.move_phases(anonymization=(-5, 22), reidentification=(30, 40))
    clock.sweep()
    assert deliver.send_due_mail() == 0
    contest.move_phases(anonymization=(-9, -8), reidentification=(-1, 2))
    clock.sweep()
    assert deliver.send_due_mail() == 1
    assert server.read_mails()[-1]["Subject"] == "Small cup: The re-identification phase ends soon"


def test_reminders_have_the_present_end_and_are_not_sent_after_it(
    contest: Contest, server: MailServer
) -> None:
    add_address(contest.arena, server)
    contest.move_phases(anonymization=(-5, 3), reidentification=(30, 40))
    clock.sweep()
    contest.move_phases(anonymization=(-5, -1), reidentification=(30, 40))
    assert deliver.send_due_mail() == 1
    assert server.envelopes == []


def test_teams_that_are_disqualified_and_paused_phases_get_no_reminder(
    contest: Contest, server: MailServer
) -> None:
    add_address(contest.arena, server)
    team_id = contest.arena.get(f"{contest.path}/team", team="red").json()["id"]
    contest.move_phases(anonymization=(-5, 3), reidentification=(30, 40))
    contest.post_as_organizer(f"{contest.path}/phases/anonymization/pause")
    clock.sweep()
    assert deliver.send_due_mail() == 0
    contest.post_as_organizer(f"{contest.path}/phases/anonymization/resume")
    execute(update(Delivery).values(finished_at=func.clock_timestamp()))
    body = {"reason": "test"}
    disqualified = contest.arena.post(f"{contest.path}/teams/{team_id}/disqualify", json=body)
    assert disqualified.status_code < 300, disqualified.text
    clock.sweep()
    assert deliver.send_due_mail() == 0


def test_a_forgotten_password_is_replaced_by_mail(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    with transaction() as session:
        user_id = session.scalars(select(EmailAddress.user_id)).one()
        session.add(UserIdentity(issuer="https://lab.example", subject="stranger", user_id=user_id))
        name = session.get_one(User, user_id).name
    assert "/password/forgotten" in get_page(contest.arena, "/sign-in").text
    assert request_link(contest.arena, ADDRESS.lower()).status_code == 303
    request_link(contest.arena)  # one is waiting, so no second is sent
    assert deliver.send_due_mail() == 1
    assert server.list_recipients() == [ADDRESS]
    text = server.take_text()
    assert f"“{name}”" in text
    assert set_password(contest.arena, find_code(text)).headers["location"] == "/sign-in?done=password_set"
    assert set_password(contest.arena, find_code(text)).status_code == 422
    body = {"name": name, "password": NEW_PASSWORD}
    assert contest.arena.client.post(f"{API}/tokens", json=body).status_code == 201
    assert load_all(select(UserIdentity)) == []
    assert find_address().address == ADDRESS


def test_the_answer_tells_nothing_about_an_address(contest: Contest, server: MailServer) -> None:
    store_address(contest.arena)
    deliver.send_due_mail()
    server.envelopes.clear()
    answers = [
        (response.status_code, response.headers["location"], response.text)
        for response in [
            request_link(contest.arena, ADDRESS),  # not confirmed
            request_link(contest.arena, "nobody@example.org"),
            request_link(contest.arena, "no address\x00"),
        ]
    ]
    assert set(answers) == {(303, "/sign-in?done=password_mail", "")}
    assert deliver.send_due_mail() == 0


def test_links_that_were_mailed_end_when_the_address_is_removed(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    request_link(contest.arena)
    deliver.send_due_mail()
    post_form(contest.arena, "/account/email/remove", team="red")
    assert set_password(contest.arena, find_code(server.take_text())).status_code == 422


def test_a_link_by_an_organizer_removes_the_address(contest: Contest, server: MailServer) -> None:
    """A stranger who had used the account may have stored their own address."""
    add_address(contest.arena, server)
    name = contest.arena.get("/me", team="red").json()["name"]
    code = contest.arena.post("/users/password-links", json={"name": name}).json()["code"]
    assert set_password(contest.arena, code).status_code == 303
    assert load_all(select(EmailAddress)) == []


def test_storing_an_address_needs_the_password(contest: Contest) -> None:
    for fields, status in (({}, 403), ({"password": "wrong password"}, 422)):
        form = {"address": ADDRESS} | fields
        assert post_form(contest.arena, "/account/email", form, team="red").status_code == status
    assert list_deliveries() == []


def test_mail_that_is_asked_for_is_limited(contest: Contest) -> None:
    for _ in range(throttle.MAIL_LIMIT.amount):
        assert request_link(contest.arena, "nobody@example.org").status_code == 303
    refused = request_link(contest.arena, "NOBODY@example.org ")
    assert (refused.status_code, "too many mails" in refused.text.lower()) == (429, True)
    assert store_address(contest.arena, address="nobody@example.org").status_code == 429
    for number in range(throttle.MAIL_LIMIT.amount):
        assert store_address(contest.arena, "blue", f"{number}@example.org").status_code == 303
    assert store_address(contest.arena, "blue", "x@example.org").status_code == 429


def test_nobody_else_sees_an_address(contest: Contest, server: MailServer) -> None:
    with capture_logs() as logs:
        add_address(contest.arena, server)
        announce(contest)
        server.answers["RCPT"] = f"550 <{ADDRESS}> unknown"
        deliver.send_due_mail()
    paths = ("/team", "/organize/teams", "/organize/audit", "")
    pages = [get_page(contest.arena, f"{contest.path}{path}", organizer=True).text for path in paths]
    pages += [get_page(contest.arena, path, team="blue").text for path in ("/account", contest.path)]
    pages += [contest.arena.get(f"{contest.path}/audit").text, str(list_audit_entries()), str(logs)]
    pages += [contest.arena.get(f"{contest.path}/export.zip").content.decode("latin-1")]
    assert logs
    assert not any(ADDRESS.split("@", maxsplit=1)[0] in page for page in pages)
    assert ADDRESS in get_page(contest.arena, "/account", team="red").text


def test_nothing_is_lost_while_the_server_is_down(
    contest: Contest, server: MailServer, certificate: Path, tmp_path: Path
) -> None:
    add_address(contest.arena, server)
    announce(contest)
    with run_mail_server(certificate) as gone:
        pass
    with change_settings(**gone.build_settings(tmp_path)):
        for _ in range(deliveries.MAX_ATTEMPTS + 1):
            with pytest.raises(Unavailable, match="ConnectionRefusedError"):
                deliver.send_due_mail()
        assert list_waiting() == [("announcement", 0)]
        with run_mail_server(certificate, port=gone.port) as back:
            assert deliver.send_due_mail() == 1
            assert back.list_recipients() == [ADDRESS]


def test_mail_that_was_not_accepted_is_tried_again_with_the_same_id(
    contest: Contest, server: MailServer
) -> None:
    add_address(contest.arena, server)
    for outcome, command, answer in (
        ("deferred", "RCPT", "451 later"),
        ("deferred", "DATA", "451 later"),
        ("connection", "DATA", "421 closing"),
        ("connection", "MAIL", "451 later"),
        ("connection", "RCPT", DROP),
        ("connection", "RCPT", f"{DRIP}250"),
    ):
        announcement = announce(contest)
        refuse_later(server, command, answer)
        with capture_logs() as logs, limit_drip(answer):
            assert deliver.send_due_mail() == 1
        assert [(entry["event"], entry["outcome"]) for entry in logs] == [("mail_attempted", outcome)]
        assert (list_waiting(), find_address().outcome) == ([("announcement", 1)], outcome)
        assert "has not accepted the last mail so far" in get_page(contest.arena, "/account", team="red").text
        assert deliver.send_due_mail() == 0  # not before the pause is over
        server.answers = {}
        make_due()
        assert deliver.send_due_mail() == 1
        (message,) = server.read_mails()
        delivery = load_one(select(Delivery).where(Delivery.subject_id == UUID(announcement)))
        assert message["Message-ID"] == f"<{delivery.id}@cup.example.org>"
        assert (list_waiting(), find_address().outcome) == ([], "delivered")
        server.envelopes.clear()


@contextmanager
def limit_drip(answer: str) -> Iterator[None]:
    """Let no server drip for long."""
    with pytest.MonkeyPatch.context() as patch:
        if answer.startswith(DRIP):
            patch.setattr(mail_sender, "OPENING_LIMIT_S", 0.5)
            patch.setattr(mail_sender, "MAIL_LIMIT_S", 0.5)
        yield


def refuse_later(server: MailServer, command: str, answer: str) -> None:
    """Refuse the command, but accept the sender when the connection is opened."""
    if command != "MAIL":
        server.answers[command] = answer
        return
    answers = iter([None, answer])

    class Answers(dict[str, str]):
        def get(self, key: str, default: str = "") -> str:  # type: ignore[override]
            return (next(answers, answer) or default) if key == "MAIL" else default

    server.answers = Answers()


@pytest.mark.parametrize(
    ("outcome", "sentence", "answers"),
    [
        ("refused", "refused the last mail", [("RCPT", "550 no"), ("DATA", "550 no")]),
        ("delivered", "Stop mail about competitions", [("DATA", "251 fine")]),
        (
            "unknown",
            "it may not have arrived",
            [("DATA", answer) for answer in (DROP, f"{DRIP}250-", "354 go on", "well", "2" * 10_000)],
        ),
    ],
)
def test_a_mail_that_may_have_been_accepted_or_was_refused_is_not_sent_again(
    contest: Contest, server: MailServer, outcome: str, sentence: str, answers: list[tuple[str, str]]
) -> None:
    add_address(contest.arena, server)
    is_unknown = pytest.raises(Unavailable, match="did not say whether it accepted")
    for command, answer in answers:
        announce(contest)
        server.answers[command] = answer
        with is_unknown if outcome == "unknown" else nullcontext(), limit_drip(answer):
            deliver.send_due_mail()
        assert (list_waiting(), find_address().outcome) == ([], outcome)
        assert sentence in get_page(contest.arena, "/account", team="red").text
        assert len(server.envelopes) == (0 if outcome == "refused" else 1)
        server.answers.clear()
        server.envelopes.clear()
        make_due()
        announce(contest, "Next")
        assert deliver.send_due_mail() == 1
        assert server.take_text().startswith("Next")


@pytest.mark.parametrize(("command", "answer"), [("MAIL", "550 quota"), ("RCPT", "421 closing")])
def test_a_server_that_stops_accepting_mail_gets_no_further_one(
    contest: Contest, server: MailServer, command: str, answer: str
) -> None:
    add_address(contest.arena, server)
    add_address(contest.arena, server, "blue", "blue@example.org")
    add_address(contest.arena, server, "green", "green@example.org")
    server.on_mail = lambda: server.answers.update({command: answer})
    announce(contest)
    assert deliver.send_due_mail() == 2
    assert sorted(list_waiting()) == [("announcement", 0), ("announcement", 1)]


def test_what_a_person_waits_for_is_sent_first(contest: Contest, server: MailServer) -> None:
    add_address(contest.arena, server)
    announce(contest)
    request_link(contest.arena)
    assert deliver.send_due_mail() == 2
    assert [message["Subject"] for message in server.read_mails()] == [
        "New password",
        "Small cup: announcement",
    ]


@pytest.mark.parametrize("moment", ["on_recipient", "on_mail"])
def test_a_sender_that_is_killed_sends_one_mail_twice_at_most_and_loses_none(
    contest: Contest, server: MailServer, moment: str
) -> None:
    """The process is killed before the server gets the text, or after it has accepted it."""
    add_address(contest.arena, server)
    add_address(contest.arena, server, "blue", "blue@example.org")
    announce(contest)
    server.envelopes.clear()
    process = subprocess.Popen([sys.executable, "-m", "workers.deliver"], stdout=subprocess.DEVNULL)
    setattr(server, moment, lambda: process.send_signal(signal.SIGKILL))
    assert process.wait() == -signal.SIGKILL
    setattr(server, moment, lambda: None)
    deliver.send_due_mail()
    assert len(server.envelopes) <= 2  # the killed one stays claimed until its lease is over
    make_due()
    deliver.send_due_mail()
    ids = [str(read_mail(envelope)["Message-ID"]) for envelope in server.envelopes]
    assert len(set(ids)) == 2
    assert len(ids) == (3 if moment == "on_mail" else 2)
    assert list_waiting() == []


def test_a_late_process_does_not_overwrite_the_outcome_of_another(
    contest: Contest, server: MailServer
) -> None:
    add_address(contest.arena, server)
    announce(contest)
    with transaction() as session:
        late = deliveries.claim_next(session, Delivery.email_address_id)
    assert late is not None
    make_due()
    deliver.send_due_mail()
    with transaction() as session:
        mail.record(session, late, mail.REFUSED)
    assert find_address().outcome == "delivered"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"USER": "nobody"}, "SMTPAuthenticationError 535"),
        ({"TLS": "none"}, "SMTPNotSupportedError"),
        ({"USER": ""}, "SMTPSenderRefused 530"),
        ({"USER": "cüp"}, "UnicodeEncodeError"),
        ({"TLS": "implicit"}, "SSLError"),
        ({"HOST": "localhost"}, "SSLCertVerificationError"),
        ({"PASSWORD_FILE": "/nonexistent"}, "FileNotFoundError"),
    ],
)
def test_a_server_that_cannot_be_used_gets_no_mail(
    contest: Contest, server: MailServer, tmp_path: Path, change: dict[str, str], reason: str
) -> None:
    store_address(contest.arena)
    settings = server.build_settings(tmp_path, **change)
    with change_settings(**settings), pytest.raises(Unavailable, match=reason):
        deliver.send_due_mail()
    assert list_waiting() == [("confirmation", 0)]
    assert server.envelopes == []


def test_a_server_that_does_not_accept_the_sender_gets_no_mail(contest: Contest, server: MailServer) -> None:
    store_address(contest.arena)
    for command, answer, reason in (
        ("MAIL", "550 not your domain", "SMTPSenderRefused 550"),
        ("MAIL", f"{DRIP}250", "TimeoutError"),
        ("greeting", DROP, "SMTPServerDisconnected"),
        ("greeting", f"{DRIP}220", "TimeoutError"),
    ):
        server.answers = {command: answer}
        with pytest.raises(Unavailable, match=reason), limit_drip(answer):
            deliver.send_due_mail()
        assert list_waiting() == [("confirmation", 0)]
    server.answers = {}
    assert deliver.send_due_mail() == 1


@pytest.mark.parametrize("has_tls", [True, False])
def test_tls_may_begin_with_the_connection_and_a_server_on_this_machine_needs_none(
    client: TestClient, certificate: Path, tmp_path: Path, *, has_tls: bool
) -> None:
    options = {"TLS": "implicit", "USER": ""} if has_tls else {}
    with (
        run_mail_server(certificate if has_tls else None, implicit=has_tls) as server,
        change_settings(**server.build_settings(tmp_path, **options)),
    ):
        add_address(Contest.create(client).arena, server)
        assert has_tls or server.sessions[0].ssl is None


@pytest.mark.parametrize(
    "values",
    [
        {"host": "mail.example.org", "sender": "cup@example.org", "user": "cup", "tls": "none"},
        {"host": "mail.example.org", "sender": "cup"},
        {"host": "mail.example.org", "sender": "a@example.org\nBcc: b@example.org"},
        {"host": "", "sender": "cup@example.org"},
        {"host": "mail.example.org"},
    ],
)
def test_settings_that_send_nothing_or_a_password_in_clear_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"host|sender|TLS"):
        SmtpServer.model_validate(values)


def test_mail_needs_a_public_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONCUP_PUBLIC_URL", raising=False)
    with pytest.raises(ValueError, match="ANONCUP_PUBLIC_URL"):
        Settings(smtp=SmtpServer(host="127.0.0.1", sender="cup@example.org"))
