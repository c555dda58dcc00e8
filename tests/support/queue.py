"""Resets of the queue and of retry delays."""

from sqlalchemy import text

from app.db import engine
from app.services.jobs import queue
from workers import readiness


def clear_retry_delays() -> None:
    """End all retry delays, those of jobs and those of this process as a worker."""
    with engine.get_engine().begin() as connection:
        for table in ("evaluations", "guesses", "rejudgements", "threshold_reports"):
            connection.execute(text(f"UPDATE {table} SET not_before = NULL"))
    for worker in (readiness.SCORING_READINESS, readiness.REPORT_READINESS):
        worker.reason, worker.check_valid_until, worker.backoff_until = None, 0.0, 0.0


def empty_queue() -> None:
    with queue.celery.connection_for_write() as connection:
        connection.default_channel.client.flushall()
