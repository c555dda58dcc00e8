"""seccomp: which calls to the kernel a process may still make, as a small program that the kernel runs."""

import ctypes
import os
import struct
from collections.abc import Iterator

from workers.sandbox.calls import GUARDED, PLAIN, Test, guards
from workers.sandbox.kernel import ARCHITECTURES, SandboxRefused, architecture, call

CALL = {"x86_64": 317, "aarch64": 277}
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SET_MODE_FILTER, GET_ACTION_AVAILABLE, ALL_THREADS = 1, 2, 1

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38

LOAD, AND, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
OTHER_NUMBERS = 0x40000000
"""From here on x86_64 has calls of its own for programs with short pointers."""

Instruction = tuple[int, int, int, int]
"""Operation, how many to skip if so and if not, operand."""


def works() -> bool:
    """Whether this machine can do it, and something lets us."""
    here = architecture()
    if here is None:
        return False
    try:
        call(CALL[here], GET_ACTION_AVAILABLE, 0, ctypes.create_string_buffer(struct.pack("=I", FAIL), 4))
    except OSError:
        return False
    return True


def restrict() -> None:
    """Leave this process the calls of ``calls.py``; SandboxRefused if the kernel does not do it."""
    here = architecture()
    if here is None:
        raise SandboxRefused("seccomp: an unknown processor")
    filtered = b"".join(struct.pack("=HBBI", *one) for one in program(here, os.getpid()))
    kept = ctypes.create_string_buffer(filtered, len(filtered))
    given = struct.pack("@HP", len(filtered) // 8, ctypes.addressof(kept))
    try:
        call(CALL[here], SET_MODE_FILTER, ALL_THREADS, ctypes.create_string_buffer(given, len(given)))
    except OSError as problem:
        raise SandboxRefused(f"seccomp: {problem}") from None


def program(processor: str, pid: int) -> list[Instruction]:
    """For the process ``pid``: a call of another processor's kind ends it, an unknown one is not there."""
    column = ARCHITECTURES.index(processor)
    plain = [numbers[column] for numbers in PLAIN.values()]
    allowed = guards(pid)
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        (IF_EQUAL, 1, 0, AUDIT[processor]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, 0, 1, OTHER_NUMBERS),
        (RETURN, 0, 0, FAIL | ENOSYS),
        *(one for number in plain if number is not None for one in answered(number, ALLOW)),
        *(one for name, numbers in GUARDED.items() for one in guarded(numbers[column], allowed[name])),
        (RETURN, 0, 0, FAIL | ENOSYS),
    ]


def answered(number: int, answer: int) -> list[Instruction]:
    return [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]


def guarded(number: int, groups: tuple[tuple[Test, ...], ...]) -> list[Instruction]:
    """Allow a call if all tests of a group hold; it exists, but else is not permitted."""
    tests = [one for group in groups for one in passed(group)]
    return [(IF_EQUAL, 0, len(tests) + 1, number), *tests, (RETURN, 0, 0, FAIL | EPERM)]


def passed(group: tuple[Test, ...]) -> Iterator[Instruction]:
    """Return if all hold; else go on behind."""
    for place, (word, mask, value) in enumerate(group):
        yield LOAD, 0, 0, ARGUMENTS + 4 * word
        yield AND, 0, 0, mask
        yield IF_EQUAL, 0, 3 * (len(group) - place - 1) + 1, value
    yield RETURN, 0, 0, ALLOW
