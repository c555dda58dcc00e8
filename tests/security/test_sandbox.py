"""Hostile code in the scoring child, run in the real sandbox."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import structlog
from sqlalchemy import select

from anoncup.competition.templates import template
from app.config import Settings
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.processes.child_entry import RESOURCE_LIMITS
from app.processes.embedded_servers import EmbeddedServices
from app.storage import get_store
from tests.support.arena import Arena
from tests.support.forbidden_actions import SYSCALL_NUMBERS
from tests.support.hostile_scorer import Deed
from tests.support.wait import TIMEOUT_S, poll_until
from workers import score, scoring_child
from workers.jobs import write_request
from workers.sandbox import landlock, privileges, seccomp
from workers.scoring_child import ScoringError

PRIVATE_FILE = "/etc/passwd"


@pytest.fixture(scope="module", autouse=True)
def hostile_child() -> Iterator[None]:
    """Replace the scoring child of this process by a hostile one."""
    if not (seccomp.is_available() and landlock.get_abi_version()):
        pytest.skip("the sandbox needs seccomp, and Linux 5.13 with Landlock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring_child.slot, "program", "tests.support.hostile_scorer")
        scoring_child.slot.end()
        yield
        scoring_child.slot.end()


@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.full)], ids=["main thread", "other thread"]
)
def in_other_thread(request: pytest.FixtureRequest) -> bool:
    """Whether the hostile action runs in a second thread of the child."""
    return bool(request.param)


def run_deed(
    name: str, *arguments: Any, in_other_thread: bool = False, settings: Settings | None = None
) -> dict[str, Any]:
    used_settings = settings or Settings()
    deed = Deed(template(2015), {}, name, list(arguments), in_other_thread)
    return scoring_child.run(deed, used_settings, warm=False).content


def is_denied(name: str, *arguments: Any, in_other_thread: bool = False) -> bool:
    outcome = run_deed(name, *arguments, in_other_thread=in_other_thread)
    return set(outcome) == {"denied"}


def find_child_pid() -> int:
    assert scoring_child.slot.child is not None
    return scoring_child.slot.child.process.pid


def find_key_file(settings: Settings) -> str:
    assert settings.opening_keys_dir is not None
    return str(next(settings.opening_keys_dir.iterdir()))


def child_path(name: str) -> str:
    run_deed("nothing")
    assert scoring_child.slot.child is not None
    return str(scoring_child.slot.child.folder.path / name)


def test_child_can_compute_and_import_libraries() -> None:
    assert run_deed("nothing") == {"done": "None"}
    assert "done" in run_deed("read", json.__file__)
    assert "done" in run_deed("read", score.__file__)


@pytest.mark.full
def test_child_has_a_private_folder_until_it_ends() -> None:
    notes = child_path("notes")
    assert run_deed("write", notes) == {"done": "4"}
    assert "done" in run_deed("read", notes)
    assert is_denied("symlink", PRIVATE_FILE, child_path("other"))
    assert is_denied("folder", child_path("deeper"))
    scoring_child.slot.end()
    assert not Path(notes).parent.exists()


def test_child_cannot_read_keys_or_other_files(settings: Settings, in_other_thread: bool) -> None:
    digest = get_store().save(b"another team's release")
    (blob,) = settings.data.rglob(digest)
    for path in (find_key_file(settings), str(blob), PRIVATE_FILE, "/etc/hostname", "/root/.profile"):
        assert is_denied("read", path, in_other_thread=in_other_thread), path
    for folder in (str(Path.home()), "/etc", "/tmp", str(settings.data)):
        outcome = run_deed("list", folder, in_other_thread=in_other_thread)
        assert not {"passwd", ".profile", "blobs", "private"} & set(str(outcome.get("done")).split("'")), (
            folder
        )


@pytest.mark.full
def test_child_receives_only_the_files_of_its_job(settings: Settings) -> None:
    digest = get_store().save(b"another team's release")
    with pytest.raises(ScoringError, match="internal error"):
        run_deed("fetch", digest, settings=settings)
    assert run_deed("nothing") == {"done": "None"}


def test_child_cannot_access_its_parent(in_other_thread: bool) -> None:
    for name in ("environ", "mem", "maps", "cmdline", "fd/0", "cwd/README.md", "root/etc/passwd"):
        assert is_denied("read", f"/proc/{os.getpid()}/{name}", in_other_thread=in_other_thread), name
    assert is_denied("call", "process_vm_readv", os.getpid(), 0, 0, 0, 0, 0, in_other_thread=in_other_thread)
    for request in (0x4206, 16):  # PTRACE_SEIZE, PTRACE_ATTACH
        assert is_denied("call", "ptrace", request, os.getpid(), 0, 0, in_other_thread=in_other_thread)
    assert is_denied("read_limit_of", os.getpid(), in_other_thread=in_other_thread)


def test_child_cannot_write_outside_its_folder(tmp_path: Path, in_other_thread: bool) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"untouched")
    library = scoring_child.__file__
    for path in (
        str(mine),
        str(tmp_path / "new"),
        library,
        "/tmp/new",
        "/dev/shm/new",
        "/proc/self/oom_score_adj",
    ):
        assert is_denied("append", path, in_other_thread=in_other_thread), path
    for name in ("truncate", "remove"):
        assert is_denied(name, str(mine), in_other_thread=in_other_thread)
        assert is_denied(name, library, in_other_thread=in_other_thread)
    assert is_denied("link", library, str(tmp_path / "linked"), in_other_thread=in_other_thread)
    assert is_denied("mode", library, 0o777, in_other_thread=in_other_thread)
    assert (mine.read_bytes(), sorted(tmp_path.iterdir())) == (b"untouched", [mine])


@pytest.mark.full
def test_child_cannot_write_cached_machine_code(in_other_thread: bool) -> None:
    from anoncup.geometry import kernels

    folder = Path(kernels.__file__).parent / "__pycache__"
    assert is_denied("write", str(folder / "planted.nbc"), in_other_thread=in_other_thread)
    assert not (folder / "planted.nbc").exists()


@pytest.fixture
def listening_address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "127.0.0.1", server.getsockname()[1]


def list_sockets(services: EmbeddedServices) -> list[str]:
    """Return the paths of the sockets of Postgres and Valkey."""
    parent = Path(services.redis_url.partition("://")[2].partition("?")[0]).parent
    return [str(path) for path in parent.parent.rglob("*") if path.is_socket()]


def test_child_cannot_reach_the_network(
    listening_address: tuple[str, int], services: EmbeddedServices, in_other_thread: bool
) -> None:
    inet, unix, stream, datagram = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
    assert is_denied("connect", inet, stream, list(listening_address), in_other_thread=in_other_thread)
    assert is_denied("connect", inet, datagram, list(listening_address), in_other_thread=in_other_thread)
    assert is_denied(
        "connect", socket.AF_INET6, stream, ["::1", listening_address[1]], in_other_thread=in_other_thread
    )
    assert len(list_sockets(services)) >= 2
    for path in list_sockets(services):
        assert is_denied("connect", unix, stream, path, in_other_thread=in_other_thread), path
    assert is_denied("connect", unix, stream, "\0abstract", in_other_thread=in_other_thread)


def test_child_cannot_start_programs(in_other_thread: bool) -> None:
    for name in ("start_program", "replace_program"):
        assert is_denied(name, "/bin/true", in_other_thread=in_other_thread)
        assert is_denied(name, sys.executable, in_other_thread=in_other_thread)
    assert is_denied("fork", in_other_thread=in_other_thread)
    assert is_denied("fork_often", in_other_thread=in_other_thread)


def test_child_cannot_signal_processes(in_other_thread: bool) -> None:
    for number in (0, signal.SIGKILL, signal.SIGSTOP):
        assert is_denied("kill", os.getpid(), number, in_other_thread=in_other_thread)
        assert is_denied("group", os.getpgid(0), number, in_other_thread=in_other_thread)
        assert is_denied("kill", -1, number, in_other_thread=in_other_thread)
        assert is_denied("call", "tkill", os.getpid(), int(number), in_other_thread=in_other_thread)
    assert is_denied("signals", os.getpid(), in_other_thread=in_other_thread)
    assert is_denied("outlive", in_other_thread=in_other_thread)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(SYSCALL_NUMBERS.keys() - {"ptrace", "process_vm_readv", "tkill"}))
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_other_system_calls_are_not_implemented(name: str, in_other_thread: bool) -> None:
    assert run_deed("call", name, 0, 0, 0, 0, 0, in_other_thread=in_other_thread) == {
        "denied": "[Errno 38] Function not implemented"
    }


@pytest.mark.full
def test_child_cannot_raise_limits_or_type_into_a_terminal(in_other_thread: bool) -> None:
    assert is_denied("limits", in_other_thread=in_other_thread)
    assert is_denied("map_memory", in_other_thread=in_other_thread)
    assert is_denied("type_into_terminal", in_other_thread=in_other_thread)


@pytest.mark.full
def test_child_has_limited_shared_resources(in_other_thread: bool) -> None:
    large = child_path("large")
    assert "done" in run_deed("fill_file", large, 2**24, in_other_thread=in_other_thread)
    assert is_denied("fill_file", large, 2**26 + 2**20, in_other_thread=in_other_thread)
    assert is_denied("reserve_disk", large, in_other_thread=in_other_thread)
    assert is_denied("lock_file", json.__file__, in_other_thread=in_other_thread)
    assert is_denied("open_pipes", 129, in_other_thread=in_other_thread)
    limits = Path(f"/proc/{find_child_pid()}/limits").read_text()
    for name, kind in {"core file size": resource.RLIMIT_CORE, "open files": resource.RLIMIT_NOFILE}.items():
        assert re.search(rf"Max {name} +{RESOURCE_LIMITS[kind]} +{RESOURCE_LIMITS[kind]} ", limits)
    scoring_child.slot.end()  # it has no descriptors left


def can_mount() -> bool:
    """Try to mount in another process, since the mount would remain in this one."""
    imports = "from pathlib import Path; from workers.sandbox import scratch"
    program = f"{imports}; exit(not scratch.mount(Path('/mnt')))"
    return subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0


@pytest.mark.full
def test_child_cannot_fill_a_shared_disk() -> None:
    if not can_mount():
        pytest.skip("mounting a tmpfs needs CAP_SYS_ADMIN, or the right to make user namespaces")
    folder = Path(child_path("0")).parent
    for number in range(4):
        run_deed("fill_file", str(folder / f"large{number}"), 2**26)
    assert is_denied("fill_file", str(folder / "more"), 2**20)
    assert is_denied("create_files", str(folder))
    assert not list(folder.iterdir())  # the mount is visible in the child only
    scoring_child.slot.end()
    assert not folder.exists()


@pytest.mark.full
def test_threads_are_sandboxed_without_open_files() -> None:
    run_deed("nothing", in_other_thread=True)
    for status in Path(f"/proc/{find_child_pid()}/task").glob("*/status"):
        fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        assert (fields["Seccomp"], fields["NoNewPrivs"]) == ("2", "1")
        assert int(fields["CapEff"], 16) in {0, 1 << privileges.CAP_DAC_READ_SEARCH}
    descriptors = {
        os.readlink(path).partition(":")[0] for path in Path(f"/proc/{find_child_pid()}/fd").iterdir()
    }
    assert descriptors == {"pipe", "/dev/null"}


def test_everything_is_possible_without_a_sandbox(
    listening_address: tuple[str, int], services: EmbeddedServices
) -> None:
    """Control experiment: what the tests above forbid works without a sandbox."""
    scoring_child.slot.end()
    unsandboxed = Settings(sandbox="off")
    inet, unix, stream = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM
    for name, arguments in (
        ("read", (PRIVATE_FILE,)),
        ("read", (f"/proc/{os.getpid()}/environ",)),
        ("list", (str(Path.home()),)),
        ("connect", (inet, stream, list(listening_address))),
        ("connect", (unix, stream, list_sockets(services)[0])),
        ("start_program", ("/bin/true",)),
        ("fork_often", ()),
        ("kill", (os.getpid(), 0)),
        ("read_limit_of", (os.getpid(),)),
        ("signals", (os.getpid(),)),
        ("outlive", ()),
        ("limits", ()),
    ):
        assert set(run_deed(name, *arguments, settings=unsandboxed)) == {"done"}, (name, arguments)
    scoring_child.slot.end()


def change_limits(settings: Settings, **limits: Any) -> Settings:
    scoring_child.slot.end()
    return settings.model_copy(update=limits)


@pytest.mark.full
def test_child_is_ended_at_memory_and_time_limits(settings: Settings) -> None:
    with pytest.raises(ScoringError, match="more memory than the limit of 1500 MB"):
        run_deed("take_memory", settings=change_limits(settings, scoring_memory_mb=1500))
    first = run_deed("nothing", settings=settings), find_child_pid()
    with pytest.raises(ScoringError, match="longer than the limit of 2 s"):
        run_deed("run_endlessly", settings=settings.model_copy(update={"scoring_time_limit_s": 2}))
    assert poll_until(lambda: not Path(f"/proc/{first[1]}").exists())
    scoring_child.slot.end()


INVALID_OUTPUTS = {
    "no JSON": ("nonsense\n", 1),
    "a list": ("[1]\n", 1),
    "deep": ("[" * 100_000 + "\n", 1),
    "no verdict": ('{"verdict": 1, "scorer": "x"}\n', 1),
    "NUL": ('{"step": 1, "of": 2, "name": "\\u0000"}\n', 1),
    "a long name": ('{"step": 1, "of": 2, "name": "' + "x" * 101 + '"}\n', 1),
    "something else": ('{"secrets": ["of others"]}\n', 1),
    "beyond the last step": ('{"step": 2, "of": 1, "name": "x"}\n', 1),
    "before the first step": ('{"step": -1, "of": 1, "name": "x"}\n', 1),
    "steps that no column holds": ('{"step": 1, "of": 2147483648, "name": "x"}\n', 1),
    "a step that is no number": ('{"step": true, "of": 1, "name": "x"}\n', 1),
    "that a file cannot be read": ('{"unreadable": true}\n', 1),
    "a long line": ("x" * 2**16, 2**9),
}
QUICK_CASES = {"no JSON", "no verdict", "something else", "beyond the last step", "a long line"}


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "times"),
    [
        pytest.param(*case, id=name, marks=() if name in QUICK_CASES else pytest.mark.full)
        for name, case in INVALID_OUTPUTS.items()
    ],
)
def test_invalid_output_is_rejected(text: str, times: int) -> None:
    with pytest.raises(ScoringError, match="internal error"):
        run_deed("speak", text, times)
    assert run_deed("nothing") == {"done": "None"}


@pytest.mark.full
@pytest.mark.parametrize(
    "text", ['{"failed": "crash", "trace": "\\ud800", "package": ""}\n', '{"\\ud800": 1}\n']
)
def test_lone_surrogate_in_the_output_does_not_break_logging(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    """The test uses the log renderer for terminals, which does not escape like JSON."""
    terminal = structlog.wrap_logger(structlog.PrintLogger(), [structlog.dev.ConsoleRenderer()])
    monkeypatch.setattr(scoring_child, "log", terminal)
    with pytest.raises(ScoringError, match="internal error"):
        run_deed("speak", text, 1)
    assert "ud800" in capfd.readouterr().out


@pytest.mark.full
def test_endless_line_is_subject_to_the_time_limit() -> None:
    """Otherwise the child could occupy its worker for days, because there is always more to read."""
    child = scoring_child.slot.get(Settings(), memory_mb=4096, warm=False)
    request = write_request(Deed("", {}, "speak_endlessly"))
    child.send(request, deadline=time.monotonic() + TIMEOUT_S)
    assert child.has_output_within(TIMEOUT_S)
    for _ in range(3):
        size_before = len(child.buffer)
        assert child.read(0, max_bytes=2**30) is None
        assert 0 <= len(child.buffer) - size_before <= 2**20
    scoring_child.slot.end()


@pytest.mark.full
@pytest.mark.parametrize("text", ['{"verdict": {"done": "forged"}, "scorer": "x"}\n', "half a line"])
def test_unsolicited_output_is_not_taken_for_an_answer(text: str) -> None:
    """The next job may belong to another team."""
    run_deed("nothing")
    first = find_child_pid()
    assert scoring_child.slot.child is not None
    request = write_request(Deed("", {}, "speak", [text, 1]))
    scoring_child.slot.child.send(request, deadline=time.monotonic() + TIMEOUT_S)
    assert scoring_child.slot.child.has_output_within(TIMEOUT_S)
    assert run_deed("nothing") == {"done": "None"}
    assert find_child_pid() != first


def load_evaluation(identifier: str) -> Evaluation:
    with transaction() as session:
        return session.scalars(select(Evaluation).where(Evaluation.submission_id == UUID(identifier))).one()


@pytest.mark.full
def test_hostile_measure_is_contained_and_scores_do_not_change(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measure adds 1 to its value for every hostile action that was not denied."""
    scoring_child.slot.end()
    sandboxed_ids = [arena.submit("red", seed=seed).json()["id"] for seed in (1, 2)]
    for _ in sandboxed_ids:
        score.score()
    sandboxed = [load_evaluation(identifier) for identifier in sandboxed_ids]
    assert [evaluation.state for evaluation in sandboxed] == [State.SCORED, State.SCORED]
    scoring_child.slot.end()
    monkeypatch.setattr(scoring_child.slot, "program", "workers.scorer")
    monkeypatch.setattr(score, "get_settings", lambda: settings.model_copy(update={"sandbox": "off"}))
    honest_ids = [arena.submit("blue", seed=seed).json()["id"] for seed in (1, 2)]
    for _ in honest_ids:
        score.score()
    honest_verdicts = [load_evaluation(identifier).verdict for identifier in honest_ids]
    scoring_child.slot.end()
    assert [evaluation.verdict for evaluation in sandboxed] == honest_verdicts
