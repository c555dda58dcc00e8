"""Choice and logging of the sandbox, and its seccomp filter."""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from anoncup.runner import sandbox
from anoncup.runner.sandbox import Sandbox, SandboxError, landlock, seccomp
from anoncup.runner.sandbox.seccomp import (
    CONDITIONAL_CALLS,
    GUARDED_INTERPRETER_CALLS,
    INTERPRETER_CALLS,
    UNCONDITIONAL_CALLS,
    build_interpreter_program,
    build_program,
)
from app.config import Settings
from app.core.processes import runners
from app.operations.embedded_servers import EmbeddedServices
from app.operations.local_service import build_sandbox_env
from workers import readiness
from workers.readiness import REPORT_READINESS, SCORING_READINESS

pytestmark = pytest.mark.full

FULL_SANDBOX = Sandbox("landlock", "seccomp")
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize(
    "available_sandbox",
    [Sandbox(), Sandbox(file_mechanism="landlock"), Sandbox(call_mechanism="seccomp")],
    ids=str,
)
def test_worker_without_a_sandbox_takes_no_work_unless_configured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, available_sandbox: Sandbox
) -> None:
    monkeypatch.setattr(sandbox, "get_available", lambda: available_sandbox)
    for kind in (SCORING_READINESS, REPORT_READINESS):
        assert "cannot be sandboxed" in (kind.find_problem() or "")
    for setting in ("wanted", "off"):
        changed_settings = settings.model_copy(update={"sandbox": setting})
        monkeypatch.setattr(
            readiness, "get_settings", lambda changed_settings=changed_settings: changed_settings
        )
        assert (SCORING_READINESS.find_problem(), REPORT_READINESS.find_problem()) == (None, None)


@pytest.mark.parametrize("name", ["data", "opening_keys_dir"])
def test_worker_with_exposed_files_takes_no_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sandbox, "get_available", lambda: FULL_SANDBOX)
    changed_settings = settings.model_copy(update={name: Path("/usr/lib/anoncup/../contest")})
    monkeypatch.setattr(readiness, "get_settings", lambda: changed_settings)
    assert "lies in /usr/lib, which the scoring process may read" in (SCORING_READINESS.find_problem() or "")
    monkeypatch.setattr(readiness, "get_settings", lambda: settings)
    assert SCORING_READINESS.find_problem() is None


@pytest.mark.parametrize(
    ("available_sandbox", "setting", "level", "advice"),
    [
        (FULL_SANDBOX, "required", "info", None),
        (Sandbox(), "wanted", "warning", "Landlock (Linux 5.13 or newer) is missing"),
        (Sandbox(file_mechanism="landlock"), "wanted", "warning", "seccomp is missing"),
        (FULL_SANDBOX, "off", "warning", "ANONCUP_SANDBOX=off"),
    ],
)
def test_sandbox_is_logged_with_a_warning_for_missing_parts(
    monkeypatch: pytest.MonkeyPatch, available_sandbox: Sandbox, setting: str, level: str, advice: str | None
) -> None:
    monkeypatch.setattr(sandbox, "get_available", lambda: available_sandbox)
    with capture_logs() as logs:
        runners.announce_sandbox(setting)
    assert (logs[0]["log_level"], logs[0]["setting"]) == (level, setting)
    assert (advice or "") in (logs[0]["advice"] or "")
    assert (logs[0]["advice"] is None) == (advice is None)


def test_sandbox_is_optional_with_embedded_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded_services = EmbeddedServices("a", "b", {"web": "c"})
    monkeypatch.delenv("ANONCUP_SANDBOX", raising=False)
    assert build_sandbox_env(EmbeddedServices("a", "b")) == {}
    assert build_sandbox_env(embedded_services) == {"ANONCUP_SANDBOX": "wanted"}
    assert Settings().sandbox == "required"
    monkeypatch.setenv("ANONCUP_SANDBOX", "required")
    assert build_sandbox_env(embedded_services) == {"ANONCUP_SANDBOX": "required"}


def test_sandbox_is_not_entered_while_another_thread_runs() -> None:
    """A sandbox does not apply to threads that already run."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()  # its thread waits for another task
        with pytest.raises(SandboxError, match="another thread"):
            sandbox.enter(FULL_SANDBOX, None)


@pytest.mark.parametrize("processor", HEADERS)
def test_system_call_numbers_match_the_kernel_headers(processor: str) -> None:
    if not HEADERS[processor].exists():
        pytest.skip("the kernel's headers are not installed")
    column = list(HEADERS).index(processor)
    definitions = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", HEADERS[processor].read_text())
    kernel_numbers = {name: int(number) for name, number in definitions}
    kernel_numbers.setdefault("newfstatat", kernel_numbers.get("fstatat", -1))
    listed_calls = UNCONDITIONAL_CALLS | CONDITIONAL_CALLS | INTERPRETER_CALLS | GUARDED_INTERPRETER_CALLS
    for name, numbers in listed_calls.items():
        assert numbers[column] == kernel_numbers.get(name), name
    assert seccomp.SECCOMP_NUMBERS[processor] == kernel_numbers["seccomp"]
    assert kernel_numbers["landlock_create_ruleset"] == landlock.CREATE_RULESET


@dataclass(frozen=True)
class KernelCall:
    """The data of a system call that the kernel passes to a filter."""

    number: int
    arguments: tuple[int, ...] = ()
    audit: int = seccomp.AUDIT_ARCHITECTURES["x86_64"]

    def word(self, offset: int) -> int:
        if offset < 16:
            return (self.number, 0, 0, 0)[offset // 4] if offset == 0 else self.audit
        index, half = divmod(offset - 16, 8)
        value = (*self.arguments, *[0] * 6)[index]
        return (value >> 32 if half else value) & 0xFFFFFFFF


def run_filter(kernel_call: KernelCall, program: list[tuple[int, int, int, int]]) -> int:
    """Run the filter as the kernel does. Return its action."""
    position, accumulator = 0, 0
    while True:
        operation, jump_if_true, jump_if_false, operand = program[position]
        position += 1
        if operation == seccomp.LOAD:
            accumulator = kernel_call.word(operand)
        elif operation == seccomp.AND:
            accumulator &= operand
        elif operation == seccomp.IF_EQUAL:
            position += jump_if_true if accumulator == operand else jump_if_false
        elif operation == seccomp.IF_AT_LEAST:
            position += jump_if_true if accumulator >= operand else jump_if_false
        else:
            return operand


def build_filter(kind: str, processor: str = "x86_64") -> list[tuple[int, int, int, int]]:
    return build_program(processor, pid=7) if kind == "child" else build_interpreter_program(processor)


NOT_IMPLEMENTED, NOT_PERMITTED = seccomp.FAIL | seccomp.ENOSYS, seccomp.FAIL | seccomp.EPERM


@pytest.mark.parametrize("processor", seccomp.AUDIT_ARCHITECTURES)
@pytest.mark.parametrize(
    ("kind", "calls", "guarded_calls"),
    [
        ("child", UNCONDITIONAL_CALLS, CONDITIONAL_CALLS),
        ("interpreter", UNCONDITIONAL_CALLS | INTERPRETER_CALLS, GUARDED_INTERPRETER_CALLS),
    ],
    ids=["child", "interpreter"],
)
def test_only_listed_calls_are_allowed(
    processor: str,
    kind: str,
    calls: Mapping[str, tuple[int | None, int | None]],
    guarded_calls: Mapping[str, tuple[int, int]],
) -> None:
    column = list(seccomp.AUDIT_ARCHITECTURES).index(processor)
    audit = seccomp.AUDIT_ARCHITECTURES[processor]
    plain = {numbers[column] for numbers in calls.values()}
    guarded = {numbers[column] for numbers in guarded_calls.values()}
    program = build_filter(kind, processor)
    for number in range(600):
        action = run_filter(KernelCall(number, (0x20000009, 9, 0x7000200, 9), audit), program)
        expected = (
            seccomp.ALLOW if number in plain else NOT_PERMITTED if number in guarded else NOT_IMPLEMENTED
        )
        assert action == expected, number
    assert run_filter(KernelCall(0x40000000, (), audit), program) == NOT_IMPLEMENTED
    compat_audit = 0x40000003  # 32 bits
    assert run_filter(KernelCall(0, (), compat_audit), program) == seccomp.KILL


@pytest.mark.parametrize(
    ("kind", "name", "allowed", "forbidden"),
    [
        (
            "child",
            "openat",
            [(0, 0, 0), (0, 0, 0o1101), (0, 0, 0x202), (0, 0, 0x80000)],
            [(0, 0, 0x200), (0, 0, 0x203)],
        ),
        ("child", "fcntl", [(5, 1), (5, 1030)], [(5, 6), (5, 8), (5, 10), (5, 1033)]),
        ("child", "ioctl", [(0, 0x5401)], [(0, 0x5412), (0, 0x541C)]),
        ("child", "prctl", [(15,), (0x53564D41,)], [(1, 0), (4,), (22,), (38,)]),
        ("child", "prlimit64", [(0, 7, 0, 1)], [(0, 7, 1, 0), (0, 7, 1 << 32, 0), (9, 7, 0, 1)]),
        ("child", "clone", [(0x3D0F00,)], [(17,), (0x3D0F00 | 0x10000000,), (0x3D0F00 | 0x2000,), (0x4111,)]),
        ("child", "kill", [(7, 9)], [(8, 9), (0, 9), (0xFFFFFFFF, 9), (0xFFFFFFF9, 9)]),
        ("child", "tgkill", [(7, 8, 9)], [(8, 8, 9)]),
        ("interpreter", "openat", [(0, 0, 0), (0, 0, 0x202)], [(0, 0, 0x200)]),
        ("interpreter", "ioctl", [(0, 0x5401)], [(0, 0x5412)]),
        ("interpreter", "prlimit64", [(0, 7, 1, 0)], [(9, 7, 1, 0)]),
        ("interpreter", "clone", [(17,), (0x3D0F00,)], [(0x10000011,), (0x2011,)]),
        ("interpreter", "setpriority", [(0, 0, 5)], [(0, 9, 5), (1, 0, 5), (2, 0, 5)]),
        ("interpreter", "socketpair", [(1, 5), (1, 0x80805)], [(1, 1), (1, 2), (2, 5), (1, 0x80002)]),
    ],
)
def test_guarded_calls_are_allowed_only_with_certain_arguments(
    kind: str, name: str, allowed: list[tuple[int, ...]], forbidden: list[tuple[int, ...]]
) -> None:
    number, program = (CONDITIONAL_CALLS | GUARDED_INTERPRETER_CALLS)[name][0], build_filter(kind)
    assert {run_filter(KernelCall(number, arguments), program) for arguments in allowed} == {seccomp.ALLOW}
    assert {run_filter(KernelCall(number, arguments), program) for arguments in forbidden} == {NOT_PERMITTED}
