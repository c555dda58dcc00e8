"""Measure proportional memory and CPU time of a process tree, by kind of process."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_KIND_MARKS = {
    "app.cli.web_server": "web",
    "workers.parser": "parsers of uploads",
    "workers.scorer": "scoring children",
    "reports@": "reports worker",
    "reports-": "reports worker",
    "workers.pool": "worker",
    "workers.clock": "clock",
    "workers.fork_server": "workers and clock",
    "postgres": "postgres",
    "valkey-server": "valkey",
    "bin/weed": "bucket",
}
"""Kind by part of the command line. Other processes have the kind of their parent."""
_TOP_KIND = "supervisor"
_INTERVAL_S = 0.5


@dataclass
class ResourceUsage:
    """CPU seconds by kind, and memory in MB (PSS): peaks by kind, total peak and total at the start."""

    cpu: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    peaks: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    other_cpu: float = 0.0
    """CPU seconds of other processes on the machine. If there are many, the times of a run are unreliable."""
    peak: float = 0.0
    idle: float = 0.0


def iterate_with_kind(top: psutil.Process) -> Iterator[tuple[psutil.Process, str]]:
    """Yield the process and its descendants with their kinds."""
    pending = [(top, _TOP_KIND)]
    while pending:
        process, parent_kind = pending.pop()
        with suppress(psutil.NoSuchProcess):
            words = " ".join(process.cmdline())
            kind = next((kind for mark, kind in _KIND_MARKS.items() if mark in words), parent_kind)
            yield process, kind
            pending += [(child, kind) for child in process.children()]


def proportional_mb(pid: int) -> float:
    """Return the PSS of a process in MB; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _measure_machine_cpu() -> float:
    """Return the CPU seconds that the whole machine has used."""
    cpu_times = psutil.cpu_times()
    return cpu_times.user + cpu_times.nice + cpu_times.system


@dataclass
class UsageSampler:
    """Samples usage twice a second. The usage of a process after its last sample is lost."""

    top: psutil.Process
    usage: ResourceUsage = field(default_factory=ResourceUsage)
    cpu_at_start: dict[int, float] = field(default_factory=dict)
    latest_cpu: dict[int, tuple[str, float]] = field(default_factory=dict)
    machine_cpu_at_start: float = field(default_factory=_measure_machine_cpu)

    def sample(self) -> None:
        memory: defaultdict[str, float] = defaultdict(float)
        for process, kind in iterate_with_kind(self.top):
            with suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                self.latest_cpu[process.pid] = kind, used.user + used.system
                memory[kind] += proportional_mb(process.pid)
        self.usage.peak = max(self.usage.peak, sum(memory.values()))
        for kind, size in memory.items():
            self.usage.peaks[kind] = max(self.usage.peaks[kind], size)
        self.usage.idle = self.usage.idle or sum(memory.values())

    def begin(self) -> None:
        self.sample()
        self.cpu_at_start = {pid: seconds for pid, (_, seconds) in self.latest_cpu.items()}

    def end(self) -> None:
        self.sample()
        for pid, (kind, seconds) in self.latest_cpu.items():
            self.usage.cpu[kind] += seconds - self.cpu_at_start.get(pid, 0.0)
        self.usage.other_cpu = (
            _measure_machine_cpu() - self.machine_cpu_at_start - sum(self.usage.cpu.values())
        )


@contextmanager
def measure_usage(pid: int) -> Iterator[ResourceUsage]:
    """Measure the usage of a process and its descendants in the context, complete at its end."""
    sampler, stopping = UsageSampler(psutil.Process(pid)), threading.Event()

    def sample_repeatedly() -> None:
        while not stopping.wait(_INTERVAL_S):
            sampler.sample()

    sampler.begin()
    thread = threading.Thread(target=sample_repeatedly)
    thread.start()
    try:
        yield sampler.usage
    finally:
        stopping.set()
        thread.join()
        sampler.end()
