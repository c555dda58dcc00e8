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

from app import beside, logs
from app.config import get_settings
from app.db.might import warn_of_might
from app.queue import FORMER, WALLS, celery
from workers import child, guesses, scoring, threshold_reports, walls

__all__ = ["celery", "guesses", "scoring", "threshold_reports"]

PR_SET_PDEATHSIG = 1


@setup_logging.connect
def log_as_the_others(**_: Any) -> None:
    """Celery sets up no logging of its own where this is connected."""
    logs.configure()


@celeryd_after_setup.connect
def announce_walls(**_: Any) -> None:
    walls.announce(get_settings().walls)


@inspect_command(name=WALLS)
def tell_of_walls(_: Any) -> dict[str, Any]:
    """What is shown to administrators, who see no log."""
    standing = walls.wanted(get_settings().walls)
    return {"standing": str(standing), "whole": standing.whole}


@worker_process_shutdown.connect
def leave_nothing(**_: Any) -> None:
    """The scoring child's folder goes with it."""
    child.keeper.discard()


@worker_init.connect
def know_former_names(**_: Any) -> None:
    for former, task in FORMER.items():
        celery.tasks[former] = celery.tasks[task]


@worker_init.connect
def warn(**_: Any) -> None:
    warn_of_might()


@worker_process_init.connect
def stand_back(**_: Any) -> None:
    """The web server answers while this one computes; so does what it starts."""
    os.nice(get_settings().niceness)


@worker_process_init.connect
def read_beside(**_: Any) -> None:
    """What a rehearsal's teams make is parsed as an upload is: not in this process, which would keep it."""
    beside.begin(get_settings().scoring_idle_s)


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed: nobody would stop it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != current_process()._parent_pid:  # it ended before the line above took effect
        os._exit(1)
