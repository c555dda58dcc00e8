"""The Celery application with its tasks, and the signal handlers that set up a worker."""

import os
from typing import Any

from celery.signals import celeryd_after_setup, celeryd_init, setup_logging, worker_init
from celery.worker.control import inspect_command

from anoncup.runner import allocator, sandbox
from app.config import get_settings
from app.core import logs
from app.core.db.privileges import warn_if_overprivileged
from app.core.processes import package_calls, runners
from app.core.worker_queues import QUEUE_BY_KIND
from app.jobs.queue import celery
from app.jobs.worker_reports import DUTIES_QUERY, SANDBOX_QUERY
from workers import advise, judge, readiness, score

__all__ = ["advise", "celery", "judge", "score"]

_NICENESS = 10


@celeryd_init.connect
@setup_logging.connect
def configure_process(**_: Any) -> None:
    """Configure logging as in all other processes, before Celery's first warning, and calls of packages.

    Celery leaves logging alone because ``setup_logging`` has a receiver.
    """
    logs.configure()
    package_calls.enable()


@celeryd_after_setup.connect
def announce_sandbox(**_: Any) -> None:
    runners.announce_sandbox(get_settings().sandbox)


@inspect_command(name=SANDBOX_QUERY)
def report_sandbox(_: Any) -> dict[str, Any]:
    """Return how this worker's children are sandboxed, for administrators who cannot see the log."""
    setting = get_settings().sandbox
    return {"standing": sandbox.describe(setting), "complete": sandbox.choose(setting).is_complete}


@inspect_command(name=DUTIES_QUERY)
def report_duties(state: Any) -> dict[str, Any]:
    """Return the kinds of jobs that this worker does and what is missing for them, for organizers."""
    consumed = state.app.amqp.queues.consume_from
    kinds = [kind for kind, queue in QUEUE_BY_KIND.items() if queue in consumed]
    return {"kinds": kinds, "lacks": readiness.find_missing(kinds)}


@worker_init.connect
def check_database_privileges(**_: Any) -> None:
    warn_if_overprivileged()


@worker_init.connect
def prepare_process(**_: Any) -> None:
    """Lower the priority of this process and of its jobs, so that the web server keeps answering."""
    os.nice(_NICENESS)
    allocator.return_freed_memory()  # or each thread would keep that of a large release
    allocator.keep_from_collector()
