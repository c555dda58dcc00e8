"""The one Celery application, and how the rest of ``app`` asks for work.

Services call :func:`defer`; only :mod:`app.db.transaction` calls :func:`publish`, after COMMIT.
A message says that there is work of a kind, not which: the queue is a doorbell, and the database says what
is next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from celery import Celery
from kombu import pools
from kombu.exceptions import OperationalError
from kombu.pools import ProducerPool
from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.transaction import AFTER_COMMIT

log = structlog.get_logger(__name__)

SCORE, JUDGE, ADVISE = "score", "guesses.judge", "threshold_reports.advise"
"""The tasks: score an evaluation, judge a guess, make a threshold report."""

QUEUES = {SCORE: "celery", JUDGE: "guesses", ADVISE: "reports"}
"""Where each task's messages wait, so that none stands before another kind."""

SANDBOX = "sandbox"
"""What a worker is asked: how its scoring processes are sandboxed."""
DUTIES = "duties"
"""What a worker is asked: which kinds of work it does, and what it lacks for them."""
LISTENED_S = 0.5
"""How long its answer is waited for; who looks for a worker that is slower looks again."""
IMPATIENT = {"socket_timeout": 1}
"""For whoever rings or looks: a queue that hangs must not hold up requests. Workers may wait."""
AWAY = (OperationalError, OSError, RedisError)


def configuration() -> dict[str, object]:
    """Read when Celery first needs it, so that importing this module needs no environment."""
    settings = get_settings()
    hard_limit_s = settings.scoring_time_limit_s + 120
    return {
        "broker_url": settings.redis_url,
        # A worker that dies gives its message back …
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        # … but a message that kills its worker is not tried for ever.
        "task_retry_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "task_ignore_result": True,
        "task_routes": {task: {"queue": name} for task, name in QUEUES.items()},
        "task_serializer": "json",
        "accept_content": ["json"],
        # The scoring child has its own, shorter limit; this one catches a task that hangs around it.
        "task_time_limit": hard_limit_s,
        "task_soft_time_limit": hard_limit_s - 30,
        "broker_connection_retry_on_startup": True,
        "worker_hijack_root_logger": False,
        "broker_transport_options": {
            # Redis delivers again after this long, so it exceeds the hard limit.
            "visibility_timeout": int(hard_limit_s * 1.1),
            "unacked_restore_interval": 2,
            "unacked_restore_throttle": 1,
            # A dead broker fails within a moment: an upload never waits for it.
            "max_retries": 1,
            "interval_start": 0.1,
            "interval_step": 0.1,
            "socket_connect_timeout": 1,
        },
    }


celery = Celery("anoncup")
celery.add_defaults(configuration)


def defer(session: Session, task: str) -> None:
    """Ring for ``task`` once ``session`` has committed."""
    session.info.setdefault(AFTER_COMMIT, {}).setdefault(publish, []).append(task)


def publish(tasks: Sequence[str]) -> None:
    """Ring the bell for each; if nobody can hear it, the sweep asks again."""
    if not tasks:
        return
    try:
        with ringers().acquire(block=True) as producer:  # type: ignore[no-untyped-call]  # kombu's
            for task in tasks:
                celery.send_task(task, retry=False, producer=producer)
    except AWAY:
        log.warning("queue_unreachable", tasks=sorted(set(tasks)))


def ringers() -> ProducerPool:
    """Connections that are kept: to open one costs many times what it costs to ring."""
    found: ProducerPool = pools.producers[celery.connection_for_write(transport_options=IMPATIENT)]
    return found


@dataclass(frozen=True, slots=True)
class ReportedSandbox:
    """What a process says of the sandbox of its children."""

    process: str
    standing: str
    is_complete: bool


def list_sandboxes() -> list[ReportedSandbox] | None:
    """Return what every worker that answers says, by name; None if the queue cannot be reached."""
    replies = ask_workers(SANDBOX)
    if replies is None:
        return None
    return [
        ReportedSandbox(worker, str(report["standing"]), bool(report["complete"]))
        for worker, report in replies.items()
        if "standing" in report  # otherwise it says which error kept it from answering
    ]


@dataclass(frozen=True, slots=True)
class Duties:
    """Kinds of work that a worker does, and what it lacks for them."""

    worker: str
    kinds: list[str]
    lacks: str | None


def list_workers() -> list[Duties] | None:
    """Return every worker that answers, by name; None if the queue cannot be reached."""
    replies = ask_workers(DUTIES)
    if replies is None:
        return None
    return [
        Duties(worker, list(reply["kinds"]), reply["lacks"])
        for worker, reply in replies.items()
        if "kinds" in reply  # otherwise it says which error kept it from answering
    ]


def ask_workers(question: str) -> dict[str, Any] | None:
    """Return the reply of every worker that answers, by name; None if the queue cannot be reached."""
    try:
        with celery.connection_for_write(transport_options=IMPATIENT) as connection:
            asked = {"connection": connection, "reply": True, "timeout": LISTENED_S}
            answers = celery.control.broadcast(question, **asked) or []
    except AWAY:
        return None
    return dict(sorted(pair for answer in answers for pair in answer.items()))


def depths() -> dict[str, int] | None:
    """How many messages wait for each task; None if the queue cannot be reached."""
    try:
        with celery.connection_for_read(transport_options=IMPATIENT) as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
            ask = connection.default_channel.client.llen
            return {task: int(ask(name)) for task, name in QUEUES.items()}
    except AWAY:
        return None


def depth() -> int | None:
    """How many messages wait; None if the queue cannot be reached."""
    found = depths()
    return None if found is None else sum(found.values())
