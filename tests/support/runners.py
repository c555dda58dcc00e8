"""Runners for tests, and what the kernel says of their processes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from anoncup.runner import sandbox
from anoncup.runner.client import Runner, RunnerOptions
from anoncup.runner.protocol import JobLimits

LIMITS = JobLimits(memory_mb=4096, cpu_s=60)


@contextmanager
def open_runner(setting: str = "wanted", **options: Any) -> Iterator[Runner]:
    runner = Runner(
        RunnerOptions(sys.executable, sandbox.choose(setting), **{"start_limit_s": 300.0} | options)
    )
    try:
        yield runner
    finally:
        runner.end()


def find_template(runner: Runner) -> psutil.Process:
    assert runner.template is not None
    return psutil.Process(runner.template.process.pid)


def read_status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
