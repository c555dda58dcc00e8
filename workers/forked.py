"""The workers of one machine and its clock, forked from a process that has imported what they share.

What is imported before the fork is in memory once. Each then runs as the program that it also is by itself,
with an environment and a log of its own, and is started again when it ends.

usage: python -m workers.forked [--queues NAMES] [--jobs N] [--grace S] [--name TEXT] [--logs FOLDER]
    [--clock]
"""

import ctypes
import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from sqlalchemy.orm import configure_mappers

from anoncup.errors import Unavailable
from app import logs
from app.processes import child_process
from app.processes.child_folders import remove_orphans
from app.processes.supervisor import (
    CLOCKS_DATABASE,
    QUEUES,
    STEADY_AFTER,
    Program,
    Supervisor,
    owned_signals,
    scheduler_program,
    supervised,
    worker_programs,
)

SHARED = (
    "workers.main",
    "workers.transition_pool",
    "app.services.jobs.health",
    "app.services.attacks.contest_lifecycle",
    "app.services.jobs.requeue",
    "sqlalchemy.dialects.postgresql.psycopg",
    "kombu.transport.redis",
    # What Celery imports when it starts: the worker, its pool, what the pool's processes call …
    "celery.apps.worker",
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.backends.base",
    "celery.concurrency.prefork",
    "celery.events.state",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
    "billiard.popen_fork",
    "billiard.sharedctypes",
    "kombu.pidbox",
)
"""Imported before the fork. What is missing here is missing from nothing: whoever needs it imports it."""
PR_SET_NAME = 15

forking = multiprocessing.get_context("fork")


class Fork:
    """A program in a fork of this process, with what a supervisor asks of a ``subprocess.Popen``."""

    def __init__(self, program: Program) -> None:
        self.process = forking.Process(target=become, args=(program, os.getpid()))
        self.process.start()
        assert self.process.pid is not None  # noqa: S101  # it has been started
        self.pid = self.process.pid
        # As the child does for itself: whoever is the first, the group is there for both.
        group_of_its_own(self.pid)

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired(self.process.name, timeout or 0.0)
        return self.process.exitcode

    def terminate(self) -> None:
        self.process.terminate()


def group_of_its_own(pid: int) -> None:
    """What is stopped takes along all that it started."""
    if os.getpgid(pid) != pid:
        os.setpgid(pid, pid)


def become(program: Program, parent: int) -> None:
    """Run a command ``python -m MODULE …`` as if this process had been started with it."""
    group_of_its_own(os.getpid())
    child_process.end_with_parent(parent, program.orphaned)
    # For ps and top: the command line stays that of the process that was forked.
    ctypes.CDLL(None).prctl(PR_SET_NAME, program.name.encode(), 0, 0, 0)
    give_back_signals()
    if program.log is not None:
        with child_process.opened_log(program.log) as log:
            os.dup2(log.fileno(), sys.stdout.fileno())
            os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ.update(program.env)
    gc.enable()
    _, _, module, *arguments = program.command
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def give_back_signals() -> None:
    """As a program finds them that was started anew."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            usual = signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def load() -> None:
    """Import what is shared, and keep the collector from writing on it."""
    gc.disable()  # what it would free now leaves holes that every fork fills with copies
    for module in SHARED:
        import_module(module)
    configure_mappers()
    gc.freeze()


def asked(words: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m workers.forked")
    parser.add_argument("--queues", default=",".join(QUEUES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--grace", type=float, default=10.0)
    parser.add_argument("--name", default="")
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--clock", action="store_true")
    return parser.parse_args(words)


def come_up(supervisor: Supervisor) -> None:
    """Unavailable if one ends again and again: whoever waits for the service hears of it by our end."""
    steady = time.monotonic() + STEADY_AFTER
    while time.monotonic() < steady:
        supervisor.check_start()
        time.sleep(0.1)


def clock_program(logs: Path | None) -> Program:
    """In a database role of its own, if it is told one."""
    env = {"DATABASE_URL": os.environ[CLOCKS_DATABASE]} if CLOCKS_DATABASE in os.environ else {}
    return scheduler_program(env=env, log=logs and logs / "scheduler.log")


def main() -> None:
    wanted = asked(sys.argv[1:])
    programs = worker_programs(
        queues=wanted.queues.split(","),
        jobs=wanted.jobs,
        logs=wanted.logs,
        grace=wanted.grace,
        name=wanted.name,
    )
    if wanted.clock:
        programs.append(clock_program(wanted.logs))
    load()
    logs.configure()
    try:
        with owned_signals(), supervised(programs, start=Fork) as supervisor:
            come_up(supervisor)
            supervisor.wait()
    except Unavailable as problem:
        sys.exit(str(problem))
    finally:
        remove_orphans()  # of children whose worker was killed, after which no other was started


if __name__ == "__main__":
    main()
