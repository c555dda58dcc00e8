"""Kinds of faults: each is injected at once, and some are undone a moment later."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import psutil
import redis

from tests.faults.installation import ServiceInstallation

Undo = Callable[[], None]
FaultOutcome = tuple[str, Undo | None]
"""A description and the function that undoes the fault; None if the service recovers by itself."""


class FaultTargetAbsent(Exception):
    """The target of the fault does not exist at the moment; another fault is chosen."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault with its relative frequency, and the range of its duration if it is undone."""

    name: str
    weight: float
    inject: Callable[[ServiceInstallation, Random], FaultOutcome]
    duration_s: tuple[float, float] = (0.3, 6.0)


def list_targets(installation: ServiceInstallation, role: str) -> list[psutil.Process]:
    processes = installation.list_processes().get(role, [])
    if not processes:
        raise FaultTargetAbsent(role)
    return processes


def signal_processes(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def signal_role(
    role: str, number: signal.Signals, installation: ServiceInstallation, random: Random
) -> FaultOutcome:
    """Send a signal to a process of the role; one that is stopped continues later."""
    process = random.choice(list_targets(installation, role))
    signal_processes([process], number)
    undo = partial(signal_processes, [process], signal.SIGCONT) if number == signal.SIGSTOP else None
    return f"{number.name} {role} {process.pid}", undo


def signal_postmaster(number: signal.Signals, installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Kill Postgres or shut it down; the supervisor starts it again."""
    postmaster = list_targets(installation, "postgres")[0]
    signal_processes([postmaster], number)
    return f"{number.name} postgres {postmaster.pid}", None


def kill_session(installation: ServiceInstallation, random: Random) -> FaultOutcome:
    """Kill one process of Postgres, which then ends all sessions and recovers from its log."""
    sessions = list_targets(installation, "postgres")[1:]
    if not sessions:
        raise FaultTargetAbsent("postgres")
    session = random.choice(sessions)
    signal_processes([session], signal.SIGKILL)
    return f"SIGKILL a session of postgres {session.pid}", None


def pause_database(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    servers = list_targets(installation, "postgres")
    signal_processes(servers, signal.SIGSTOP)
    return f"SIGSTOP all of postgres ({len(servers)})", partial(signal_processes, servers, signal.SIGCONT)


@contextmanager
def connect_to_queue(installation: ServiceInstallation) -> Iterator[Any]:
    """Connect to Valkey; redis types its results for synchronous and asynchronous clients."""
    try:
        with redis.Redis.from_url(installation.find_services().redis_py_url, socket_timeout=5) as connection:
            yield connection
    except (ProcessLookupError, redis.RedisError, OSError) as problem:
        raise FaultTargetAbsent("valkey") from problem


def flush_queue(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    with connect_to_queue(installation) as connection:
        connection.flushall()
    return "FLUSHALL", None


def multiply_messages(installation: ServiceInstallation, random: Random) -> FaultOutcome:
    """Triple and shuffle all messages while the workers are suspended."""
    workers = list_targets(installation, "worker")
    signal_processes(workers, signal.SIGSTOP)
    try:
        time.sleep(1.0)
        with connect_to_queue(installation) as connection:
            for key in connection.keys("*"):
                if connection.type(key) == b"list":
                    messages = 3 * connection.lrange(key, 0, -1)
                    random.shuffle(messages)
                    connection.delete(key)
                    connection.rpush(key, *messages)
    finally:
        signal_processes(workers, signal.SIGCONT)
    return "messages tripled and shuffled", None


def fill_disk(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Fill the disk of the public files."""
    filler = installation.store.parent / "filler"
    if filler.exists() or not os.path.ismount(installation.store.parent):
        raise FaultTargetAbsent("a disk that can be filled")
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return "disk full", partial(filler.unlink, missing_ok=True)


def move_store_away(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Replace the store's folder by a plain file, so that nobody can create it again."""
    moved_store = installation.store.with_name("away")
    if moved_store.exists():
        raise FaultTargetAbsent("the store")
    installation.store.rename(moved_store)
    installation.store.touch()

    def restore() -> None:
        installation.store.unlink()
        moved_store.rename(installation.store)

    return "store away", restore


ROLE_WEIGHTS = {
    signal.SIGKILL: {"web": 7, "worker": 14, "runner": 10, "clock": 8, "valkey": 5, "supervisor": 2},
    signal.SIGSTOP: {"web": 6, "worker": 14, "runner": 6, "clock": 7, "valkey": 6, "supervisor": 3},
    signal.SIGTERM: {"web": 4, "worker": 6, "clock": 4, "valkey": 3, "supervisor": 1},
}
"""Relative frequency of each signal by the role of the process."""
FAULT_KINDS = (
    *(
        FaultKind(f"{number.name} {role}", weight, partial(signal_role, role, number))
        for number, weights in ROLE_WEIGHTS.items()
        for role, weight in weights.items()
    ),
    FaultKind("kill -9 postgres", 3, partial(signal_postmaster, signal.SIGKILL)),
    FaultKind("kill -9 a session of postgres", 4, kill_session),
    FaultKind("restart postgres", 2, partial(signal_postmaster, signal.SIGINT)),
    FaultKind("database paused", 6, pause_database),
    FaultKind("queue flushed", 10, flush_queue),
    FaultKind("messages multiplied", 8, multiply_messages),
    FaultKind("disk full", 7, fill_disk, (2.0, 10.0)),
    FaultKind("store away", 7, move_store_away, (2.0, 10.0)),
)
