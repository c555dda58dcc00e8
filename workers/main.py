"""The Celery entry point: ``celery -A workers.main worker``. Tasks and their schedule are listed here."""

import ctypes
import signal
from typing import Any

from celery.signals import setup_logging, worker_process_init

from app import logs
from app.config import get_settings
from app.queue import celery
from workers import advising, phases, scoring, trials, upkeep

__all__ = ["advising", "celery", "phases", "scoring", "trials", "upkeep"]

PR_SET_PDEATHSIG = 1

EVERY_S = get_settings().sweep_every_s

celery.conf.task_routes = {name: {"queue": upkeep.QUEUE} for name in (upkeep.SWEEP, phases.TURN)}
celery.conf.beat_schedule = {
    # One that waited too long is replaced by the next one.
    name: {"task": name, "schedule": EVERY_S, "options": {"expires": 2 * EVERY_S}}
    for name in (upkeep.SWEEP, phases.TURN)
}


@setup_logging.connect
def log_as_the_others(**_: Any) -> None:
    """Celery sets up no logging of its own where this is connected."""
    logs.configure()


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed: nobody would stop it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
