"""A scoring child that was taken over: it does what it is told, and one of its measures does it unasked.

It is started as ``workers.scorer`` is, by ``workers.child``, and stands behind the same walls.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import socket
import sys
import termios
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from app.scoring.parts import Measure
from app.scoring.tracks import TRACKS
from workers import scorer
from workers.scorer import Desk
from workers.walls import kernel

LIBC = ctypes.CDLL(None, use_errno=True)
BUFFER = ctypes.create_string_buffer(4096)


@dataclass(frozen=True, slots=True)
class Deed:
    """What the child is to do, which is sent to it as other work is. ``apart``: in a thread of its own."""

    name: str
    arguments: list[Any] = field(default_factory=list)
    apart: bool = False

    @property
    def longest(self) -> int:
        return 2**24

    @property
    def fetched(self) -> Collection[str]:
        return ()

    def admits(self, content: dict[str, Any]) -> bool:
        return len(content) == 1


def called(name: str, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    return kernel.call(NUMBERS[name], *arguments)


NUMBERS = {
    # On x86_64; those from 424 are the same everywhere.
    "ptrace": 101,
    "mount": 165,
    "chroot": 161,
    "setns": 308,
    "keyctl": 250,
    "bpf": 321,
    "perf_event_open": 298,
    "userfaultfd": 323,
    "process_vm_readv": 310,
    "memfd_create": 319,
    "execveat": 322,
    "truncate": 76,
    "tkill": 200,
    "unshare": 272,
    "setpriority": 141,
    "sched_setaffinity": 203,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "process_madvise": 440,
}


def read(path: str) -> str:
    with open(path, "rb") as file:
        return repr(file.read(16))


def write(path: str) -> int:
    return Path(path).write_bytes(b"harm")


def append(path: str) -> int:
    with open(path, "ab") as file:
        return file.write(b"harm")


def emptied(path: str) -> None:
    """A file that one may read is opened so that it is empty afterwards."""
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def connect(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as made:
        made.settimeout(2)
        made.connect(tuple(address) if isinstance(address, list) else address)
        made.send(b"PING\r\n")


def started(program: str) -> int:
    return os.posix_spawn(program, [program], {})


def replaced(program: str) -> None:
    os.execv(program, [program])


def forked() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def bombed() -> int:
    """As many processes as it gets, each for a moment."""
    return sum(1 for _ in range(100) if forked() == 0)


def outlive() -> int:
    """Not to end with the parent."""
    if LIBC.prctl(1, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return 0


def mapped() -> int:
    """More than there is, without a word to Python's memory."""
    return len(mmap.mmap(-1, 2**40))


def opened(count: int) -> int:
    """As many descriptors, each of which others could be made to watch."""
    return len([os.pipe() for _ in range(count)])


def reserved(path: str) -> None:
    """Space on the disk, which takes no time where nothing is written."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 2**20)


def filled(path: str, size: int) -> int:
    with open(path, "wb", buffering=0) as file:
        return sum(file.write(bytes(2**20)) for _ in range(0, size, 2**20))


def crowded(folder: str) -> int:
    """As many files as there may be."""
    for number in range(10_000):
        os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
    return 0


def locked(path: str) -> None:
    """What others wait for, or read as a sign."""
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def limits_lifted() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def parents_limits(pid: int) -> Any:
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


def signals_by_a_pipe(pid: int) -> None:
    """Have the kernel send a signal to another process when something can be read."""
    there, _ = os.pipe()
    fcntl.fcntl(there, fcntl.F_SETOWN, pid)


def typed() -> None:
    """Type into the operator's terminal."""
    fcntl.ioctl(2, termios.TIOCSTI, b"x")


def taken() -> None:
    """All the memory that there is, by and by."""
    kept = []
    while True:
        kept.append(bytearray(2**24))


def endless() -> None:
    """Deaf to whoever asks it to stop."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def spoken(text: str, times: int) -> None:
    """Say something to the parent."""
    for _ in range(times):
        os.write(ANSWERS, text.encode())


def never_ending() -> None:
    """A line that has no end, always more of it."""
    while True:
        os.write(ANSWERS, b"x")


ANSWERS = 3
"""The pipe: the first that is opened after the usual three, one of which is the requests'."""
DEEDS: dict[str, Callable[..., Any]] = {
    "nothing": lambda: None,
    "read": read,
    "write": write,
    "append": append,
    "emptied": emptied,
    "remove": os.remove,
    "list": os.listdir,
    "link": os.link,
    "symlink": os.symlink,
    "mode": os.chmod,
    "folder": os.mkdir,
    "connect": connect,
    "started": started,
    "replaced": replaced,
    "forked": forked,
    "bombed": bombed,
    "kill": os.kill,
    "group": os.killpg,
    "outlive": outlive,
    "mapped": mapped,
    "opened": opened,
    "reserved": reserved,
    "filled": filled,
    "crowded": crowded,
    "locked": locked,
    "limits": limits_lifted,
    "parents_limits": parents_limits,
    "signals": signals_by_a_pipe,
    "typed": typed,
    "taken": taken,
    "endless": endless,
    "spoken": spoken,
    "never_ending": never_ending,
    "call": called,
}


def tried(name: str, arguments: list[Any], *, apart: bool = False) -> dict[str, Any]:
    """What came of it: ``done`` with what was found, or ``denied`` with the reason."""
    found: dict[str, Any] = {}

    def act() -> None:
        try:
            found["done"] = str(DEEDS[name](*arguments))
        except (OSError, ValueError) as problem:
            found["denied"] = str(problem)

    if apart:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    else:
        act()
    return found


def deed(request: dict[str, Any], desk: Desk, _: Any) -> dict[str, Any]:
    if request["name"] == "fetch":
        return {"done": repr(desk.fetch(request["arguments"][0])[:16])}
    return tried(request["name"], request["arguments"], apart=request["apart"])


UNASKED: list[tuple[str, list[Any]]] = [
    ("read", ["/etc/passwd"]),
    ("read", ["/etc/hostname"]),
    ("connect", [socket.AF_INET, socket.SOCK_STREAM, ["127.0.0.1", 9]]),
    ("forked", []),
    ("started", ["/bin/true"]),
    ("kill", [os.getppid(), 0]),
]
"""What the hostile measure tries on every release."""


def hostile(compute: Callable[..., float]) -> Callable[..., float]:
    """The same number, and 1 more for everything that was not denied."""

    def computed(*arguments: Any, **parameters: Any) -> float:
        done = sum("done" in tried(name, with_) for name, with_ in UNASKED)
        return compute(*arguments, **parameters) + done

    return computed


if __name__ == "__main__":
    measures = cast(dict[str, Measure], TRACKS["microdata"].measures)
    measures["mean_mae"] = replace(measures["mean_mae"], compute=hostile(measures["mean_mae"].compute))
    scorer.WORK = {**scorer.WORK, "Deed": deed}
    sys.argv[0] = scorer.__file__
    scorer.main()
