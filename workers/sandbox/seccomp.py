"""seccomp restricts the system calls of a process, by a small BPF program that the kernel runs."""

import ctypes
import os
import struct
from collections.abc import Iterator

from workers.sandbox.calls import CONDITIONAL_CALLS, UNCONDITIONAL_CALLS, ArgumentTest, build_conditions
from workers.sandbox.kernel import ARCHITECTURES, SandboxError, detect_architecture, syscall

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
    """Allow this process only the calls of ``calls.py``; raise SandboxError if the kernel refuses."""
    architecture = detect_architecture()
    if architecture is None:
        raise SandboxError("seccomp: an unknown processor")
    code = b"".join(
        struct.pack("=HBBI", *instruction) for instruction in build_program(architecture, os.getpid())
    )
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
    """Return the filter for the process ``pid``.

    A call of another architecture kills the process. A call that is not allowed fails with ENOSYS.
    """
    architecture_index = ARCHITECTURES.index(architecture)
    unconditional = [numbers[architecture_index] for numbers in UNCONDITIONAL_CALLS.values()]
    conditions = build_conditions(pid)
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
            for name, numbers in CONDITIONAL_CALLS.items()
            for instruction in _build_conditional(numbers[architecture_index], conditions[name])
        ),
        (RETURN, 0, 0, FAIL | ENOSYS),
    ]


def _build_return(number: int, action: int) -> list[_Instruction]:
    return [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, action)]


def _build_conditional(number: int, groups: tuple[tuple[ArgumentTest, ...], ...]) -> list[_Instruction]:
    """Return instructions that allow a call if all tests of a group hold, and else fail it with EPERM."""
    instructions = [instruction for group in groups for instruction in _build_group_tests(group)]
    return [(IF_EQUAL, 0, len(instructions) + 1, number), *instructions, (RETURN, 0, 0, FAIL | EPERM)]


def _build_group_tests(group: tuple[ArgumentTest, ...]) -> Iterator[_Instruction]:
    """Return instructions that allow the call if all tests hold, and else skip to the next group."""
    for position, (word, mask, value) in enumerate(group):
        yield LOAD, 0, 0, ARGUMENTS_OFFSET + 4 * word
        yield AND, 0, 0, mask
        yield IF_EQUAL, 0, 3 * (len(group) - position - 1) + 1, value
    yield RETURN, 0, 0, ALLOW
