"""The Celery application with its tasks, and the signal handlers that set up a worker."""

import os
import warnings
from typing import Any

from celery.exceptions import SecurityWarning
from celery.signals import celeryd_after_setup, celeryd_init, setup_logging, worker_init
from celery.worker.control import inspect_command

from anoncup.runner import allocator, sandbox
from app.config import get_settings
from app.core import logs
from app.core.db.privileges import warn_if_overprivileged
from app.core.processes import package_calls, runners
from app.core.worker_queues import QUEUE_BY_KIND
from app.jobs.queue import celery
from app.jobs.worker_reports import REPORT_QUERY
from workers import readiness, tasks

__all__ = ["celery", "tasks"]

_NICENESS = 10


@celeryd_init.connect
@setup_logging.connect
def configure_process(**_: Any) -> None:
    """Configure logging as in all other processes, before Celery's first warning, and calls of packages.

    Celery leaves logging alone because ``setup_logging`` has a receiver.
    """
    logs.configure()
    warnings.simplefilter("ignore", SecurityWarning)  # jobs of root are confined, too (docs/hosting.md)
    package_calls.enable()


@celeryd_after_setup.connect
def announce_sandbox(**_: Any) -> None:
    runners.announce_sandbox(get_settings().sandbox)


@inspect_command(name=REPORT_QUERY)
def report_worker(state: Any) -> dict[str, Any]:
    """Return what organizers and administrators who cannot see the log should know of this worker.

    That is the kinds of its jobs and what is missing for them, and how its children are sandboxed.
    """
    setting = get_settings().sandbox
    consumed = state.app.amqp.queues.consume_from
    kinds = [kind for kind, queue in QUEUE_BY_KIND.items() if queue in consumed]
    return {
        "serves": kinds,
        "lacks": readiness.find_missing(kinds),
        "sandbox": sandbox.describe(setting),
        "is_sandbox_complete": sandbox.choose(setting).is_complete,
    }


@worker_init.connect
def prepare_process(**_: Any) -> None:
    """Lower the priority of this process and of its jobs, so that the web server keeps answering."""
    warn_if_overprivileged()
    os.nice(_NICENESS)
    allocator.return_freed_memory()  # or each thread would keep that of a large release
    allocator.keep_from_collector()
