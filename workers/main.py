"""The Celery application with its tasks, and what each of a worker's processes does when it starts."""

import ctypes
import os
import signal
from typing import Any

from billiard.process import current_process
from celery.signals import (
    celeryd_after_setup,
    setup_logging,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from celery.worker.control import inspect_command

from app import logs
from app.config import get_settings
from app.db.privileges import warn_of_might
from app.processes import parser_process
from app.processes.supervisor import QUEUES
from app.services.jobs.queue import DUTIES, SANDBOX, celery
from workers import advise, child_manager, judge, readiness, sandbox, score

__all__ = ["advise", "celery", "judge", "score"]

PR_SET_PDEATHSIG = 1


@setup_logging.connect
def log_as_the_others(**_: Any) -> None:
    """Celery sets up no logging of its own where this is connected."""
    logs.configure()


@celeryd_after_setup.connect
def announce_sandbox(**_: Any) -> None:
    sandbox.announce(get_settings().sandbox)


@inspect_command(name=SANDBOX)
def report_sandbox(_: Any) -> dict[str, Any]:
    """Tell administrators, who see no log, how this worker's children are sandboxed."""
    setting = get_settings().sandbox
    return {"standing": sandbox.standing(setting), "complete": sandbox.choose(setting).is_complete}


@inspect_command(name=DUTIES)
def report_duties(state: Any) -> dict[str, Any]:
    """Tell organizers which kinds of work this worker does, and what it lacks for them."""
    consumed = state.app.amqp.queues.consume_from
    kinds = [kind for kind, queue in QUEUES.items() if queue in consumed]
    return {"kinds": kinds, "lacks": readiness.missing(kinds)}


@worker_process_shutdown.connect
def leave_nothing(**_: Any) -> None:
    """The scoring child's folder goes with it."""
    child_manager.keeper.discard()


@worker_init.connect
def warn(**_: Any) -> None:
    warn_of_might()


@worker_process_init.connect
def stand_back(**_: Any) -> None:
    """The web server answers while this one computes; so does what it starts."""
    os.nice(get_settings().niceness)


@worker_process_init.connect
def parse_in_sandbox(**_: Any) -> None:
    """What a rehearsal's teams make is parsed as an upload is, in a process of its own."""
    parser_process.enable(get_settings())


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed: nobody would stop it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != current_process()._parent_pid:  # it ended before the line above took effect
        os._exit(1)
