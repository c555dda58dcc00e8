"""A collector that receives spans by OTLP over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


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
