"""What the workers report about themselves over the queue."""

from dataclasses import dataclass

from app.jobs.queue import CONNECTION_ERRORS, SHORT_TIMEOUT_OPTIONS, celery

REPORT_QUERY = "worker_report"
"""Query to workers: the kinds of jobs that they do, what they lack for them, and how jobs are sandboxed."""
_REPLY_TIMEOUT_S = 0.5
"""Seconds to wait for replies. A slower worker is missing from the answer; callers can ask again."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What a worker does, what it lacks for that (None: nothing), and the sandbox of its children."""

    name: str
    serves: list[str]
    lacks: str | None
    sandbox: str
    is_sandbox_complete: bool


def list_workers() -> list[WorkerReport] | None:
    """Return the report of every worker that replies, by name; None if the queue cannot be reached."""
    try:
        with celery.connection_for_write(transport_options=SHORT_TIMEOUT_OPTIONS) as connection:
            options = {"connection": connection, "reply": True, "timeout": _REPLY_TIMEOUT_S}
            replies = celery.control.broadcast(REPORT_QUERY, **options) or []
    except CONNECTION_ERRORS:
        return None
    pairs = sorted(pair for reply in replies for pair in reply.items())
    # Another reply is an error.
    return [WorkerReport(worker, **report) for worker, report in pairs if "serves" in report]
