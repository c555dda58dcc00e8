"""What the workers report about themselves over the queue."""

from dataclasses import dataclass
from typing import Any

from anoncup.schemas import Worker
from app.jobs.queue import CONNECTION_ERRORS, SHORT_TIMEOUT_OPTIONS, celery

SANDBOX_QUERY = "sandbox"
"""Query to workers: how their jobs are sandboxed."""
DUTIES_QUERY = "duties"
"""Query to workers: which kinds of jobs they do, and what they lack for them."""
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
    replies = _ask_workers(SANDBOX_QUERY)
    if replies is None:
        return None
    return [
        ReportedSandbox(worker, str(report["standing"]), bool(report["complete"]))
        for worker, report in replies.items()
        if "standing" in report  # otherwise the report is an error
    ]


def list_workers() -> list[Worker] | None:
    """Return every worker that replies, by name; None if the queue cannot be reached."""
    replies = _ask_workers(DUTIES_QUERY)
    if replies is None:
        return None
    return [
        Worker(name=worker, serves=list(reply["kinds"]), lacks=reply["lacks"])
        for worker, reply in replies.items()
        if "kinds" in reply  # otherwise the reply is an error
    ]


def _ask_workers(query: str) -> dict[str, Any] | None:
    """Return the replies of the workers by their name; None if the queue cannot be reached."""
    try:
        with celery.connection_for_write(transport_options=SHORT_TIMEOUT_OPTIONS) as connection:
            options = {"connection": connection, "reply": True, "timeout": _REPLY_TIMEOUT_S}
            replies = celery.control.broadcast(query, **options) or []
    except CONNECTION_ERRORS:
        return None
    return dict(sorted(pair for reply in replies for pair in reply.items()))
