"""What an operator sees: readiness, numbers, and a line for each request."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker
from structlog.testing import capture_logs

from app.config import Settings, get_settings
from app.db import engine, failures
from app.db.transaction import transaction
from app.http import operators
from app.services.jobs import queue
from tests.e2e.stack import web
from tests.support.arena import PASSWORD, Arena
from tests.support.contest import turn
from tests.support.openapi_contract import CheckedClient
from tests.support.queue import empty_queue
from tests.support.uploads import score_everything
from tests.support.wait import PATIENCE_S, eventually, stopwatch
from workers import clock, score
from workers.readiness import FOR_SECRETS

pytestmark = pytest.mark.full

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def nearby(client: TestClient, address: str = "127.0.0.1") -> TestClient:
    """The same application as somebody at that address meets it."""
    return CheckedClient(client.app, base_url="http://localhost", client=(address, 50000))


def scraped(client: TestClient) -> Samples:
    answer = nearby(client).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


def test_requests_are_counted_by_route_and_timed(arena: Arena) -> None:
    passed = stopwatch()
    arena.client.get("/api/v1/competitions/small")
    arena.client.get("/api/v1/competitions/other-than-that")
    both = passed()
    arena.client.head("/api/v1/competitions/small")
    found = scraped(arena.client)
    route = "/api/v1/competitions/{slug}"
    assert value(found, "anoncup_http_requests_total", method="GET", route=route, status="200") == 1
    assert value(found, "anoncup_http_requests_total", method="GET", route=route, status="404") == 1
    assert value(found, "anoncup_http_requests_total", method="HEAD", route=route, status="200") == 1
    assert value(found, "anoncup_http_request_seconds_count", method="GET", route=route) == 2
    seconds = value(found, "anoncup_http_request_seconds_sum", method="GET", route=route)
    assert seconds is not None
    assert 0 < seconds <= both


def test_nothing_that_a_user_sent_becomes_a_label(arena: Arena) -> None:
    arena.submit("赤 team")
    asked = ["/canary-path", "/competitions/canary-slug", "/static/canary.css", "/sign-in?next=canary"]
    for path in (*asked, "/api/v1/canary"):
        arena.client.get(path)
    arena.client.request("CANARY", "/")
    arena.client.request("CANARY", "/canary")
    answer = nearby(arena.client).get("/metrics").text
    assert "canary" not in answer.lower()
    assert "赤" not in answer
    routes = set(re.findall(r'route="([^"]*)"', answer))
    assert {"unmatched", "/static", "/competitions/{slug}"} <= routes
    assert not {route for route in routes if "small" in route}
    assert 'method="other"' in answer


def test_a_request_that_breaks_is_counted_as_500(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("app.services.jobs.health.heartbeats", broken)
    # Past the check against the document, which knows no 500.
    assert TestClient.request(client, "GET", "/readyz").status_code == 500
    monkeypatch.undo()
    found = scraped(client)
    assert value(found, "anoncup_http_requests_total", method="GET", route="/readyz", status="500") == 1


def test_work_is_counted_by_state_with_the_age_of_the_oldest(arena: Arena) -> None:
    arena.submit("red", seed=1)
    score_everything()
    passed = stopwatch()
    arena.submit("red", seed=2)
    with transaction() as session:
        session.execute(
            text("UPDATE evaluations SET created_at = created_at - interval '90 s' WHERE state = 'QUEUED'")
        )
    found = scraped(arena.client)
    counted = {
        state: value(found, "anoncup_evaluations", state=state) for state in ("QUEUED", "SCORING", "ERROR")
    }
    assert counted == {"QUEUED": 1, "SCORING": 0, "ERROR": 0}
    assert value(found, "anoncup_guesses", state="QUEUED") == 0
    oldest = value(found, "anoncup_oldest_queued_seconds")
    assert oldest is not None
    assert 90 <= oldest <= 90 + passed()
    assert value(found, "anoncup_queue_depth") == 2
    assert value(found, "anoncup_queue_up") == value(found, "anoncup_database_up") == 1
    score_everything()
    empty_queue()
    idle = scraped(arena.client)
    assert value(idle, "anoncup_oldest_queued_seconds") == value(idle, "anoncup_queue_depth") == 0


def test_how_what_was_scored_ended_is_not_counted(arena: Arena) -> None:
    before = scraped(arena.client)
    arena.submit("red", seed=1)
    score_everything()
    after = scraped(arena.client)
    told = {
        dict(labels)["state"] for name, labels in after if name in ("anoncup_evaluations", "anoncup_guesses")
    }
    assert told == {"QUEUED", "SCORING", "ERROR"}
    for name, labels in before:
        if name in ("anoncup_evaluations", "anoncup_guesses"):
            assert after[name, labels] == before[name, labels]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sets the service's settings."""

    def tell(**settings: str) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"ANONCUP_{name.upper()}", value)
        get_settings.cache_clear()

    yield tell
    monkeypatch.undo()
    get_settings.cache_clear()


def test_the_numbers_are_for_this_machine_alone(client: TestClient) -> None:
    for near in ("127.0.0.1", "127.9.9.9", "::1"):
        assert nearby(client, near).get("/metrics").status_code == 200
    for far in ("10.0.0.7", "2001:db8::1", "testclient"):
        answer = nearby(client, far).get("/metrics")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("header", operators.PASSED_ON)
def test_what_a_proxy_passes_on_is_not_of_this_machine(client: TestClient, header: str) -> None:
    assert nearby(client).get("/metrics", headers={header: "127.0.0.1"}).status_code == 404


def test_with_a_public_address_there_is_a_proxy_even_if_it_does_not_say_so(
    client: TestClient, told: Callable[..., None]
) -> None:
    told(public_url="http://localhost:8000")
    assert nearby(client).get("/metrics").status_code == 200
    told(public_url="https://cup.example.org")
    assert nearby(client).get("/metrics").status_code == 404


def test_with_a_token_the_numbers_are_for_who_has_it(client: TestClient, told: Callable[..., None]) -> None:
    told(metrics_token="an-operators-own-token", public_url="https://cup.example.org")
    for address in ("127.0.0.1", "10.0.0.7"):
        asking = nearby(client, address)
        for header in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer an-operators-own"}):
            assert asking.get("/metrics", headers=header).status_code == 404
        good = {"Authorization": "Bearer an-operators-own-token"}
        assert asking.get("/metrics", headers=good).status_code == 200


@pytest.mark.parametrize("weak", ["short", "with spaces in it and long", "\u00e9" * 20])
def test_a_weak_token_of_operators_is_refused_at_the_start(weak: str) -> None:
    with pytest.raises(ValidationError):
        Settings(metrics_token=weak)


def test_the_last_run_of_each_regular_task_is_told(client: TestClient) -> None:
    passed = stopwatch()
    turn()
    assert client.get("/readyz").json()["last_sweep_s"] is None
    assert value(scraped(client), "anoncup_heartbeat_age_seconds", task="sweep") is None
    clock.sweep()
    aged("turn", 12)
    assert 12 <= client.get("/readyz").json()["clock_s"] <= 12 + passed()
    turn()
    aged("sweep", 60)
    turn()
    assert 60 <= client.get("/readyz").json()["last_sweep_s"] <= 60 + passed()
    again = stopwatch()
    turn()
    clock.sweep()
    found = scraped(client)
    for task in ("sweep", "turn"):
        age = value(found, "anoncup_heartbeat_age_seconds", task=task)
        assert age is not None
        assert 0 <= age <= again()


def aged(task: str, seconds: float) -> None:
    """As if the task had last run so long ago."""
    earlier = text("UPDATE heartbeats SET at = at - make_interval(secs => :by) WHERE task = :task")
    with transaction() as session:
        session.execute(earlier, {"by": seconds, "task": task})


def test_it_is_not_ready_before_the_clock_has_run_nor_when_it_stands_still(
    client: TestClient, settings: Settings
) -> None:
    def told() -> tuple[int, str | None]:
        answer = client.get("/readyz")
        return answer.status_code, answer.json().get("code")

    assert told() == (503, "clock_stale")
    turn()
    assert told() == (200, None)
    aged("turn", settings.clock_stale_s)
    assert told() == (503, "clock_stale")
    assert client.get("/readyz").headers["content-type"] == "application/problem+json"
    clock.sweep()
    assert told() == (503, "clock_stale")
    turn()
    assert told() == (200, None)


def test_a_store_that_is_mounted_empty_is_told_and_takes_in_nothing(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn()
    before = arena.submit("red").json()["quota_left"]
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("ANONCUP_STORE", str(tmp_path / "empty"))
        get_settings.cache_clear()
        ready, refused = arena.client.get("/readyz"), arena.submit("red", seed=2)
    get_settings.cache_clear()
    for answer in ready, refused:
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert "is it the right store" in answer.json()["detail"]
    assert int(refused.headers["retry-after"]) > 0
    assert not (tmp_path / "empty").exists()
    assert arena.client.get("/readyz").status_code == 200
    assert arena.submit("red", seed=2).json()["quota_left"] == {
        name: left - 1 for name, left in before.items()
    }


def test_without_a_database_it_is_not_ready_but_still_gives_what_numbers_it_has(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = create_engine("postgresql+psycopg://anoncup@/anoncup?host=/nowhere")
    monkeypatch.setattr(engine, "session_factory", lambda: sessionmaker(gone))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "database_unavailable"
    found = scraped(client)
    assert value(found, "anoncup_database_up") == 0
    assert value(found, "anoncup_evaluations", state="QUEUED") is None
    assert value(found, "anoncup_http_requests_total", method="GET", route="/readyz", status="503") == 1


@pytest.mark.parametrize("lost_after", [0, 1])
def test_a_database_that_is_lost_under_a_task_is_one_error_in_the_log(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, lost_after: int
) -> None:
    """Before the work is claimed, or while it is done."""
    arena.submit("red")
    caplog.set_level("INFO")
    gone = create_engine("postgresql+psycopg://anoncup@/anoncup?host=/nowhere")
    sessions = [engine.session_factory()] * lost_after
    monkeypatch.setattr(engine, "session_factory", lambda: sessions.pop() if sessions else sessionmaker(gone))
    monkeypatch.setattr(failures, "logged", {})
    monkeypatch.setattr(FOR_SECRETS, "believed_until", float("inf"))
    with capture_logs() as logged:
        score.score.apply()
    assert [line["event"] for line in logged] == ["database_error"]
    (ending,) = [record.getMessage() for record in caplog.records if record.name.startswith("celery")]
    assert ending.endswith("ignored")


def test_a_database_that_takes_no_changes_is_not_ready_and_says_which_error(
    client: TestClient,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn()
    monkeypatch.setattr(failures, "logged", {})
    options = {"options": "-c default_transaction_read_only=on"}
    read_only = create_engine(settings.database_url, connect_args=options)
    with monkeypatch.context() as elsewhere, capture_logs() as logged:
        elsewhere.setattr(engine, "session_factory", lambda: sessionmaker(read_only))
        answer = client.get("/readyz")
    read_only.dispose()
    assert answer.status_code == 503
    assert answer.json()["code"] == "database_read_only"
    errors = [(line["kind"], line["sqlstate"]) for line in logged if line["event"] == "database_error"]
    assert errors == [("ReadOnlySqlTransaction", "25006")]
    assert client.get("/readyz").status_code == 200


def test_a_passed_write_test_stands_for_a_while(client: TestClient) -> None:
    turn()
    assert client.get("/readyz").status_code == 200
    with transaction() as session:
        session.execute(text("DELETE FROM heartbeats WHERE task = 'write_test'"))
    assert client.get("/readyz").status_code == 200
    with transaction() as session:
        assert set(session.scalars(text("SELECT task FROM heartbeats"))) == {"turn"}


def test_without_a_queue_it_is_ready_and_says_so(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    turn()
    monkeypatch.setattr(queue, "depth", lambda: None)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert (answer.json()["queue"], answer.json()["queue_depth"]) == ("unreachable", None)
    assert value(scraped(client), "anoncup_queue_up") == 0


def test_the_web_process_logs_a_line_of_json_per_request_and_no_query(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path) as url:
        for path in ("/sign-in?code=canary-code", "/healthz?code=canary-code", "/no%0Asuch?code=canary-code"):
            httpx2.get(url + path, timeout=PATIENCE_S)
        httpx2.post(
            f"{url}/api/v1/tokens?code=canary-code",
            json={"name": "nobody", "password": PASSWORD},
            timeout=PATIENCE_S,
        )
        (log,) = tmp_path.glob("web-*.log")
        assert eventually(lambda: "/api/v1/tokens" in log.read_text())
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["path"], line["status"]) for line in requests] == [
        ("GET", "/sign-in", 200),
        ("GET", "/no%0Asuch", 404),
        ("POST", "/api/v1/tokens", 401),
    ]
    assert "canary-code" not in log.read_text()
    assert PASSWORD not in log.read_text()
    assert {"event", "level", "timestamp", "logger"} <= set(lines[0])
