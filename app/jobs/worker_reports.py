"""What the workers report about themselves over the queue."""

from dataclasses import dataclass
from typing import Any

from anoncup.schemas import Worker
from app.jobs.queue import CONNECTION_ERRORS, SHORT_TIMEOUT_OPTIONS, celery

REPORT_QUERY = "worker_report"
"""Query to workers: the kinds of jobs that they do, what they lack for them, and how jobs are sandboxed."""
_REPLY_TIMEOUT_S = 0.5
"""Seconds to wait for replies. A slower worker is missing from the answer; callers can ask again."""


@dataclass(frozen=True, slots=True)
class ReportedSandbox:
    """A process's report on the sandbox of its children."""

    process: str
    status: str
    is_complete: bool


def list_sandboxes() -> list[ReportedSandbox] | None:
    """Return the report of every worker that replies, by name; None if the queue cannot be reached."""
    reports = _ask_workers()
    if reports is None:
        return None
    return [
        ReportedSandbox(worker, report["standing"], report["complete"]) for worker, report in reports.items()
    ]


def list_workers() -> list[Worker] | None:
    """Return every worker that replies, by name; None if the queue cannot be reached."""
    reports = _ask_workers()
    if reports is None:
        return None
    return [
        Worker(name=worker, serves=report["kinds"], lacks=report["lacks"])
        for worker, report in reports.items()
    ]


def _ask_workers() -> dict[str, Any] | None:
    """Return the replies of the workers by their name; None if the queue cannot be reached."""
    try:
        with celery.connection_for_write(transport_options=SHORT_TIMEOUT_OPTIONS) as connection:
            options = {"connection": connection, "reply": True, "timeout": _REPLY_TIMEOUT_S}
            replies = celery.control.broadcast(REPORT_QUERY, **options) or []
    except CONNECTION_ERRORS:
        return None
    pairs = sorted(pair for reply in replies for pair in reply.items())
    return {worker: report for worker, report in pairs if "kinds" in report}  # otherwise it is an error
