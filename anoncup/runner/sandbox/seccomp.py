"""seccomp restricts the system calls of a process, by a small BPF program that the kernel runs.

Calls that are not allowed fail with ENOSYS. Libraries know ENOSYS from older kernels and use a fallback.
Among others, these are not allowed: sockets, starting programs or processes, tracing or reading other
processes, io_uring, bpf, keys, mounts, namespaces, changing owners, modes or locks of files, reserving disk
space, and setting limits.
"""

import ctypes
import os
import struct
from collections.abc import Callable, Iterator, Mapping

from anoncup.runner.sandbox.kernel import ARCHITECTURES, SandboxError, detect_architecture, syscall

SECCOMP_NUMBERS = {"x86_64": 317, "aarch64": 277}
AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SET_MODE_FILTER, GET_ACTION_AVAILABLE, ALL_THREADS = 1, 2, 1

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38

LOAD, AND, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER_OFFSET, ARCHITECTURE_OFFSET, ARGUMENTS_OFFSET = 0, 4, 16
_FIRST_X32_NUMBER = 0x40000000
"""x86_64 numbers from here on are x32 calls, for programs with 32-bit pointers."""

_Instruction = tuple[int, int, int, int]
"""Operation, instructions to skip if true and if false, operand."""

_ArgumentTest = tuple[int, int, int]
"""A test of 32 bits of the arguments: their position in 4-byte words, a mask, and the expected value."""

_Conditions = dict[str, tuple[tuple[_ArgumentTest, ...], ...]]
"""The tests of guarded calls: one is allowed if all tests of one group hold."""


def _match_argument(number: int, *, mask: int = 0xFFFFFFFF, value: int) -> _ArgumentTest:
    """Return a test of the lower half of the argument with this number, counted from 0."""
    return (2 * number, mask, value)


def _match_any(number: int, *values: int) -> tuple[tuple[_ArgumentTest, ...], ...]:
    return tuple((_match_argument(number, value=value),) for value in values)


UNCONDITIONAL_CALLS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "close": (3, 57),
    "close_range": (436, 436),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "lseek": (8, 62),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "fadvise64": (221, 223),
    "recvmsg": (47, 212),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "brk": (12, 214),
    "membarrier": (324, 283),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "rseq": (334, 293),
    "set_tid_address": (218, 96),
    "arch_prctl": (158, None),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrlimit": (97, 163),
    "getcpu": (309, 168),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "get_mempolicy": (239, 236),
    "fstatfs": (138, 44),
    "statfs": (137, 43),
}
"""Calls allowed with any arguments: their numbers on x86_64 and aarch64 (None: not on this architecture)."""

CONDITIONAL_CALLS: dict[str, tuple[int, int]] = {
    "openat": (257, 56),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
}

INTERPRETER_CALLS: dict[str, tuple[int | None, int | None]] = {
    "execve": (59, 221),
    "vfork": (58, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "getpriority": (140, 141),
    "prctl": (157, 167),
    "capget": (125, 90),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "recvfrom": (45, 207),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "ftruncate": (77, 46),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "umask": (95, 166),
}
"""Further calls of an interpreter that starts children and compiles loops."""

GUARDED_INTERPRETER_CALLS: dict[str, tuple[int, int]] = {
    **{name: CONDITIONAL_CALLS[name] for name in ("openat", "fcntl", "ioctl", "prlimit64", "clone")},
    "setpriority": (141, 140),
    "socketpair": (53, 199),
}

CLONE_THREAD, FORBIDDEN_CLONE_FLAGS = 0x10000, 0x7E022000
"""The flag of a new thread, and the flags CLONE_NEW… and CLONE_PTRACE."""


def build_conditions(pid: int) -> _Conditions:
    """Return the conditions of each conditional call of the child ``pid``."""
    return {
        # Reject O_TRUNC with O_RDONLY: Landlock before version 3 does not restrict truncation.
        "openat": (
            (_match_argument(2, mask=0x200, value=0),),
            (_match_argument(2, mask=3, value=1),),
            (_match_argument(2, mask=3, value=2),),
        ),
        # Duplicates and flags. Not F_SETOWN, which signals other processes, nor locks, which may block them.
        "fcntl": _match_any(1, 0, 1, 2, 3, 4, 1030, 1032),
        # TCGETS, FIONCLEX, FIOCLEX, FIONBIO and FIONREAD. Not TIOCSTI, which types into a terminal.
        "ioctl": _match_any(1, 0x5401, 0x5450, 0x5451, 0x5421, 0x541B),
        # Names of threads and memory. Not PR_SET_PDEATHSIG, which would let it outlive the parent.
        "prctl": _match_any(0, 15, 16, 0x53564D41),
        # Its own limits may be read, not set: the third argument, the new limit, must be NULL.
        "prlimit64": (
            (_match_argument(0, value=0), _match_argument(2, value=0), (2 * 2 + 1, 0xFFFFFFFF, 0)),
        ),
        "clone": ((_match_argument(0, mask=CLONE_THREAD | FORBIDDEN_CLONE_FLAGS, value=CLONE_THREAD),),),
        "kill": _match_any(0, pid),
        "tgkill": _match_any(0, pid),
    }


def build_interpreter_conditions() -> _Conditions:
    """Return the conditions of each guarded call of an interpreter that starts children."""
    conditions = build_conditions(pid=0)
    return {
        **{name: conditions[name] for name in ("openat", "fcntl", "ioctl")},
        "prlimit64": _match_any(0, 0),
        "clone": ((_match_argument(0, mask=FORBIDDEN_CLONE_FLAGS, value=0),),),
        "setpriority": ((_match_argument(0, value=0), _match_argument(1, value=0)),),
        # AF_UNIX and SOCK_SEQPACKET: datagrams could be sent to sockets of others.
        "socketpair": ((_match_argument(0, value=1), _match_argument(1, mask=0xF, value=5)),),
    }


def is_available() -> bool:
    """Return whether this machine supports seccomp filters and this process may use them."""
    architecture = detect_architecture()
    if architecture is None:
        return False
    try:
        syscall(
            SECCOMP_NUMBERS[architecture],
            GET_ACTION_AVAILABLE,
            0,
            ctypes.create_string_buffer(struct.pack("=I", FAIL), 4),
        )
    except OSError:
        return False
    return True


def restrict() -> None:
    """Allow this process only the calls of children; raise SandboxError if the kernel refuses."""
    _install(lambda architecture: build_program(architecture, os.getpid()))


def restrict_interpreter() -> None:
    """Allow this process and what it starts only the calls of interpreters; raise SandboxError."""
    _install(build_interpreter_program)


def _install(build: Callable[[str], list[_Instruction]]) -> None:
    architecture = detect_architecture()
    if architecture is None:
        raise SandboxError("seccomp: an unknown processor")
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in build(architecture))
    code_buffer = ctypes.create_string_buffer(code, len(code))
    filter_program = struct.pack("@HP", len(code) // 8, ctypes.addressof(code_buffer))
    try:
        syscall(
            SECCOMP_NUMBERS[architecture],
            SET_MODE_FILTER,
            ALL_THREADS,
            ctypes.create_string_buffer(filter_program, len(filter_program)),
        )
    except OSError as problem:
        raise SandboxError(f"seccomp: {problem}") from None


def build_program(architecture: str, pid: int) -> list[_Instruction]:
    """Return the filter for the child ``pid``."""
    return _build_filter(architecture, UNCONDITIONAL_CALLS, CONDITIONAL_CALLS, build_conditions(pid))


def build_interpreter_program(architecture: str) -> list[_Instruction]:
    return _build_filter(
        architecture,
        UNCONDITIONAL_CALLS | INTERPRETER_CALLS,
        GUARDED_INTERPRETER_CALLS,
        build_interpreter_conditions(),
    )


def _build_filter(
    architecture: str,
    calls: Mapping[str, tuple[int | None, int | None]],
    guarded_calls: Mapping[str, tuple[int, int]],
    conditions: _Conditions,
) -> list[_Instruction]:
    """Return a filter under which a call of another architecture kills the process.

    A call that is not allowed fails with ENOSYS.
    """
    architecture_index = ARCHITECTURES.index(architecture)
    unconditional = [numbers[architecture_index] for numbers in calls.values()]
    return [
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (IF_EQUAL, 1, 0, AUDIT_ARCHITECTURES[architecture]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_OFFSET),
        (IF_AT_LEAST, 0, 1, _FIRST_X32_NUMBER),
        (RETURN, 0, 0, FAIL | ENOSYS),
        *(
            instruction
            for number in unconditional
            if number is not None
            for instruction in _build_return(number, ALLOW)
        ),
        *(
            instruction
            for name, numbers in guarded_calls.items()
            for instruction in _build_conditional(numbers[architecture_index], conditions[name])
        ),
        (RETURN, 0, 0, FAIL | ENOSYS),
    ]


def _build_return(number: int, action: int) -> list[_Instruction]:
    return [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, action)]


def _build_conditional(number: int, groups: tuple[tuple[_ArgumentTest, ...], ...]) -> list[_Instruction]:
    """Return instructions that allow a call if all tests of a group hold, and else fail it with EPERM."""
    instructions = [instruction for group in groups for instruction in _build_group_tests(group)]
    return [(IF_EQUAL, 0, len(instructions) + 1, number), *instructions, (RETURN, 0, 0, FAIL | EPERM)]


def _build_group_tests(group: tuple[_ArgumentTest, ...]) -> Iterator[_Instruction]:
    """Return instructions that allow the call if all tests hold, and else skip to the next group."""
    for position, (word, mask, value) in enumerate(group):
        yield LOAD, 0, 0, ARGUMENTS_OFFSET + 4 * word
        yield AND, 0, 0, mask
        yield IF_EQUAL, 0, 3 * (len(group) - position - 1) + 1, value
    yield RETURN, 0, 0, ALLOW
