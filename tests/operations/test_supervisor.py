"""The supervisor with real child processes, which are killed by the tests."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.errors import Unavailable
from app.operations import supervisor as processes
from app.operations.supervisor import (
    Program,
    Supervisor,
    check_port_is_free,
    run,
    supervise,
)
from tests.support.wait import TIMEOUT_S, is_running, poll_until

pytestmark = pytest.mark.full

SLEEP_COMMAND = ["/bin/sleep", "600"]
SIGTERM_IGNORING_COMMAND = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)",
]
FORKING_COMMAND = ["/bin/sh", "-c", "sleep 601 & echo $!; wait"]

SUPERVISOR_PROGRAM = """
import signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)  # nohup, or a shell's background, may have it ignore them
from app.operations.supervisor import Program, stop_on_signals, supervise
programs = [
    Program(name=str(number), command=eval(command), grace_s=1.0)
    for number, command in enumerate(sys.argv[1:])
]
with stop_on_signals():
    with supervise(programs) as supervisor:
        print(*supervisor.get_pids().values(), flush=True)
        supervisor.wait()
print("tidy", flush=True)
"""


@contextmanager
def start_supervisor(*programs: list[str]) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a process that supervises the programs. Yield it and their process numbers."""
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR_PROGRAM, *map(repr, programs)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        # By then the launcher has become the program, with its own handling of signals.
        assert poll_until(lambda: all(b"child_process" not in read_command_line(pid) for pid in pids))
        try:
            yield process, pids
        finally:
            process.kill()


def read_command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def is_ignoring(pid: int, number: signal.Signals) -> bool:
    (mask,) = re.findall(r"SigIgn:\t(\w+)", Path(f"/proc/{pid}/status").read_text())
    return bool(int(mask, 16) >> (number - 1) & 1)


def wait_for_end(pids: list[int]) -> bool:
    return poll_until(lambda: not any(is_running(pid) for pid in pids))


def check_before(supervisor: Supervisor, condition: Callable[[], bool]) -> Callable[[], bool]:
    def check_first() -> bool:
        supervisor.restart_ended()
        return condition()

    return check_first


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_the_children_and_then_the_command(number: signal.Signals) -> None:
    with start_supervisor(SLEEP_COMMAND, SLEEP_COMMAND) as (process, pids):
        assert len(pids) == 2
        process.send_signal(number)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        assert (output, process.returncode) == ("tidy\n", 0)
        assert wait_for_end(pids)


def test_second_ctrl_c_leaves_no_orphans() -> None:
    with start_supervisor(SIGTERM_IGNORING_COMMAND, SLEEP_COMMAND) as (process, pids):
        assert poll_until(lambda: is_ignoring(pids[0], signal.SIGTERM))
        process.send_signal(signal.SIGINT)
        assert poll_until(lambda: not is_running(pids[1]))
        for _ in range(2):  # while it waits for the other
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        assert (output, process.returncode) == ("tidy\n", 0)
        assert wait_for_end(pids)


def test_killed_command_ends_its_children() -> None:
    with start_supervisor(SLEEP_COMMAND, SLEEP_COMMAND) as (process, pids):
        process.kill()
        assert wait_for_end(pids)


def test_descendants_of_killed_and_stopped_children_end(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def read_pools() -> list[int]:
        return [int(line) for line in log.read_text().split("\n")[:-1]] if log.exists() else []

    with supervise([Program(name="worker", command=FORKING_COMMAND, log=log)]) as supervisor:
        assert poll_until(lambda: len(read_pools()) == 1)
        os.kill(supervisor.get_pids()["worker"], signal.SIGKILL)
        assert poll_until(check_before(supervisor, lambda: not is_running(read_pools()[0])))
        assert poll_until(check_before(supervisor, lambda: len(read_pools()) == 2))
    assert wait_for_end(read_pools())


def test_restarts_of_a_failing_child_slow_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MIN_RESTART_PAUSE_S", 0.05)
    monkeypatch.setattr(processes, "MAX_RESTART_PAUSE_S", 0.2)
    log, pauses = tmp_path / "log", list[str]()
    monkeypatch.setattr(processes.logger, "warning", lambda _, text: pauses.append(text))
    program = Program(name="worker", command=["/bin/echo", "tried"], log=log)
    with supervise([program]) as supervisor:
        assert poll_until(check_before(supervisor, lambda: len(pauses) == 5))
    assert [re.findall(r"in ([\d.]+) s", text)[0] for text in pauses] == ["0.1", "0.1", "0.2", "0.2", "0.2"]
    assert log.read_text().count("tried") == 5
    assert str(log) in pauses[0]


def test_only_a_taken_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(Unavailable, match=rf"127.0.0.1 port {port}: Address already in use.*PORT="):
            check_port_is_free("127.0.0.1", port)
    check_port_is_free("127.0.0.1", port)


def test_foreground_program_returns_its_exit_status(capfd: pytest.CaptureFixture[str]) -> None:
    run(Program(name="migrations", command=["/bin/sh", "-c", "echo $CUP"], env={"CUP": "migrated"}))
    assert capfd.readouterr().out == "migrated\n"
    with pytest.raises(SystemExit, match="3"):
        run(Program(name="migrations", command=["/bin/sh", "-c", "exit 3"]))
