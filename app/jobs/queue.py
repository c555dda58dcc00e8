"""The Celery application and the functions that send messages to it.

Services call ``enqueue_after_commit``; only ``app.core.db.transaction`` calls ``publish``, after
COMMIT. A message says that there are jobs of a kind, not which job: the database determines what is next.
"""

from collections.abc import Sequence

import structlog
from celery import Celery
from kombu import pools
from kombu.exceptions import OperationalError
from kombu.pools import ProducerPool
from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from anoncup.errors import Unavailable
from app.config import get_settings
from app.core.db.transaction import AFTER_COMMIT
from app.core.worker_queues import QUEUE_BY_KIND

log = structlog.get_logger(__name__)

SCORE, JUDGE, ADVISE = "score", "guesses.judge", "threshold_reports.advise"
"""Task names: score an evaluation, judge a guess (again), compute a threshold report."""

QUEUES = dict(zip((SCORE, JUDGE, ADVISE), QUEUE_BY_KIND.values(), strict=True))
"""Queue of each task."""

SHORT_TIMEOUT_OPTIONS = {"socket_timeout": 1}
"""Options for sending and inspecting: a queue that hangs must not block requests. Workers may wait."""
CONNECTION_ERRORS = (OperationalError, OSError, RedisError)


def _build_configuration() -> dict[str, object]:
    """Return the Celery settings. Celery calls this lazily, so importing this module needs no environment."""
    settings = get_settings()
    return {
        "broker_url": settings.redis_url,
        # If a worker dies, deliver its message again.
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        "task_ignore_result": True,
        "task_routes": {task: {"queue": name} for task, name in QUEUES.items()},
        "task_serializer": "json",
        "accept_content": ["json"],
        "broker_connection_retry_on_startup": True,
        "worker_hijack_root_logger": False,
        "broker_transport_options": {
            # Redis redelivers after this time. A second delivery does no harm, but is of no use.
            "visibility_timeout": 2 * settings.scoring_time_limit_s,
            "unacked_restore_interval": 2,
            "unacked_restore_throttle": 1,
            # A dead broker must fail quickly, so that an upload does not wait for it.
            "max_retries": 1,
            "interval_start": 0.1,
            "interval_step": 0.1,
            "socket_connect_timeout": 1,
        },
    }


celery = Celery("anoncup")
celery.add_defaults(_build_configuration)


def enqueue_after_commit(session: Session, task: str, *, times: int = 1) -> None:
    """Send messages for ``task`` once ``session`` has committed."""
    session.info.setdefault(AFTER_COMMIT, {}).setdefault(publish, []).extend([task] * times)


def publish(tasks: Sequence[str]) -> None:
    """Send a message for each task; if the queue is unreachable, the sweep sends it later."""
    if not tasks:
        return
    try:
        with _get_producers().acquire(block=True) as producer:  # type: ignore[no-untyped-call]  # from kombu
            for task in tasks:
                celery.send_task(task, retry=False, producer=producer)
    except CONNECTION_ERRORS:
        log.warning("queue_unreachable", tasks=sorted(set(tasks)))


def _get_producers() -> ProducerPool:
    """Return the pool of producers. Opening a connection costs many times as much as sending a message."""
    producers: ProducerPool = pools.producers[
        celery.connection_for_write(transport_options=SHORT_TIMEOUT_OPTIONS)
    ]
    return producers


def check_writable() -> None:
    """Raise Unavailable unless the queue accepts messages. Work that is accepted meanwhile waits for it."""
    try:
        with celery.connection_for_write(
            get_settings().redis_url, transport_options=SHORT_TIMEOUT_OPTIONS
        ) as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
            connection.default_channel.client.set("anoncup:write_test", "", ex=1)
    except CONNECTION_ERRORS as problem:
        raise Unavailable(
            "the queue cannot be written: accepted work waits", code="queue_unavailable"
        ) from problem


def count_messages_by_task() -> dict[str, int] | None:
    """Return the number of waiting messages by task; None if the queue cannot be reached."""
    try:
        with celery.connection_for_read(transport_options=SHORT_TIMEOUT_OPTIONS) as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
            measure_length = connection.default_channel.client.llen
            return {task: int(measure_length(name)) for task, name in QUEUES.items()}
    except CONNECTION_ERRORS:
        return None


def count_messages() -> int | None:
    """Return the number of waiting messages; None if the queue cannot be reached."""
    counts = count_messages_by_task()
    return None if counts is None else sum(counts.values())
