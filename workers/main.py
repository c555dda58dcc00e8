"""The Celery application with its tasks, and the signal handlers that set up a worker's processes."""

import gc
import os
import signal
from typing import Any

from billiard.process import current_process
from celery.signals import (
    celeryd_after_setup,
    celeryd_init,
    setup_logging,
    worker_before_create_process,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from celery.worker.control import inspect_command

from anoncup.runner import allocator, sandbox
from app import logs
from app.config import get_settings
from app.db.privileges import warn_if_overprivileged
from app.processes import child_process, package_calls, runners
from app.processes.supervisor import QUEUE_BY_KIND
from app.services.jobs.queue import celery
from app.services.jobs.worker_reports import DUTIES_QUERY, SANDBOX_QUERY
from workers import advise, judge, readiness, score

__all__ = ["advise", "celery", "judge", "score"]


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


@worker_process_shutdown.connect
def discard_child(**_: Any) -> None:
    """End the runners of this process."""
    runners.end_all()


@worker_init.connect
def check_database_privileges(**_: Any) -> None:
    warn_if_overprivileged()


@worker_before_create_process.connect
def share_memory_with_pool(**_: Any) -> None:
    """Keep the garbage collector of pool processes from writing to memory that they share with this one."""
    if not gc.get_freeze_count():
        allocator.keep_from_collector()


@worker_process_init.connect
def lower_priority(**_: Any) -> None:
    """Lower the priority of this process and its children, so that the web server keeps answering."""
    os.nice(get_settings().niceness)


@worker_process_init.connect
def end_with_worker(**_: Any) -> None:
    """End this pool process with its worker. If the worker was killed, nobody else would stop it."""
    child_process.end_with_parent(current_process()._parent_pid, signal.SIGKILL)
