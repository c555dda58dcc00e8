"""Measure proportional memory and CPU time of a process tree, by kind of process."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_KIND_BY_MARK = {
    "app.operations.web_server": "web",
    "anoncup.runner": "runners and their children",
    "workers.main": "worker",
    "workers.clock": "clock",
    "workers.deliver": "deliveries",
    "postgres": "postgres",
    "valkey-server": "valkey",
    "bin/weed": "bucket",
}
"""The kind of process by a part of its command line. Other processes have the kind of their parent."""
_TOP_KIND = "supervisor"
_INTERVAL_S = 0.5


@dataclass
class ResourceUsage:
    """CPU seconds by kind, and memory in MB (PSS): peaks by kind, total peak and total at the start."""

    cpu_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    peaks_mb: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    other_cpu_s: float = 0.0
    """CPU seconds of other processes on the machine. If there are many, the times of a run are unreliable."""
    peak_mb: float = 0.0
    idle_mb: float = 0.0


def iterate_with_kind(top: psutil.Process) -> Iterator[tuple[psutil.Process, str]]:
    """Yield the process and its descendants with their kinds."""
    pending = [(top, _TOP_KIND)]
    while pending:
        process, parent_kind = pending.pop()
        with suppress(psutil.NoSuchProcess):
            command_line = " ".join(process.cmdline())
            kind = next((kind for mark, kind in _KIND_BY_MARK.items() if mark in command_line), parent_kind)
            yield process, kind
            pending += [(child, kind) for child in process.children()]


def measure_pss_mb(pid: int) -> float:
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
        memory_mb: defaultdict[str, float] = defaultdict(float)
        for process, kind in iterate_with_kind(self.top):
            with suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                self.latest_cpu[process.pid] = kind, used.user + used.system
                memory_mb[kind] += measure_pss_mb(process.pid)
        self.usage.peak_mb = max(self.usage.peak_mb, sum(memory_mb.values()))
        for kind, size in memory_mb.items():
            self.usage.peaks_mb[kind] = max(self.usage.peaks_mb[kind], size)
        self.usage.idle_mb = self.usage.idle_mb or sum(memory_mb.values())

    def start(self) -> None:
        self.sample()
        self.cpu_at_start = {pid: seconds for pid, (_, seconds) in self.latest_cpu.items()}

    def stop(self) -> None:
        self.sample()
        for pid, (kind, seconds) in self.latest_cpu.items():
            self.usage.cpu_s[kind] += seconds - self.cpu_at_start.get(pid, 0.0)
        self.usage.other_cpu_s = (
            _measure_machine_cpu() - self.machine_cpu_at_start - sum(self.usage.cpu_s.values())
        )


@contextmanager
def measure_usage(pid: int) -> Iterator[ResourceUsage]:
    """Measure the usage of a process and its descendants. The result is complete when the context ends."""
    sampler, stopping = UsageSampler(psutil.Process(pid)), threading.Event()

    def sample_repeatedly() -> None:
        while not stopping.wait(_INTERVAL_S):
            sampler.sample()

    sampler.start()
    thread = threading.Thread(target=sample_repeatedly)
    thread.start()
    try:
        yield sampler.usage
    finally:
        stopping.set()
        thread.join()
        sampler.stop()
