"""The Celery entry point: ``celery -A workers.main worker``. Tasks and their schedule are listed here."""

import ctypes
import signal
from typing import Any

from celery.signals import worker_process_init

from app.config import get_settings
from app.queue import celery
from workers import scoring, upkeep

__all__ = ["celery", "scoring", "upkeep"]

PR_SET_PDEATHSIG = 1

celery.conf.task_routes = {upkeep.SWEEP: {"queue": upkeep.QUEUE}}
celery.conf.beat_schedule = {
    "sweep": {
        "task": upkeep.SWEEP,
        "schedule": get_settings().sweep_every_s,
        # A sweep that waited too long is replaced by the next one.
        "options": {"expires": 2 * get_settings().sweep_every_s},
    }
}


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed: nobody would stop it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
