"""Which sandbox is chosen and announced, and the program that the kernel runs for seccomp."""

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli.local_service import sandbox_setting
from app.config import Settings
from app.processes.child_folders import OwnFolder
from app.processes.embedded_servers import Services
from app.processes.sandboxed_child import library_variables
from app.processes.server_process import Server
from workers import readiness, sandbox
from workers.readiness import FOR_REPORTS, FOR_SECRETS
from workers.sandbox import Sandbox, SandboxRefused, calls, landlock, seccomp
from workers.sandbox.calls import GUARDED, PLAIN, guards

pytestmark = pytest.mark.full

BOTH = Sandbox("landlock", "seccomp")
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize(
    ("setting", "wanted"), [("required", BOTH), ("wanted", BOTH), ("off", Sandbox(drops_root=False))]
)
def test_off_builds_none_and_the_others_what_there_is(
    monkeypatch: pytest.MonkeyPatch, setting: str, wanted: Sandbox
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda: BOTH)
    assert sandbox.choose(setting) == wanted


@pytest.mark.parametrize("found", [Sandbox(), Sandbox(files="landlock"), Sandbox(calls="seccomp")], ids=str)
def test_a_worker_without_a_sandbox_takes_no_work_unless_it_was_told_to(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, found: Sandbox
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda: found)
    for kind in (FOR_SECRETS, FOR_REPORTS):
        assert "cannot be sandboxed" in (kind.wanting() or "")
    for setting in ("wanted", "off"):
        told = settings.model_copy(update={"sandbox": setting})
        monkeypatch.setattr(readiness, "get_settings", lambda told=told: told)
        assert (FOR_SECRETS.wanting(), FOR_REPORTS.wanting()) == (None, None)


@pytest.mark.parametrize("name", ["data", "opening_keys_dir"])
def test_a_worker_whose_files_lie_where_the_sandbox_may_read_takes_no_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda: BOTH)
    told = settings.model_copy(update={name: Path("/usr/lib/anoncup/../contest")})
    monkeypatch.setattr(readiness, "get_settings", lambda: told)
    assert "lies in /usr/lib, which the scoring process may read" in (FOR_SECRETS.wanting() or "")
    monkeypatch.setattr(readiness, "get_settings", lambda: settings)
    assert FOR_SECRETS.wanting() is None


def test_it_logs_the_sandbox_and_warns_where_a_part_is_missing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from app import logs

    logs.configure()
    caplog.set_level(logging.INFO)
    logging.getLogger().addHandler(caplog.handler)
    for found, setting, level, words in (
        (BOTH, "required", "INFO", "landlock, seccomp"),
        (Sandbox(), "wanted", "WARNING", "Landlock (Linux 5.13 or newer) is missing"),
        (Sandbox(files="landlock"), "wanted", "WARNING", "seccomp is missing"),
        (BOTH, "off", "WARNING", "'standing': 'none"),
    ):
        caplog.clear()
        monkeypatch.setattr(sandbox, "available", lambda found=found: found)
        sandbox.announce(setting)
        (record,) = [one for one in caplog.records if one.name == "workers.sandbox"]
        assert record.levelname == level
        assert words in str(record.msg)


def test_with_its_own_servers_the_sandbox_is_wanted_and_not_required(monkeypatch: pytest.MonkeyPatch) -> None:
    given, own = Services("a", "b"), Services("a", "b", (object.__new__(Server),))
    monkeypatch.delenv("ANONCUP_SANDBOX", raising=False)
    assert (sandbox_setting(given), sandbox_setting(own)) == ({}, {"ANONCUP_SANDBOX": "wanted"})
    monkeypatch.setenv("ANONCUP_SANDBOX", "required")
    assert sandbox_setting(own) == {"ANONCUP_SANDBOX": "required"}
    monkeypatch.delenv("ANONCUP_SANDBOX")
    assert Settings().sandbox == "required"


def test_no_sandbox_is_entered_while_another_thread_runs(tmp_path: Path) -> None:
    """This process has some, or gets one here: it would stay outside."""
    import threading

    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with pytest.raises(SandboxRefused, match="another thread"):
            sandbox.enter(BOTH, folder=tmp_path)
    finally:
        done.set()
        thread.join()


def test_what_a_child_imports_starts_no_thread() -> None:
    import subprocess
    import sys

    program = """
import os, workers.scorer
from anoncup.geometry import kernels
import numba, numpy, pandas, pyarrow.csv, pyarrow.compute
import scipy.optimize, scipy.sparse, scipy.spatial, scipy.stats
print(len(os.listdir("/proc/self/task")))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=library_variables(), capture_output=True, check=True
    )
    assert done.stdout == b"1\n"


def test_folders_whose_owner_is_gone_are_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    held, gone = OwnFolder(), OwnFolder()
    (gone.path / "left").write_text("behind")
    os.close(gone.lock)  # as when its process was killed
    other = OwnFolder()
    assert sorted(tmp_path.iterdir()) == sorted([held.path, other.path])
    held.remove()
    other.remove()
    assert not list(tmp_path.iterdir())


def test_a_newer_landlock_governs_more() -> None:
    assert [landlock.governed(known) for known in (1, 2, 3, 4, 5, 99)] == [
        (1 << rights) - 1 for rights in (13, 14, 15, 15, 16, 16)
    ]
    assert not landlock.OWN & 1  # running a program is granted nowhere


@pytest.mark.parametrize("processor", HEADERS)
def test_the_numbers_of_the_calls_are_the_kernels(processor: str) -> None:
    if not HEADERS[processor].exists():
        pytest.skip("the kernel's headers are not installed")
    column = list(HEADERS).index(processor)
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", HEADERS[processor].read_text())
    known = {name: int(number) for name, number in found}
    known.setdefault("newfstatat", known.get("fstatat", -1))
    for name, numbers in {**PLAIN, **GUARDED}.items():
        assert numbers[column] == known.get(name), name
    assert seccomp.CALL[processor] == known["seccomp"]
    assert known["landlock_create_ruleset"] == landlock.CREATE_RULESET


@dataclass(frozen=True)
class Called:
    """What the kernel shows to a filter."""

    number: int
    arguments: tuple[int, ...] = ()
    audit: int = seccomp.AUDIT["x86_64"]

    def word(self, offset: int) -> int:
        if offset < 16:
            return (self.number, 0, 0, 0)[offset // 4] if offset == 0 else self.audit
        place, half = divmod(offset - 16, 8)
        value = (*self.arguments, *[0] * 6)[place]
        return (value >> 32 if half else value) & 0xFFFFFFFF


def answer(called: Called, processor: str = "x86_64", pid: int = 7) -> int:
    """What the filter answers, as the kernel would run it."""
    program, place, loaded = seccomp.program(processor, pid), 0, 0
    while True:
        operation, so, not_so, operand = program[place]
        place += 1
        if operation == seccomp.LOAD:
            loaded = called.word(operand)
        elif operation == seccomp.AND:
            loaded &= operand
        elif operation == seccomp.IF_EQUAL:
            place += so if loaded == operand else not_so
        elif operation == seccomp.IF_AT_LEAST:
            place += so if loaded >= operand else not_so
        else:
            return operand


ABSENT, FORBIDDEN = seccomp.FAIL | seccomp.ENOSYS, seccomp.FAIL | seccomp.EPERM


@pytest.mark.parametrize("processor", seccomp.AUDIT)
def test_only_calls_that_are_written_down_are_there(processor: str) -> None:
    column = list(seccomp.AUDIT).index(processor)
    audit = seccomp.AUDIT[processor]
    plain = {numbers[column] for numbers in PLAIN.values()}
    guarded = {numbers[column] for numbers in GUARDED.values()}
    for number in range(600):
        found = answer(Called(number, (9, 9, 0x7000200, 9), audit), processor)
        expected = seccomp.ALLOW if number in plain else FORBIDDEN if number in guarded else ABSENT
        assert found == expected, number
    assert answer(Called(0x40000000, (), audit), processor) == ABSENT
    other = 0x40000003  # 32 bits
    assert answer(Called(0, (), other), processor) == seccomp.KILL


@pytest.mark.parametrize(
    ("name", "allowed", "forbidden"),
    [
        (
            "openat",
            [(0, 0, 0), (0, 0, 0o1101), (0, 0, 0x202), (0, 0, 0x80000)],
            [(0, 0, 0x200), (0, 0, 0x203)],
        ),
        ("fcntl", [(5, 1), (5, 1030)], [(5, 6), (5, 8), (5, 10), (5, 1033)]),
        ("ioctl", [(0, 0x5401)], [(0, 0x5412), (0, 0x541C)]),
        ("prctl", [(15,), (0x53564D41,)], [(1, 0), (4,), (22,), (38,)]),
        ("prlimit64", [(0, 7, 0, 1)], [(0, 7, 1, 0), (0, 7, 1 << 32, 0), (9, 7, 0, 1)]),
        ("clone", [(0x3D0F00,)], [(17,), (0x3D0F00 | 0x10000000,), (0x3D0F00 | 0x2000,), (0x4111,)]),
        ("kill", [(7, 9)], [(8, 9), (0, 9), (0xFFFFFFFF, 9), (0xFFFFFFF9, 9)]),
        ("tgkill", [(7, 8, 9)], [(8, 8, 9)]),
    ],
)
def test_a_guarded_call_is_allowed_for_some_arguments_only(
    name: str, allowed: list[tuple[int, ...]], forbidden: list[tuple[int, ...]]
) -> None:
    number = GUARDED[name][0]
    assert {answer(Called(number, one)) for one in allowed} == {seccomp.ALLOW}
    assert {answer(Called(number, one)) for one in forbidden} == {FORBIDDEN}


def test_every_guarded_call_has_a_guard() -> None:
    assert guards(7).keys() == GUARDED.keys()
    assert not GUARDED.keys() & PLAIN.keys()
    assert calls.THREAD & calls.NOT_OF_A_THREAD == 0
