"""Tracing with OpenTelemetry. Only listed attributes are exported, so that no trace contains a secret."""

from collections.abc import Sequence
from typing import Any

from celery.signals import before_task_publish, worker_process_shutdown
from fastapi import FastAPI
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
from opentelemetry.propagate import inject
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from sqlalchemy import Engine

_ATTRIBUTES = {
    *("http.method", "http.route", "http.status_code"),
    *("http.request.method", "http.response.status_code", "error.type"),
    # Statements have placeholders for their parameters.
    *("db.system", "db.name", "db.statement", "db.system.name", "db.namespace", "db.query.text"),
    *("celery.action", "celery.task_name", "celery.state", "celery.hostname", "messaging.message.id"),
}
"""Exported attributes. URLs, headers and messages of exceptions may contain passwords, codes and tokens."""


class _AllowListExporter(SpanExporter):
    """Exports spans with the listed attributes only, without events."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_select_attributes(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()


def _select_attributes(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in _ATTRIBUTES},
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def start(engine: Engine, app: FastAPI | None) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(_AllowListExporter(OTLPSpanExporter())))
    # It claims not to work with SQLAlchemy 2.1, but does.
    SQLAlchemyInstrumentor().instrument(engine=engine, tracer_provider=provider, skip_dep_check=True)
    if app is None:
        CeleryInstrumentor().instrument(tracer_provider=provider)  # type: ignore[no-untyped-call]
        worker_process_shutdown.connect(lambda **_: provider.shutdown(), weak=False)
        return
    # Celery's instrumentation would not end the spans of messages for tasks that this process does not have.
    before_task_publish.connect(_add_trace_context, weak=False)
    FastAPIInstrumentor.instrument_app(
        app,
        tracer_provider=provider,
        excluded_urls="/healthz,/readyz,/metrics",
        exclude_spans=["receive", "send"],
    )


def _add_trace_context(headers: dict[str, Any], **_: Any) -> None:
    """Make the task of a message part of the trace of its request."""
    inject(headers)
