"""Kinds of faults: each is injected at once, and some are undone a moment later."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
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


def choose_process(installation: ServiceInstallation, role: str, random: Random) -> psutil.Process:
    processes = installation.list_processes().get(role, [])
    if not processes:
        raise FaultTargetAbsent(role)
    return random.choice(processes)


def send_signal(
    role: str, number: signal.Signals, installation: ServiceInstallation, random: Random
) -> FaultOutcome:
    process = choose_process(installation, role, random)
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)
    return f"{number.name} {role} {process.pid}", None


def suspend_process(role: str, installation: ServiceInstallation, random: Random) -> FaultOutcome:
    process = choose_process(installation, role, random)
    with suppress(psutil.NoSuchProcess):
        process.suspend()
    return f"SIGSTOP {role} {process.pid}", partial(resume_processes, [process])


def resume_processes(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def kill_database(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    postmaster = installation.find_postmaster()
    if postmaster is None:
        raise FaultTargetAbsent("postgres")
    postmaster.kill()
    return f"SIGKILL postgres {postmaster.pid}", None


def restart_database(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Shut Postgres down; the supervisor starts it again."""
    postmaster = installation.find_postmaster()
    if postmaster is None:
        raise FaultTargetAbsent("postgres")
    postmaster.send_signal(signal.SIGINT)
    return f"SIGINT postgres {postmaster.pid}", None


def kill_session(installation: ServiceInstallation, random: Random) -> FaultOutcome:
    """Kill one process of Postgres, which then ends all sessions and recovers from its log."""
    postmaster = installation.find_postmaster()
    sessions = [
        process for process in installation.list_processes().get("postgres", []) if process != postmaster
    ]
    if postmaster is None or not sessions:
        raise FaultTargetAbsent("postgres")
    session = random.choice(sessions)
    with suppress(psutil.NoSuchProcess):
        session.kill()
    return f"SIGKILL a session of postgres {session.pid}", None


def pause_database(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    servers = installation.list_processes().get("postgres", [])
    if not servers:
        raise FaultTargetAbsent("postgres")
    for process in servers:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    return f"SIGSTOP all of postgres ({len(servers)})", partial(resume_processes, servers)


def flush_queue(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    with QueueConnection(installation) as connection:
        connection.flushall()
    return "FLUSHALL", None


def multiply_messages(installation: ServiceInstallation, random: Random) -> FaultOutcome:
    """Triple and shuffle all messages while the workers are suspended."""
    workers = installation.list_processes().get("worker", [])
    for process in workers:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        time.sleep(1.0)
        number = repeat_queued_messages(installation, random)
    finally:
        resume_processes(workers)
    return f"{number} messages tripled and shuffled", None


delivered_messages: dict[str, list[bytes]] = {}
"""Messages of each queue that were delivered before and are delivered again."""


def repeat_queued_messages(installation: ServiceInstallation, random: Random) -> int:
    number = 0
    with QueueConnection(installation) as client:
        connection: Any = client  # redis types its results for synchronous and asynchronous clients
        lists = [key for key in connection.keys("*") if connection.type(key) == b"list"]
        for key in lists:
            queued = list(connection.lrange(key, 0, -1))
            delivered = delivered_messages.setdefault(key.decode(), [])
            redelivered = random.sample(delivered, min(len(delivered), 5))
            delivered += queued
            del delivered[:-200]
            messages = 3 * queued + redelivered
            random.shuffle(messages)
            if messages:
                connection.delete(key)
                connection.rpush(key, *messages)
            number += len(messages)
    return number


class QueueConnection:
    """A connection to the queue; raises FaultTargetAbsent if there is none."""

    def __init__(self, installation: ServiceInstallation) -> None:
        self.installation = installation

    def __enter__(self) -> redis.Redis:
        try:
            self.context = self.installation.connect_to_queue()
            self.connection = self.context.__enter__()
            self.connection.ping()
        except (ProcessLookupError, redis.RedisError, OSError) as problem:
            raise FaultTargetAbsent("valkey") from problem
        return self.connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.context.__exit__(None, None, None)
        if isinstance(error, redis.RedisError):
            raise FaultTargetAbsent("valkey") from error


def fill_disk(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Fill the disk of the public files."""
    filler = installation.store.parent / "filler"
    if filler.exists() or installation.s3 is not None or not os.path.ismount(installation.store.parent):
        raise FaultTargetAbsent("a disk that can be filled")
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return "disk full", partial(filler.unlink, missing_ok=True)


def is_stopped(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_STOPPED


def stop_s3_server(installation: ServiceInstallation, random: Random) -> FaultOutcome:
    """Kill the S3 server, or suspend it so that it accepts connections without a response."""
    server = installation.s3
    if server is None or server.process is None or is_stopped(server.process.pid):
        raise FaultTargetAbsent("an S3 server")
    if random.random() < 0.5:
        server.kill()
        return "SIGKILL the S3 server", server.start
    server.hang()
    return "SIGSTOP the S3 server", server.resume


def move_store_away(installation: ServiceInstallation, _: Random) -> FaultOutcome:
    """Replace the store's folder by a plain file, so that nobody can create it again."""
    moved_store = installation.store.with_name("away")
    if moved_store.exists() or installation.s3 is not None:
        raise FaultTargetAbsent("the store")
    installation.store.rename(moved_store)
    installation.store.touch()

    def restore() -> None:
        installation.store.unlink()
        moved_store.rename(installation.store)

    return "store away", restore


def list_fault_kinds() -> tuple[FaultKind, ...]:
    """Return all kinds of faults."""
    signal_role = partial(partial, send_signal)
    suspend_role = partial(partial, suspend_process)
    terminate = signal.SIGTERM
    kills = [
        FaultKind(f"kill -9 {role}", weight, signal_role(role, signal.SIGKILL))
        for role, weight in (
            ("web", 7),
            ("worker", 14),
            ("runner", 10),
            ("clock", 8),
            ("valkey", 5),
            ("supervisor", 2),
        )
    ]
    suspensions = [
        FaultKind(f"STOP, CONT {role}", weight, suspend_role(role))
        for role, weight in (
            ("web", 6),
            ("worker", 14),
            ("runner", 6),
            ("clock", 7),
            ("valkey", 6),
            ("supervisor", 3),
        )
    ]
    terminations = [
        FaultKind(f"TERM {role}", weight, signal_role(role, terminate))
        for role, weight in (
            ("web", 4),
            ("worker", 6),
            ("clock", 4),
            ("valkey", 3),
            ("supervisor", 1),
        )
    ]
    return (
        *kills,
        *suspensions,
        *terminations,
        FaultKind("kill -9 postgres", 3, kill_database),
        FaultKind("kill -9 a session of postgres", 4, kill_session),
        FaultKind("restart postgres", 2, restart_database),
        FaultKind("database paused", 6, pause_database),
        FaultKind("queue flushed", 10, flush_queue),
        FaultKind("messages multiplied", 8, multiply_messages),
        FaultKind("disk full", 7, fill_disk, (2.0, 10.0)),
        FaultKind("store away", 7, move_store_away, (2.0, 10.0)),
        FaultKind("S3 server away", 14, stop_s3_server, (1.0, 10.0)),
    )
