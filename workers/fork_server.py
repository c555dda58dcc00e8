"""Run the workers of one machine, and its clock, as forks of a process that has imported shared modules.

Modules imported before the fork are in memory once. Each fork then runs its usual program with its own
environment and log, and is restarted when it ends.

usage: python -m workers.fork_server [--queues NAMES] [--jobs N] [--grace S] [--name TEXT] [--logs FOLDER]
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
    CLOCK_DATABASE_VARIABLE,
    QUEUE_BY_KIND,
    STEADY_UPTIME_S,
    Program,
    Supervisor,
    build_scheduler_program,
    build_worker_programs,
    stop_on_signals,
    supervise,
)

_SHARED_MODULES = (
    "workers.main",
    "workers.transition_pool",
    "app.services.jobs.health",
    "app.services.attacks.contest_lifecycle",
    "app.services.jobs.requeue",
    "sqlalchemy.dialects.postgresql.psycopg",
    "kombu.transport.redis",
    # Celery imports these when it starts: the worker, its pool and what the pool's processes call.
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
"""Modules imported before the fork. A module missing here is still imported by the programs that need it."""
_PR_SET_NAME = 15

_fork_context = multiprocessing.get_context("fork")


class ForkedProcess:
    """A program in a fork of this process, with the part of ``subprocess.Popen`` that a supervisor uses."""

    def __init__(self, program: Program) -> None:
        self.process = _fork_context.Process(target=_run_program, args=(program, os.getpid()))
        self.process.start()
        assert self.process.pid is not None  # noqa: S101  # it has been started
        self.pid = self.process.pid
        # The child does the same, so the group exists for both, whichever comes first.
        _set_own_process_group(self.pid)

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


def _set_own_process_group(pid: int) -> None:
    """Give the process its own group, so that stopping the group also stops everything that it started."""
    if os.getpgid(pid) != pid:
        os.setpgid(pid, pid)


def _run_program(program: Program, parent_pid: int) -> None:
    """Run a command ``python -m MODULE …`` as if this process had been started with it."""
    _set_own_process_group(os.getpid())
    child_process.end_with_parent(parent_pid, program.orphan_signal)
    # ps and top show this name; the command line stays that of the parent.
    ctypes.CDLL(None).prctl(_PR_SET_NAME, program.name.encode(), 0, 0, 0)
    _reset_signal_handlers()
    if program.log is not None:
        with child_process.open_log(program.log) as log:
            os.dup2(log.fileno(), sys.stdout.fileno())
            os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ.update(program.env)
    gc.enable()
    _, _, module, *arguments = program.command
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _reset_signal_handlers() -> None:
    """Restore the default handlers that a newly started program would have."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) is not signal.SIG_IGN:
            default_handler = signal.default_int_handler if signal_number is signal.SIGINT else signal.SIG_DFL
            signal.signal(signal_number, default_handler)


def preload_modules() -> None:
    """Import the shared modules and keep the garbage collector from writing to their memory pages."""
    gc.disable()  # every fork would fill the holes left by freed memory, and so copy these pages
    for module in _SHARED_MODULES:
        import_module(module)
    configure_mappers()
    gc.freeze()


def _parse_arguments(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m workers.fork_server")
    parser.add_argument("--queues", default=",".join(QUEUE_BY_KIND))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--grace", type=float, default=10.0)
    parser.add_argument("--name", default="")
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--clock", action="store_true")
    return parser.parse_args(arguments)


def _wait_until_steady(supervisor: Supervisor) -> None:
    """Watch the programs until they have run for a while; raise Unavailable if one keeps ending.

    This process then ends, which tells the process that waits for the service.
    """
    steady_at = time.monotonic() + STEADY_UPTIME_S
    while time.monotonic() < steady_at:
        supervisor.check_startup()
        time.sleep(0.1)


def _build_clock_program(log_folder: Path | None) -> Program:
    """Return the clock program, with its own database role if the environment names one."""
    env = (
        {"DATABASE_URL": os.environ[CLOCK_DATABASE_VARIABLE]} if CLOCK_DATABASE_VARIABLE in os.environ else {}
    )
    return build_scheduler_program(env=env, log=log_folder and log_folder / "scheduler.log")


def main() -> None:
    options = _parse_arguments(sys.argv[1:])
    programs = build_worker_programs(
        kinds=options.queues.split(","),
        jobs=options.jobs,
        log_folder=options.logs,
        grace_s=options.grace,
        name=options.name,
    )
    if options.clock:
        programs.append(_build_clock_program(options.logs))
    preload_modules()
    logs.configure()
    try:
        with stop_on_signals(), supervise(programs, start=ForkedProcess) as supervisor:
            _wait_until_steady(supervisor)
            supervisor.wait()
    except Unavailable as problem:
        sys.exit(str(problem))
    finally:
        remove_orphans()  # folders of scoring children whose worker was killed and not replaced


if __name__ == "__main__":
    main()
