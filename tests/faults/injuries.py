"""What is done to the service: each injury happens at once, and some are undone a moment later."""

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

from tests.faults.ground import Ground

Undo = Callable[[], None]
Done = tuple[str, Undo | None]
"""What happened, and how it is undone; None: the service gets over it by itself."""


class NothingThere(Exception):
    """What should be hurt is not there just now: another one is drawn."""


@dataclass(frozen=True, slots=True)
class Injury:
    """A kind of fault. ``weight``: how often it is drawn; ``lasts_s``: of those that are undone, between."""

    name: str
    weight: float
    do: Callable[[Ground, Random], Done]
    lasts_s: tuple[float, float] = (0.3, 6.0)


def one_of(ground: Ground, role: str, random: Random) -> psutil.Process:
    found = ground.processes().get(role, [])
    if not found:
        raise NothingThere(role)
    return random.choice(found)


def signalled(role: str, number: signal.Signals, ground: Ground, random: Random) -> Done:
    process = one_of(ground, role, random)
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)
    return f"{number.name} {role} {process.pid}", None


def stopped(role: str, ground: Ground, random: Random) -> Done:
    process = one_of(ground, role, random)
    with suppress(psutil.NoSuchProcess):
        process.suspend()
    return f"SIGSTOP {role} {process.pid}", partial(resume, [process])


def resume(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def database_killed(ground: Ground, _: Random) -> Done:
    postmaster = ground.postmaster()
    if postmaster is None:
        raise NothingThere("postgres")
    postmaster.kill()
    return f"SIGKILL postgres {postmaster.pid}", None


def database_restarted(ground: Ground, _: Random) -> Done:
    """A fast shutdown; the supervisor starts it again."""
    postmaster = ground.postmaster()
    if postmaster is None:
        raise NothingThere("postgres")
    postmaster.send_signal(signal.SIGINT)
    return f"SIGINT postgres {postmaster.pid}", None


def session_killed(ground: Ground, random: Random) -> Done:
    """One of Postgres' own processes: it ends all sessions and recovers from its log."""
    postmaster = ground.postmaster()
    sessions = [each for each in ground.processes().get("postgres", []) if each != postmaster]
    if postmaster is None or not sessions:
        raise NothingThere("postgres")
    chosen = random.choice(sessions)
    with suppress(psutil.NoSuchProcess):
        chosen.kill()
    return f"SIGKILL a session of postgres {chosen.pid}", None


def database_paused(ground: Ground, _: Random) -> Done:
    servers = ground.processes().get("postgres", [])
    if not servers:
        raise NothingThere("postgres")
    for process in servers:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    return f"SIGSTOP all of postgres ({len(servers)})", partial(resume, servers)


def queue_flushed(ground: Ground, _: Random) -> Done:
    with reached(ground) as connection:
        connection.flushall()
    return "FLUSHALL", None


def messages_multiplied(ground: Ground, random: Random) -> Done:
    """While the workers stand still, every message is there twice more, in any order."""
    workers = [
        *ground.processes().get("worker", []),
        *ground.processes().get("reports worker", []),
        *ground.processes().get("pool process", []),
    ]
    for process in workers:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        time.sleep(1.0)
        number = multiplied(ground, random)
    finally:
        resume(workers)
    return f"{number} messages tripled and shuffled", None


seen: dict[str, list[bytes]] = {}
"""Messages of each queue that were delivered before: they come again."""


def multiplied(ground: Ground, random: Random) -> int:
    number = 0
    with reached(ground) as client:
        connection: Any = client  # redis' answers are typed for both of its worlds
        lists = [key for key in connection.keys("*") if connection.type(key) == b"list"]
        for key in lists:
            waiting = list(connection.lrange(key, 0, -1))
            known = seen.setdefault(key.decode(), [])
            old = random.sample(known, min(len(known), 5))
            known += waiting
            del known[:-200]
            again = 3 * waiting + old
            random.shuffle(again)
            if again:
                connection.delete(key)
                connection.rpush(key, *again)
            number += len(again)
    return number


class reached:  # noqa: N801  # reads as a sentence
    """A connection to the queue; NothingThere if it is away."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def __enter__(self) -> redis.Redis:
        try:
            self.context = self.ground.queue()
            self.connection = self.context.__enter__()
            self.connection.ping()
        except (ProcessLookupError, redis.RedisError, OSError) as problem:
            raise NothingThere("valkey") from problem
        return self.connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.context.__exit__(None, None, None)
        if isinstance(error, redis.RedisError):
            raise NothingThere("valkey") from error


def disk_filled(ground: Ground, _: Random) -> Done:
    """Not a byte is left where the files live."""
    filler = ground.store.parent / "filler"
    if filler.exists() or ground.s3 is not None or not os.path.ismount(ground.store.parent):
        raise NothingThere("a disk that can be filled")
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return "disk full", partial(filler.unlink, missing_ok=True)


def is_stopped(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_STOPPED


def bucket_away(ground: Ground, random: Random) -> Done:
    """The S3 server is killed, or takes connections and says nothing."""
    server = ground.s3
    if server is None or server.process is None or is_stopped(server.process.pid):
        raise NothingThere("an S3 server")
    if random.random() < 0.5:
        server.kill()
        return "SIGKILL the S3 server", server.start
    server.hang()
    return "SIGSTOP the S3 server", server.go_on


def store_moved(ground: Ground, _: Random) -> Done:
    """The folder is gone, and a plain file stands in its place: nobody can make it anew."""
    away = ground.store.with_name("away")
    if away.exists() or ground.s3 is not None:
        raise NothingThere("the store")
    ground.store.rename(away)
    ground.store.touch()

    def back() -> None:
        ground.store.unlink()
        away.rename(ground.store)

    return "store away", back


def kinds() -> tuple[Injury, ...]:
    """Every kind, with its weight."""
    kill, stop, end = partial(partial, signalled), partial(partial, stopped), signal.SIGTERM
    killed = [
        Injury(f"kill -9 {role}", weight, kill(role, signal.SIGKILL))
        for role, weight in (
            ("web", 7),
            ("worker", 6),
            ("reports worker", 3),
            ("pool process", 5),
            ("scoring child", 10),
            ("clock", 8),
            ("forking process", 2),
            ("valkey", 5),
            ("supervisor", 2),
        )
    ]
    suspended = [
        Injury(f"STOP, CONT {role}", weight, stop(role))
        for role, weight in (
            ("web", 6),
            ("worker", 5),
            ("reports worker", 3),
            ("pool process", 6),
            ("scoring child", 6),
            ("clock", 7),
            ("forking process", 2),
            ("valkey", 6),
            ("supervisor", 3),
        )
    ]
    ended = [
        Injury(f"TERM {role}", weight, kill(role, end))
        for role, weight in (
            ("web", 4),
            ("worker", 4),
            ("reports worker", 2),
            ("clock", 4),
            ("forking process", 1),
            ("valkey", 3),
            ("supervisor", 1),
        )
    ]
    return (
        *killed,
        *suspended,
        *ended,
        Injury("kill -9 postgres", 3, database_killed),
        Injury("kill -9 a session of postgres", 4, session_killed),
        Injury("restart postgres", 2, database_restarted),
        Injury("database paused", 6, database_paused),
        Injury("queue flushed", 10, queue_flushed),
        Injury("messages multiplied", 8, messages_multiplied),
        Injury("disk full", 7, disk_filled, (2.0, 10.0)),
        Injury("store away", 7, store_moved, (2.0, 10.0)),
        Injury("S3 server away", 14, bucket_away, (1.0, 10.0)),
    )
