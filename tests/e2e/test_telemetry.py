"""Traces that running processes send to a collector."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app.config import Settings
from app.db.models import Evaluation, Submission
from app.db.transaction import transaction
from tests.support.arena import PASSWORD, build_noisy_release, build_original_table
from tests.support.service_processes import open_small_contest, run_web_server, run_worker
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full


@dataclass
class TraceCollector:
    """Received spans, each with the name of its service, and everything that was sent."""

    url: str = ""
    spans: list[tuple[str, Span]] = field(default_factory=list)
    received: bytes = b""

    def add(self, content: bytes) -> None:
        self.received += content
        for resource in ExportTraceServiceRequest.FromString(content).resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            self.spans += [
                (names["service.name"], span) for scope in resource.scope_spans for span in scope.spans
            ]


@contextmanager
def run_trace_collector() -> Iterator[TraceCollector]:
    collector = TraceCollector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.add(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            """Do not write to the output of the test."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            collector.url = f"http://127.0.0.1:{server.server_port}"
            yield collector
        finally:
            server.shutdown()
            thread.join()


UPLOAD = "POST /api/v1/competitions/{slug}/submissions"
CANARIES = ("canary-query", "canary-header", "canary-cookie", "canary-comment", PASSWORD)
IMPORT_TRACING = """
import sys
from app import telemetry
telemetry.start("web", None)
parts = ("sdk", "exporter", "instrumentation", "proto")
print([part for part in parts if f"opentelemetry.{part}" in sys.modules])
"""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceCollector]:
    """A collector that the programs of this test are told to use."""
    with run_trace_collector() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        # A trace must not contain headers even if it is told to.
        monkeypatch.setenv("OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST", ".*")
        yield running


def test_an_upload_is_one_trace_across_web_and_worker(
    settings: Settings, collector: TraceCollector, tmp_path: Path
) -> None:
    with run_web_server(tmp_path) as url, run_worker(tmp_path):
        contest = open_small_contest(url)
        identifier = submit_with_canaries(url, contest.token)
        contest.wait_for_state(identifier, "SCORED")
        headers = {"authorization": "Bearer canary-header", "cookie": "session=canary-cookie"}
        httpx2.get(f"{url}/sign-up?invite=canary-query", headers=headers, timeout=TIMEOUT_S)

        def has_trace() -> bool:
            names = {(service, span.name) for service, span in find_upload_trace(collector)}
            return ("anoncup-worker", "run/score") in names and ("anoncup-web", UPLOAD) in names

        assert poll_until(has_trace), sorted({(service, span.name) for service, span in collector.spans})
        assert poll_until(lambda: "GET /sign-up" in {span.name for _, span in collector.spans})
    upload, task = (
        next(span for _, span in find_upload_trace(collector) if span.name == name)
        for name in (UPLOAD, "run/score")
    )
    assert task.parent_span_id == upload.span_id
    statements = [
        (service, attribute.value.string_value)
        for service, span in find_upload_trace(collector)
        for attribute in span.attributes
        if attribute.key == "db.statement"
    ]
    assert [text for service, text in statements if "INSERT INTO submissions" in text and "web" in service]
    assert [text for service, text in statements if "UPDATE evaluations" in text and "worker" in service]
    assert_no_secrets(collector, contest.token)


def submit_with_canaries(url: str, token: str) -> str:
    anonymized, secret = build_noisy_release(1, build_original_table())
    response = httpx2.post(
        f"{url}/api/v1/competitions/small/submissions?note=canary-query",
        headers={"authorization": f"Bearer {token}", "x-canary": "canary-header"},
        files={"anonymized": ("a.csv", anonymized), "secret": ("s.csv", secret)},
        data={"comment": "canary-comment"},
        timeout=TIMEOUT_S,
    )
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def find_upload_trace(collector: TraceCollector) -> list[tuple[str, Span]]:
    """Return the spans of the trace that the upload belongs to."""
    trace_ids = {span.trace_id for _, span in collector.spans if span.name == UPLOAD}
    assert len(trace_ids) <= 1
    return [(service, span) for service, span in collector.spans if span.trace_id in trace_ids]


def assert_no_secrets(collector: TraceCollector, token: str) -> None:
    with transaction() as session:
        identifiers = [*session.query(Submission.id), *session.query(Evaluation.id)]
    texts = [*CANARIES, token, *(str(identifier) for (identifier,) in identifiers)]
    assert [text for text in texts if text.encode() in collector.received] == []


def run_start(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )


def test_nothing_of_opentelemetry_is_imported_without_a_collector() -> None:
    assert run_start(IMPORT_TRACING).stdout == "[]\n"


def test_missing_extra_is_reported() -> None:
    hide = "import sys\nsys.modules['opentelemetry.sdk.trace'] = None\n"
    completed = run_start(hide + IMPORT_TRACING, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert "telemetry_not_installed" in completed.stdout
    assert "anoncup[telemetry]" in completed.stdout
