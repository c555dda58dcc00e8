"""Webhooks of teams and organizers, with real receivers on this machine."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.config import get_settings
from app.db.models import Delivery, Webhook
from app.db.transaction import transaction
from app.services.jobs import health
from app.services.notifications import deliveries
from app.services.notifications.addresses import is_allowed
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_all
from tests.support.page_requests import get_page, post_form, send_form
from tests.support.secret_search import build_needles, find_leaks
from tests.support.uploads import score_everything
from tests.support.webhook_receiver import Receiver, make_certificate, run_receiver
from workers import clock, deliver, webhook_sender

pytestmark = pytest.mark.full

ALL_EVENTS = ["score", "phase", "announcement"]
BAD_URLS = (
    *("http://example.org/", "ftp://example.org/", "file:///etc/passwd", "https://", "x"),
    *("https://user:pass@example.org/", "https://127.0.0.1/", "https://[::1]/", "https://10.1.2.3/"),
    *("https://example.org:99999/", "https://exa mple.org/", "https://example.org/\nx", "https://例.jp/"),
    "https://[::ffff:10.0.0.1]/",
)


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Contest]:
    monkeypatch.setenv("ANONCUP_WEBHOOK_PRIVATE_NETWORKS", "true")
    get_settings.cache_clear()
    yield Contest.create(client)
    monkeypatch.undo()
    get_settings.cache_clear()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as running:
        yield running


def add_webhook(
    contest: Contest, url: str, *, events: list[str] = ALL_EVENTS, **options: Any
) -> dict[str, Any]:
    reader = {name: options.pop(name) for name in ("team",) if name in options}
    body = {"url": url, "events": events, **options}
    response = contest.arena.post(f"{contest.path}/webhooks", json=body, **reader)
    assert response.status_code == 201, response.text
    return dict(response.json())


def list_webhooks(contest: Contest, **reader: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = contest.arena.get(f"{contest.path}/webhooks", **reader).json()
    return rows


def announce(contest: Contest, text: str = "Hello <!channel> & @everyone") -> str:
    body = {"text": {"en": text, "ja": "こんにちは"}}
    return str(contest.arena.post(f"{contest.path}/announcements", json=body).json()["id"])


def announce_to(receiver: Receiver, contest: Contest) -> None:
    """Make an announcement that only this receiver is told of."""
    add_webhook(contest, receiver.url, events=["announcement"])
    announce(contest)


def list_outcomes(contest: Contest) -> list[str]:
    return [row["outcome"] for row in list_webhooks(contest)]


def deliver_everything() -> None:
    while deliver.deliver_due():
        pass


def make_due() -> None:
    """Let the backoff of all deliveries be over."""
    execute(update(Delivery).values(next_attempt_at=datetime.now(UTC) - timedelta(seconds=1)))


def test_waiting_and_overdue_events_are_counted(contest: Contest, receiver: Receiver) -> None:
    announce_to(receiver, contest)
    with transaction() as session:
        late = datetime.now(UTC) - timedelta(hours=1)
        session.execute(update(Delivery).values(next_attempt_at=late))
        session.execute(update(Webhook).values(disabled_at=late))
        counts = health.count_deliveries(session)
    assert (counts.waiting, counts.disabled_webhooks) == (1, 1)
    assert 3600 <= counts.overdue_s < 7200
    deliver_everything()
    with transaction() as session:
        assert health.count_deliveries(session) == health.DeliveryCounts(0, 0.0, 0)


def test_a_team_gets_its_own_scores_signed_and_no_others(contest: Contest, receiver: Receiver) -> None:
    webhook = add_webhook(contest, receiver.url, team="red")
    submission = contest.submit("red")
    contest.submit("blue")
    deliver_everything()
    (body,) = receiver.read_bodies()
    verdict = contest.arena.get(f"/submissions/{submission}", team="red").json()["result"]
    assert body["type"] == "score"
    assert body["data"] == {
        "competition": "small",
        "round": "small",
        "submission": submission,
        "number": 1,
        "status": "SCORED",
        "overall": verdict["overall"],
        "utility": verdict["utility"],
        "security": verdict["security"],
        "violations": [],
        "url": f"/submissions/{submission}",
    }
    assert receiver.are_signed_with(webhook["secret"])
    assert not receiver.are_signed_with("whsec_" + "A" * 43 + "=")


def test_a_rejected_release_is_reported_with_its_rule(contest: Contest, receiver: Receiver) -> None:
    add_webhook(contest, receiver.url, team="red")
    assert contest.arena.submit_excessive("red").status_code == 202
    score_everything()
    deliver_everything()
    (body,) = receiver.read_bodies()
    assert (body["data"]["status"], body["data"]["violations"]) == (
        "REJECTED",
        ["excessive_anonymization"],
    )


def test_phase_changes_and_announcements_go_to_organizers_and_teams(contest: Contest) -> None:
    with run_receiver() as organizers, run_receiver() as red:
        add_webhook(contest, organizers.url, events=["phase", "announcement"])
        add_webhook(contest, red.url, team="red")
        announce(contest)
        contest.submit("red")
        contest.post_as_organizer(f"{contest.path}/phases/anonymization/pause")
        contest.post_as_organizer(f"{contest.path}/phases/anonymization/resume")
        contest.publish_targets("blue")
        contest.close_attacks()
        deliver_everything()
        changes = [body["data"]["change"] for body in organizers.read_bodies() if body["type"] == "phase"]
    assert organizers.read_bodies()[0]["data"]["text"]["ja"] == "こんにちは"
    assert changes == ["paused", "resumed", "finals_frozen", "targets_published", "closed", "revealed"]
    assert [kind for kind in red.read_types() if kind != "score"] == organizers.read_types()


def test_a_phase_start_is_reported_once(contest: Contest, receiver: Receiver) -> None:
    add_webhook(contest, receiver.url, events=["phase"])
    contest.move_phases(anonymization=(-0.5, 2), reidentification=(3, 4))
    clock.sweep()
    clock.sweep()
    deliver_everything()
    (body,) = receiver.read_bodies()
    assert (body["data"]["change"], body["data"]["phase"]) == ("started", "anonymization")


def test_hidden_guess_scores_are_not_sent(contest: Contest, receiver: Receiver) -> None:
    (submission, _) = contest.publish_targets("red", "blue")
    add_webhook(contest, receiver.url, team="blue", events=["score"])
    contest.submit_correct_guess("blue", submission, 7)
    deliver_everything()
    assert receiver.requests == []


def test_open_guess_scores_are_sent_to_the_guesser_only(client: TestClient, contest: Contest) -> None:
    open_contest = Contest.create(client, slug="open", extra_toml='[publication]\nfeedback = "immediate"\n')
    (submission, _) = open_contest.publish_targets("red", "blue")
    with run_receiver() as blue, run_receiver() as red:
        add_webhook(open_contest, blue.url, team="blue", events=["score"])
        add_webhook(open_contest, red.url, team="red", events=["score"])
        guess = open_contest.submit_correct_guess("blue", submission, 7)
        deliver_everything()
    (body,) = blue.read_bodies()
    assert (body["data"]["guess"], body["data"]["correct"]) == (guess, 7)
    assert red.requests == []


def test_nothing_that_is_sent_contains_a_secret(contest: Contest, receiver: Receiver) -> None:
    for team in ("red", "blue"):
        add_webhook(contest, receiver.url, team=team)
    add_webhook(contest, receiver.url, events=["phase", "announcement"], format="slack")
    contest.publish_targets("red", "blue")
    deliver_everything()
    sent = b"".join(body + repr(headers).encode() for headers, body in receiver.requests)
    needles = {
        needle
        for source in contest.secrets.values()
        for needle in build_needles(b"original_row\n" + b"\n".join(b"%d" % (row + 1) for row in source))
    }
    assert len(receiver.requests) > 4
    assert find_leaks(sent, needles) == []
    assert b"whsec_" not in sent


def test_texts_of_people_notify_nobody_in_chats(contest: Contest) -> None:
    with run_receiver() as slack, run_receiver() as discord:
        add_webhook(contest, slack.url, events=["announcement"], format="slack", language="en")
        add_webhook(contest, discord.url, events=["announcement"], format="discord", language="ja")
        announce(contest)
        deliver_everything()
    assert slack.read_bodies() == [
        {"text": "Small cup\nAnnouncement: Hello &lt;!channel&gt; &amp; @everyone\n/competitions/small"}
    ]
    (message,) = discord.read_bodies()
    assert message["allowed_mentions"] == {"parse": []}
    assert message["content"].startswith("小さな杯\n")
    assert "こんにちは" in message["content"]


def test_a_withdrawn_announcement_is_not_sent(contest: Contest, receiver: Receiver) -> None:
    add_webhook(contest, receiver.url, events=["announcement"])
    contest.arena.call("DELETE", f"/announcements/{announce(contest)}")
    deliver_everything()
    assert receiver.requests == []


@pytest.mark.parametrize(("status", "outcome"), [(500, "answer"), (302, "redirect"), (307, "redirect")])
def test_a_failure_is_tried_again_with_the_same_id(
    contest: Contest, receiver: Receiver, status: int, outcome: str
) -> None:
    announce_to(receiver, contest)
    receiver.status = status
    deliver_everything()
    assert list_outcomes(contest) == [outcome]
    assert len(receiver.requests) == 1
    receiver.status = 200
    make_due()
    deliver_everything()
    assert len(receiver.requests) == 2
    assert len(set(receiver.read_ids())) == 1
    assert list_outcomes(contest) == ["delivered"]


def test_a_receiver_that_hangs_delays_no_other(contest: Contest, receiver: Receiver) -> None:
    """The first receiver hangs until the second one has got its request, and then closes the connection."""
    with run_receiver() as hanging:
        hanging.hangs = True
        receiver.on_request = hanging.release.set
        add_webhook(contest, hanging.url, events=["announcement"])
        announce_to(receiver, contest)
        deliver.deliver_due()
    assert list_outcomes(contest) == ["connection", "delivered"]


def test_a_receiver_that_does_not_answer_is_tried_again(
    contest: Contest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "TIMEOUT_S", 0.2)
    receiver.hangs = True
    announce_to(receiver, contest)
    deliver.deliver_due()
    assert list_outcomes(contest) == ["timeout"]


def test_a_receiver_that_is_down_is_tried_again(contest: Contest) -> None:
    with run_receiver() as gone:
        pass
    announce_to(gone, contest)
    deliver_everything()
    assert list_outcomes(contest) == ["connection"]


@pytest.mark.parametrize(
    ("name", "trusts", "outcome"),
    [
        ("127.0.0.1", True, "delivered"),
        ("127.0.0.1", False, "certificate"),
        ("example.org", True, "certificate"),
    ],
)
def test_only_valid_certificates_are_accepted(  # noqa: PLR0917  # fixtures
    contest: Contest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, trusts: bool, outcome: str
) -> None:
    certificate = make_certificate(tmp_path, name)
    if trusts:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "public.pem"))
    with run_receiver(certificate) as secure:
        announce_to(secure, contest)
        deliver_everything()
    assert list_outcomes(contest) == [outcome]
    assert len(secure.requests) == (outcome == "delivered")


def test_an_event_whose_process_was_killed_before_it_was_recorded_is_sent_again(
    contest: Contest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce_to(receiver, contest)
    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "record", lambda *_: None)
        deliver.deliver_due()
    assert deliver.deliver_due() == 0  # another process waits until the lease is over
    make_due()
    deliver_everything()
    assert len(receiver.requests) == 2
    assert len(set(receiver.read_ids())) == 1


def test_a_late_process_does_not_overwrite_the_outcome_of_another(
    contest: Contest, receiver: Receiver
) -> None:
    announce_to(receiver, contest)
    with transaction() as session:
        (late,) = deliveries.claim_due(session)
    make_due()
    deliver_everything()
    with transaction() as session:
        deliveries.record(session, late, "timeout")
    assert list_outcomes(contest) == ["delivered"]


def test_a_webhook_is_disabled_after_the_last_attempt_and_enabled_by_a_test(
    contest: Contest, receiver: Receiver
) -> None:
    webhook = add_webhook(contest, receiver.url, events=["announcement"])
    announce(contest)
    receiver.status = 503
    for _ in range(deliveries.MAX_ATTEMPTS):
        make_due()
        deliver_everything()
    assert len(receiver.requests) == deliveries.MAX_ATTEMPTS
    assert list_webhooks(contest)[0]["disabled_at"] is not None
    assert "It is disabled" in get_page(contest.arena, f"{contest.path}/webhooks", organizer=True).text
    announce(contest)
    make_due()
    deliver_everything()
    assert len(receiver.requests) == deliveries.MAX_ATTEMPTS
    receiver.status = 200
    assert contest.arena.post(f"/webhooks/{webhook['id']}/test").status_code == 202
    deliver_everything()
    assert receiver.read_types()[-1] == "test"
    assert list_webhooks(contest)[0]["disabled_at"] is None


def test_a_receiver_that_is_gone_disables_its_webhook(contest: Contest, receiver: Receiver) -> None:
    add_webhook(contest, receiver.url, events=["announcement"])
    receiver.status = 410
    announce(contest)
    deliver_everything()
    assert list_webhooks(contest)[0]["disabled_at"] is not None


def test_only_public_addresses_are_connected_to(
    contest: Contest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is permitted when it is entered; what it resolves to is checked when it is used."""
    local = receiver.url.replace("127.0.0.1", "localhost")
    add_webhook(contest, local, events=["announcement"])
    announce(contest)
    monkeypatch.setenv("ANONCUP_WEBHOOK_PRIVATE_NETWORKS", "false")
    get_settings.cache_clear()
    deliver_everything()
    assert list_outcomes(contest) == ["address"]
    assert receiver.requests == []


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1"),
        *("ff0e::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("2001:0:7f00:1::", "2001:db8::1"),
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_allowed(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "203.0.114.1", "2606:4700:4700::1111"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([{"url": url} for url in BAD_URLS], "invalid_webhook_url"),
        ([{"url": "https://" + "a" * 2000}], "invalid_request"),
        (
            [{"format": "xml"}, {"events": []}, {"events": ["score"]}, {"events": ["x"]}, {"language": "xx"}],
            "invalid_webhook",
        ),
    ],
)
def test_urls_that_lead_nowhere_public_and_unknown_formats_and_events_are_refused(
    client: TestClient, changes: list[dict[str, Any]], code: str
) -> None:
    contest = Contest.create(client)
    for change in changes:
        body = {"url": "https://example.org/", "events": ["phase"]} | change
        response = contest.arena.post(f"{contest.path}/webhooks", json=body)
        assert (response.status_code, response.json()["code"]) == (422, code), change


def test_the_number_of_webhooks_is_limited_for_each_owner(contest: Contest) -> None:
    for _ in range(5):
        add_webhook(contest, "https://example.org/", team="red")
    body = {"url": "https://example.org/", "events": ["phase"]}
    response = contest.arena.post(f"{contest.path}/webhooks", json=body, team="red")
    assert (response.status_code, response.json()["code"]) == (409, "too_many_webhooks")
    add_webhook(contest, "https://example.org/", team="blue")
    add_webhook(contest, "https://example.org/", events=["phase"])


def test_nobody_reads_an_address_or_a_secret_again(contest: Contest) -> None:
    webhook = add_webhook(contest, "https://example.org/a-secret-path", team="red")
    (row,) = list_webhooks(contest, team="red")
    page = get_page(contest.arena, f"{contest.path}/webhooks", team="red").text
    export = contest.arena.get(f"{contest.path}/export.zip").content
    for text in (str(row), page, export.decode("latin-1")):
        assert "a-secret-path" not in text
        assert webhook["secret"] not in text
    assert row["host"] == "example.org"
    assert list_webhooks(contest, team="blue") == []
    assert list_webhooks(contest) == []


def test_the_webhooks_of_a_member_who_leaves_are_deleted(contest: Contest) -> None:
    add_webhook(contest, "https://example.org/", team="red")
    code = contest.arena.post(f"{contest.path}/team/invites", json={}, team="red").json()["code"]
    body = {"invite": code, "name": "second", "password": "correct horse"}
    second = contest.arena.client.post("/api/v1/signup", json=body).json()["token"]
    first = contest.arena.get("/me", team="red").json()["user_id"]
    response = contest.arena.call("DELETE", f"{contest.path}/team/members/{first}", token=second)
    assert response.status_code == 204
    assert load_all(select(Webhook)) == []


def test_the_page_adds_tests_and_deletes_webhooks(contest: Contest, receiver: Receiver) -> None:
    path = f"{contest.path}/webhooks"
    fields: dict[str, Any] = {"url": receiver.url, "format": "json", "events": ["score"]}
    page = post_form(contest.arena, path, fields, team="red")
    assert page.status_code == 201
    assert "whsec_" in page.text
    (webhook,) = load_all(select(Webhook))
    send_form(contest.arena, f"{path}/{webhook.id}/test", team="red")
    send_form(contest.arena, f"{path}/{webhook.id}/test", team="red")
    deliver_everything()
    assert receiver.read_types() == ["test"]
    send_form(contest.arena, f"{path}/{webhook.id}/remove", team="red")
    assert "There are no webhooks yet" in get_page(contest.arena, path, team="red").text
    refused = post_form(contest.arena, path, fields | {"url": "x"}, team="red")
    assert refused.status_code == 422


def test_a_rescore_reports_new_scores_only_once_it_is_applied(contest: Contest, receiver: Receiver) -> None:
    contest.submit("red")
    add_webhook(contest, receiver.url, team="red", events=["score"])
    file = contest.arena.get(f"{contest.path}/competition.toml").text.replace("weight = 2.0", "weight = 3.0")
    rescore = contest.arena.post(f"{contest.path}/rescores", content=file).json()
    score_everything()
    deliver_everything()
    assert receiver.requests == []
    assert contest.arena.post(f"/rescores/{rescore['id']}/apply").status_code == 200
    deliver_everything()
    assert receiver.read_types() == ["score"]


def test_old_deliveries_are_removed(contest: Contest, receiver: Receiver) -> None:
    announce_to(receiver, contest)
    deliver_everything()
    announce(contest)
    with transaction() as session:
        session.execute(update(Delivery).values(finished_at=Delivery.finished_at - timedelta(days=8)))
        deliveries.remove_old(session)
        (waiting,) = session.scalars(select(Delivery)).all()
    assert waiting.finished_at is None
