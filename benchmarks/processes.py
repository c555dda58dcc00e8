"""What a tree of processes uses: proportional memory and CPU, by the kind of process."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

KINDS = {
    "app.cli.web_server": "web",
    "workers.parser": "parsers of uploads",
    "workers.scorer": "scoring children",
    "reports@": "reports worker",
    "reports-": "reports worker",
    "workers.pool": "worker",
    "workers.clock": "clock",
    "workers.forked": "workers and clock",
    "postgres": "postgres",
    "valkey-server": "valkey",
    "bin/weed": "bucket",
}
"""By a part of the command line; what has none is of the kind of who started it."""
TOP = "supervisor"
EVERY_S = 0.5


@dataclass
class Usage:
    """Since the watching began: CPU seconds by kind; at its peak, MB (PSS) of all and of each kind alone."""

    cpu: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    peaks: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    others: float = 0.0
    """CPU seconds of everything else on the machine: times of a run beside much else say little."""
    peak: float = 0.0
    idle: float = 0.0


def by_kind(top: psutil.Process) -> Iterator[tuple[psutil.Process, str]]:
    """The process and all below it."""
    waiting = [(top, TOP)]
    while waiting:
        process, inherited = waiting.pop()
        with suppress(psutil.NoSuchProcess):
            words = " ".join(process.cmdline())
            kind = next((kind for mark, kind in KINDS.items() if mark in words), inherited)
            yield process, kind
            waiting += [(child, kind) for child in process.children()]


def proportional_mb(pid: int) -> float:
    """Its own memory and its share of what it shares; 0 if it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def busy() -> float:
    """CPU seconds that the whole machine has spent."""
    spent = psutil.cpu_times()
    return spent.user + spent.nice + spent.system


@dataclass
class Watch:
    """Looks twice a second. Of a process that ends, what it used since the last look is lost."""

    top: psutil.Process
    usage: Usage = field(default_factory=Usage)
    before: dict[int, float] = field(default_factory=dict)
    latest: dict[int, tuple[str, float]] = field(default_factory=dict)
    busy: float = field(default_factory=busy)

    def look(self) -> None:
        memory: defaultdict[str, float] = defaultdict(float)
        for process, kind in by_kind(self.top):
            with suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                self.latest[process.pid] = kind, used.user + used.system
                memory[kind] += proportional_mb(process.pid)
        self.usage.peak = max(self.usage.peak, sum(memory.values()))
        for kind, size in memory.items():
            self.usage.peaks[kind] = max(self.usage.peaks[kind], size)
        self.usage.idle = self.usage.idle or sum(memory.values())

    def begin(self) -> None:
        self.look()
        self.before = {pid: seconds for pid, (_, seconds) in self.latest.items()}

    def end(self) -> None:
        self.look()
        for pid, (kind, seconds) in self.latest.items():
            self.usage.cpu[kind] += seconds - self.before.get(pid, 0.0)
        self.usage.others = busy() - self.busy - sum(self.usage.cpu.values())


@contextmanager
def watched(pid: int) -> Iterator[Usage]:
    """What the process and all below it use in the body, known once it has ended."""
    watch, ended = Watch(psutil.Process(pid)), threading.Event()

    def go_on() -> None:
        while not ended.wait(EVERY_S):
            watch.look()

    watch.begin()
    looking = threading.Thread(target=go_on)
    looking.start()
    try:
        yield watch.usage
    finally:
        ended.set()
        looking.join()
        watch.end()
