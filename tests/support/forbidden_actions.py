"""Actions that code in a compromised process would try. Each raises OSError or ValueError if it is denied."""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import termios
import threading
import time
from collections.abc import Callable
from typing import Any

from anoncup.runner.sandbox import kernel

LIBC = ctypes.CDLL(None, use_errno=True)


def call_kernel(name: str, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    return kernel.syscall(SYSCALL_NUMBERS[name], *arguments)


SYSCALL_NUMBERS = {"ptrace": 101, "process_vm_readv": 310, "tkill": 200}
"""On x86_64."""


def read(path: str) -> str:
    with open(path, "rb") as file:
        return repr(file.read(16))


def append(path: str) -> int:
    with open(path, "ab") as file:
        return file.write(b"harm")


def truncate(path: str) -> None:
    """Open a readable file with O_TRUNC, which empties it."""
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def connect(family: int, socket_type: int, address: Any) -> None:
    with socket.socket(family, socket_type) as connection:
        connection.settimeout(2)
        connection.connect(tuple(address) if isinstance(address, list) else address)
        connection.send(b"PING\r\n")


def start_program(program: str) -> int:
    return os.posix_spawn(program, [program], {})


def replace_program(program: str) -> None:
    os.execv(program, [program])


def fork() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def fork_often() -> int:
    """Start 100 short processes. Return how many succeeded."""
    return sum(1 for _ in range(100) if fork() == 0)


def outlive() -> int:
    """Undo the parent-death signal, so that this process outlives its parent."""
    if LIBC.prctl(1, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return 0


def map_memory() -> int:
    """Map 1 TiB, more than there is, without Python's allocator."""
    return len(mmap.mmap(-1, 2**40))


def open_pipes(count: int) -> int:
    """Open ``count`` pipes, so that descriptors run out."""
    return len([os.pipe() for _ in range(count)])


def reserve_disk(path: str) -> None:
    """Reserve 1 MiB on the disk without writing it."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 2**20)


def lock_file(path: str) -> None:
    """Lock a file that other processes may wait for."""
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def compute(seconds: float) -> None:
    """Use CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def raise_limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def read_limit_of(pid: int) -> Any:
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


def signal_through_pipe(pid: int) -> None:
    """Make the kernel signal another process when a pipe becomes readable."""
    read_end, _ = os.pipe()
    fcntl.fcntl(read_end, fcntl.F_SETOWN, pid)


def type_into_terminal() -> None:
    fcntl.ioctl(2, termios.TIOCSTI, b"x")


def take_memory() -> None:
    """Allocate memory until there is none left."""
    blocks = []
    while True:
        blocks.append(bytearray(2**24))


def run_endlessly() -> None:
    """Loop forever and ignore the signals that would end the process."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


ACTIONS: dict[str, Callable[..., Any]] = {
    "nothing": lambda: None,
    "identify": os.getpid,
    "compute": compute,
    "read": read,
    "append": append,
    "truncate": truncate,
    "remove": os.remove,
    "list": os.listdir,
    "link": os.link,
    "symlink": os.symlink,
    "mode": os.chmod,
    "folder": os.mkdir,
    "connect": connect,
    "start_program": start_program,
    "replace_program": replace_program,
    "fork": fork,
    "fork_often": fork_often,
    "kill": os.kill,
    "group": os.killpg,
    "outlive": outlive,
    "map_memory": map_memory,
    "open_pipes": open_pipes,
    "reserve_disk": reserve_disk,
    "lock_file": lock_file,
    "limits": raise_limit,
    "read_limit_of": read_limit_of,
    "signals": signal_through_pipe,
    "type_into_terminal": type_into_terminal,
    "take_memory": take_memory,
    "run_endlessly": run_endlessly,
    "crash": lambda: os.kill(os.getpid(), 9),
    "sleep": lambda: time.sleep(10**6),
    "call": call_kernel,
}


def try_action(name: str, arguments: list[Any], *, in_thread: bool = False) -> dict[str, Any]:
    """Try an action. Return ``done`` with its result, or ``denied`` with the reason."""
    result: dict[str, Any] = {}

    def act() -> None:
        try:
            result["done"] = str(ACTIONS[name](*arguments))
        except (OSError, ValueError) as problem:
            result["denied"] = str(problem)

    if in_thread:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    else:
        act()
    return result
