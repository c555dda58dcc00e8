"""Traces of requests, SQL statements and tasks, for a collector of OpenTelemetry.

Nothing is imported from OpenTelemetry, which the extra ``telemetry`` installs, unless a collector is named.
"""

import os

import structlog
from fastapi import FastAPI
from sqlalchemy import Engine

log = structlog.get_logger(__name__)

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start(process: str, engine: Engine, app: FastAPI | None = None) -> None:
    """Trace this process: the requests of ``app`` or, without one, Celery tasks."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return
    try:
        from app.telemetry import tracing  # noqa: PLC0415  # needs the extra
    except ImportError as problem:
        log.error("telemetry_not_installed", lacks=problem.name, install="anoncup[telemetry]")
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", f"anoncup-{process}")
    tracing.start(engine, app)
    log.info("telemetry", service=os.environ["OTEL_SERVICE_NAME"])
