"""Jobs that wait in the queue."""

from sqlalchemy import text

from app.db import engine
from app.services.jobs import queue
from workers import readiness


def rested() -> None:
    """The pause that follows a claim given back has passed, for the work and for this process as a worker."""
    with engine.get_engine().begin() as connection:
        for table in ("evaluations", "guesses", "threshold_reports"):
            connection.execute(text(f"UPDATE {table} SET not_before = NULL"))
    for worker in (readiness.FOR_SECRETS, readiness.FOR_REPORTS):
        worker.reason, worker.believed_until, worker.resting_until = None, 0.0, 0.0


def empty_queue() -> None:
    with queue.celery.connection_for_write() as connection:
        connection.default_channel.client.flushall()
