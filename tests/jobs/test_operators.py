"""Readiness, metrics and request logs for operators."""

import json
import re
import resource
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker
from structlog.testing import capture_logs

from app.config import Settings
from app.core.db import engine
from app.core.db.transaction import transaction
from app.core.http import operators
from app.jobs import queue
from tests.support.arena import PASSWORD, Arena
from tests.support.contest import run_clock
from tests.support.database_rows import execute
from tests.support.openapi_contract import CheckedClient
from tests.support.queue import empty_queue, run_full_queue
from tests.support.service_processes import run_web_server
from tests.support.setting_changes import change_settings
from tests.support.uploads import score_everything
from tests.support.wait import TIMEOUT_S, poll_until
from workers import clock, tasks
from workers.readiness import SCORING_READINESS

pytestmark = pytest.mark.full

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def build_client_at(client: TestClient, address: str = "127.0.0.1") -> TestClient:
    """Return a client of the same application with this address."""
    return CheckedClient(client.app, base_url="http://localhost", client=(address, 50000))


def scrape_metrics(client: TestClient) -> Samples:
    response = build_client_at(client).get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def get_sample(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


def test_requests_are_counted_and_timed_by_route(arena: Arena) -> None:
    arena.client.get("/api/v1/competitions/small")
    arena.client.get("/api/v1/competitions/other-than-that")
    arena.client.head("/api/v1/competitions/small")
    samples = scrape_metrics(arena.client)
    route = "/api/v1/competitions/{slug}"
    for method, status in (("GET", "200"), ("GET", "404"), ("HEAD", "200")):
        labels = {"method": method, "route": route, "status": status}
        assert get_sample(samples, "anoncup_http_requests_total", **labels) == 1
    assert get_sample(samples, "anoncup_http_request_seconds_count", method="GET", route=route) == 2


def test_labels_contain_no_user_input(arena: Arena) -> None:
    arena.submit("赤 team")
    paths = ["/canary-path", "/competitions/canary-slug", "/static/canary.css", "/sign-in?next=canary"]
    for path in (*paths, "/api/v1/canary"):
        arena.client.get(path)
    arena.client.request("CANARY", "/")
    arena.client.request("CANARY", "/canary")
    response = build_client_at(arena.client).get("/metrics").text
    assert "canary" not in response.lower()
    assert "赤" not in response
    routes = set(re.findall(r'route="([^"]*)"', response))
    assert {"unmatched", "/static", "/competitions/{slug}"} <= routes
    assert not {route for route in routes if "small" in route}
    assert 'method="other"' in response


def test_jobs_are_counted_by_state_with_maximum_age(arena: Arena) -> None:
    arena.submit("red", seed=1)
    score_everything()
    arena.submit("red", seed=2)
    execute(text("UPDATE evaluations SET created_at = created_at - interval '90 s' WHERE state = 'QUEUED'"))
    samples = scrape_metrics(arena.client)
    for state, count in (("QUEUED", 1), ("SCORING", 0), ("ERROR", 0)):
        assert get_sample(samples, "anoncup_evaluations", state=state) == count
    assert get_sample(samples, "anoncup_guesses", state="QUEUED") == 0
    assert (get_sample(samples, "anoncup_oldest_queued_seconds") or 0) >= 90
    assert get_sample(samples, "anoncup_queue_depth") == 2
    assert get_sample(samples, "anoncup_queue_up") == get_sample(samples, "anoncup_database_up") == 1
    score_everything()
    empty_queue()
    idle = scrape_metrics(arena.client)
    assert get_sample(idle, "anoncup_oldest_queued_seconds") == get_sample(idle, "anoncup_queue_depth") == 0


TOKEN, PUBLIC_URL = "an-operators-own-token", "https://cup.example.org"


@pytest.mark.parametrize(
    ("address", "headers", "is_served"),
    [
        *((address, {}, True) for address in ("127.0.0.1", "127.9.9.9", "::1")),
        *((address, {}, False) for address in ("10.0.0.7", "2001:db8::1", "testclient")),
        *(("127.0.0.1", {header: "127.0.0.1"}, False) for header in operators.PROXY_HEADERS),
    ],
)
def test_metrics_are_served_to_localhost_only(
    client: TestClient, address: str, headers: dict[str, str], is_served: bool
) -> None:
    response = build_client_at(client, address).get("/metrics", headers=headers)
    assert response.status_code == (200 if is_served else 404)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.7"])
def test_with_a_public_url_metrics_are_served_to_holders_of_the_token(
    client: TestClient, address: str
) -> None:
    operator_client = build_client_at(client, address)
    with change_settings(ANONCUP_PUBLIC_URL=PUBLIC_URL):
        assert operator_client.get("/metrics").status_code == 404
    with change_settings(ANONCUP_PUBLIC_URL=PUBLIC_URL, ANONCUP_METRICS_TOKEN=TOKEN):
        for sent, status in {"": 404, TOKEN[:-1]: 404, TOKEN: 200}.items():
            headers = {"Authorization": f"Bearer {sent}"}
            assert operator_client.get("/metrics", headers=headers).status_code == status


@pytest.mark.parametrize("weak_token", ["short", "with spaces in it and long", "\u00e9" * 20])
def test_weak_metrics_token_is_refused_at_start(weak_token: str) -> None:
    with pytest.raises(ValidationError):
        Settings(metrics_token=weak_token)


def test_last_run_of_each_periodic_task_is_reported(client: TestClient) -> None:
    run_clock()
    assert client.get("/readyz").json()["last_sweep_s"] is None
    clock.sweep()
    for task, seconds in (("sweep", 60), ("turn", 12)):
        age_heartbeat(task, seconds)
        age = get_sample(scrape_metrics(client), "anoncup_heartbeat_age_seconds", task=task)
        assert age is not None
        assert age >= seconds
    ready = client.get("/readyz").json()
    assert ready["last_sweep_s"] >= 60
    assert ready["clock_s"] >= 12


def age_heartbeat(task: str, seconds: float) -> None:
    """Make the last run of the task this many seconds older."""
    statement = text("UPDATE heartbeats SET at = at - make_interval(secs => :by) WHERE task = :task")
    with transaction() as session:
        session.execute(statement, {"by": seconds, "task": task})


def test_it_is_not_ready_before_the_first_heartbeat_nor_after_a_stale_one(
    client: TestClient, settings: Settings
) -> None:
    def read_readiness() -> tuple[int, str | None]:
        response = client.get("/readyz")
        return response.status_code, response.json().get("code")

    assert read_readiness() == (503, "clock_stale")
    run_clock()
    assert read_readiness() == (200, None)
    for seconds in (settings.clock_stale_s, -settings.clock_stale_s - 10):  # the second is in the future
        age_heartbeat("turn", seconds)
        assert read_readiness() == (503, "clock_stale")
    clock.sweep()
    assert read_readiness() == (503, "clock_stale")
    run_clock()
    assert read_readiness() == (200, None)


def test_empty_store_is_reported_and_accepts_nothing(arena: Arena, tmp_path: Path) -> None:
    run_clock()
    quota_before = arena.submit("red").json()["quota_left"]
    with change_settings(ANONCUP_STORE=tmp_path / "empty"):
        ready, refusal = arena.client.get("/readyz"), arena.submit("red", seed=2)
    for response in ready, refusal:
        assert (response.status_code, response.json()["code"]) == (503, "storage_unavailable")
        assert "is it the right store" in response.json()["detail"]
    assert int(refusal.headers["retry-after"]) > 0
    assert not (tmp_path / "empty").exists()
    assert arena.client.get("/readyz").status_code == 200
    assert arena.submit("red", seed=2).json()["quota_left"] == {
        name: remaining - 1 for name, remaining in quota_before.items()
    }


UNREACHABLE = "postgresql+psycopg://anoncup@/anoncup?host=/nowhere"


def test_service_without_database_is_not_ready_but_has_metrics(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "get_session_factory", lambda: sessionmaker(create_engine(UNREACHABLE)))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["code"]) == (503, "database_unavailable")
    samples = scrape_metrics(client)
    assert get_sample(samples, "anoncup_database_up") == 0
    assert get_sample(samples, "anoncup_evaluations", state="QUEUED") is None


@pytest.mark.parametrize("sessions_before_loss", [0, 1])
def test_lost_database_is_logged_once_per_task(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, sessions_before_loss: int
) -> None:
    """The database is lost before the work is claimed, or during it."""
    arena.submit("red")
    caplog.set_level("INFO")
    unreachable = create_engine(UNREACHABLE)
    sessions = [engine.get_session_factory()] * sessions_before_loss
    monkeypatch.setattr(
        engine, "get_session_factory", lambda: sessions.pop() if sessions else sessionmaker(unreachable)
    )
    monkeypatch.setattr(SCORING_READINESS, "check_valid_until", float("inf"))
    with capture_logs() as log_entries:
        tasks.score.apply()
    assert [line["event"] for line in log_entries] == ["database_error"]
    (ending,) = [record.getMessage() for record in caplog.records if record.name.startswith("celery")]
    assert ending.endswith("ignored")


def test_read_only_database_fails_readiness_and_is_logged(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_clock()
    options = {"options": "-c default_transaction_read_only=on"}
    read_only = create_engine(settings.database_url, connect_args=options)
    with monkeypatch.context() as patch, capture_logs() as log_entries:
        patch.setattr(engine, "get_session_factory", lambda: sessionmaker(read_only))
        response = client.get("/readyz")
    read_only.dispose()
    assert (response.status_code, response.json()["code"]) == (503, "database_read_only")
    assert [line["sqlstate"] for line in log_entries if line["event"] == "database_error"] == ["25006"]
    assert client.get("/readyz").status_code == 200


def test_service_whose_queue_cannot_be_written_is_not_ready(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_clock()
    with run_full_queue(tmp_path) as url:
        for queue_url in (url, "redis://127.0.0.1:1/0"):
            with change_settings(REDIS_URL=queue_url):
                response = client.get("/readyz")
            assert (response.status_code, response.json()["code"]) == (503, "queue_unavailable")
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(queue, "count_messages", lambda: None)
    assert get_sample(scrape_metrics(client), "anoncup_queue_up") == 0


def test_full_store_fails_readiness(client: TestClient) -> None:
    run_clock()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
    try:
        assert client.get("/readyz").json()["code"] == "storage_unavailable"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert client.get("/readyz").status_code == 200


def test_each_request_is_logged_as_json_without_its_query(settings: Settings, tmp_path: Path) -> None:
    with run_web_server(tmp_path) as url:
        for path in ("/sign-in?code=canary-code", "/healthz?code=canary-code", "/no%0Asuch?code=canary-code"):
            httpx2.get(url + path, timeout=TIMEOUT_S)
        httpx2.post(
            f"{url}/api/v1/tokens?code=canary-code",
            json={"name": "nobody", "password": PASSWORD},
            timeout=TIMEOUT_S,
        )
        (log,) = tmp_path.glob("web-*.log")
        assert poll_until(lambda: "/api/v1/tokens" in log.read_text())
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
