"""Strangers' code in the scoring child: what it really tries, in a real sandbox."""

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

from app.config import Settings
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.processes.child_entry import LIMITS
from app.processes.embedded_servers import Services
from app.storage import store
from tests.support.arena import Arena
from tests.support.forbidden_actions import NUMBERS
from tests.support.hostile_scorer import Deed
from tests.support.wait import PATIENCE_S, eventually
from workers import child_manager, score
from workers.child_manager import ScoringFailed
from workers.sandbox import landlock, privileges, seccomp

PRIVATE = "/etc/passwd"


@pytest.fixture(scope="module", autouse=True)
def taken_over() -> Iterator[None]:
    """This process's scoring child does deeds."""
    if not (seccomp.works() and landlock.version()):
        pytest.skip("the sandbox needs seccomp, and Linux 5.13 with Landlock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_manager, "PROGRAM", "tests.support.hostile_scorer")
        child_manager.keeper.discard()
        yield
        child_manager.keeper.discard()


@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.full)], ids=["main thread", "other thread"]
)
def apart(request: pytest.FixtureRequest) -> bool:
    """In the process's first thread, or in one that it starts."""
    return bool(request.param)


def tried(
    name: str, *arguments: Any, apart: bool = False, settings: Settings | None = None
) -> dict[str, Any]:
    chosen = settings or Settings()
    return child_manager.evaluate(Deed(name, list(arguments), apart), chosen, warm=False).content


def denied(name: str, *arguments: Any, apart: bool = False) -> bool:
    found = tried(name, *arguments, apart=apart)
    return set(found) == {"denied"}


def process() -> int:
    assert child_manager.keeper.child is not None
    return child_manager.keeper.child.process.pid


def key(settings: Settings) -> str:
    assert settings.opening_keys_dir is not None
    return str(next(settings.opening_keys_dir.iterdir()))


def in_its_folder(name: str) -> str:
    tried("nothing")
    assert child_manager.keeper.child is not None
    return str(child_manager.keeper.child.folder.path / name)


def test_it_computes_and_reads_its_libraries() -> None:
    assert tried("nothing") == {"done": "None"}
    assert "done" in tried("read", json.__file__)
    assert "done" in tried("read", score.__file__)


@pytest.mark.full
def test_it_has_a_folder_of_its_own_which_goes_with_it() -> None:
    notes = in_its_folder("notes")
    assert tried("write", notes) == {"done": "4"}
    assert "done" in tried("read", notes)
    assert denied("symlink", PRIVATE, in_its_folder("other"))
    assert denied("folder", in_its_folder("deeper"))
    child_manager.keeper.discard()
    assert not Path(notes).parent.exists()


def test_it_reads_neither_keys_nor_files_nor_what_lies_about(settings: Settings, apart: bool) -> None:
    digest = store().put(b"another team's release")
    (blob,) = settings.data.rglob(digest)
    for path in (key(settings), str(blob), PRIVATE, "/etc/hostname", "/root/.profile"):
        assert denied("read", path, apart=apart), path
    for folder in (str(Path.home()), "/etc", "/tmp", str(settings.data)):
        found = tried("list", folder, apart=apart)
        assert not {"passwd", ".profile", "blobs", "private"} & set(str(found.get("done")).split("'")), folder


@pytest.mark.full
def test_it_gets_of_the_store_what_its_work_names_and_nothing_else(settings: Settings) -> None:
    digest = store().put(b"another team's release")
    with pytest.raises(ScoringFailed, match="internal error"):
        tried("fetch", digest, settings=settings)
    assert tried("nothing") == {"done": "None"}


def test_it_reads_and_writes_nothing_of_its_parent(apart: bool) -> None:
    for name in ("environ", "mem", "maps", "cmdline", "fd/0", "cwd/README.md", "root/etc/passwd"):
        assert denied("read", f"/proc/{os.getpid()}/{name}", apart=apart), name
    assert denied("call", "process_vm_readv", os.getpid(), 0, 0, 0, 0, 0, apart=apart)
    for request in (0x4206, 16):  # PTRACE_SEIZE, PTRACE_ATTACH
        assert denied("call", "ptrace", request, os.getpid(), 0, 0, apart=apart)
    assert denied("read_limit_of", os.getpid(), apart=apart)


def test_it_writes_nowhere_else(tmp_path: Path, apart: bool) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"untouched")
    library = child_manager.__file__
    for path in (
        str(mine),
        str(tmp_path / "new"),
        library,
        "/tmp/new",
        "/dev/shm/new",
        "/proc/self/oom_score_adj",
    ):
        assert denied("append", path, apart=apart), path
    for name in ("truncate", "remove"):
        assert denied(name, str(mine), apart=apart)
        assert denied(name, library, apart=apart)
    assert denied("link", library, str(tmp_path / "linked"), apart=apart)
    assert denied("mode", library, 0o777, apart=apart)
    assert (mine.read_bytes(), sorted(tmp_path.iterdir())) == (b"untouched", [mine])


@pytest.mark.full
def test_it_writes_no_compiled_code_for_others(apart: bool) -> None:
    from anoncup.geometry import kernels

    folder = Path(kernels.__file__).parent / "__pycache__"
    assert denied("write", str(folder / "planted.nbc"), apart=apart)
    assert not (folder / "planted.nbc").exists()


@pytest.fixture
def listening() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield "127.0.0.1", made.getsockname()[1]


def sockets(services: Services) -> list[str]:
    """Postgres' and Valkey's."""
    parent = Path(services.redis_url.partition("://")[2].partition("?")[0]).parent
    return [str(path) for path in parent.parent.rglob("*") if path.is_socket()]


def test_it_reaches_no_network(listening: tuple[str, int], services: Services, apart: bool) -> None:
    inet, unix, stream, gram = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
    assert denied("connect", inet, stream, list(listening), apart=apart)
    assert denied("connect", inet, gram, list(listening), apart=apart)
    assert denied("connect", socket.AF_INET6, stream, ["::1", listening[1]], apart=apart)
    assert len(sockets(services)) >= 2
    for path in sockets(services):
        assert denied("connect", unix, stream, path, apart=apart), path
    assert denied("connect", unix, stream, "\0abstract", apart=apart)


def test_it_starts_nothing(apart: bool) -> None:
    for name in ("start_program", "replace_program"):
        assert denied(name, "/bin/true", apart=apart)
        assert denied(name, sys.executable, apart=apart)
    assert denied("fork", apart=apart)
    assert denied("fork_often", apart=apart)


def test_it_signals_nobody(apart: bool) -> None:
    for number in (0, signal.SIGKILL, signal.SIGSTOP):
        assert denied("kill", os.getpid(), number, apart=apart)
        assert denied("group", os.getpgid(0), number, apart=apart)
        assert denied("kill", -1, number, apart=apart)
        assert denied("call", "tkill", os.getpid(), int(number), apart=apart)
    assert denied("signals", os.getpid(), apart=apart)
    assert denied("outlive", apart=apart)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(NUMBERS.keys() - {"ptrace", "process_vm_readv", "tkill"}))
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_other_calls_are_not_there(name: str, apart: bool) -> None:
    assert tried("call", name, 0, 0, 0, 0, 0, apart=apart) == {
        "denied": "[Errno 38] Function not implemented"
    }


@pytest.mark.full
def test_it_lifts_no_limit_and_types_into_no_terminal(apart: bool) -> None:
    assert denied("limits", apart=apart)
    assert denied("map_memory", apart=apart)
    assert denied("type_into_terminal", apart=apart)


@pytest.mark.full
def test_of_what_it_shares_with_others_it_takes_little(apart: bool) -> None:
    large = in_its_folder("large")
    assert "done" in tried("fill_file", large, 2**24, apart=apart)
    assert denied("fill_file", large, 2**26 + 2**20, apart=apart)
    assert denied("reserve_disk", large, apart=apart)
    assert denied("lock_file", json.__file__, apart=apart)
    assert denied("open_pipes", 129, apart=apart)
    limits = Path(f"/proc/{process()}/limits").read_text()
    for name, kind in {"core file size": resource.RLIMIT_CORE, "open files": resource.RLIMIT_NOFILE}.items():
        assert re.search(rf"Max {name} +{LIMITS[kind]} +{LIMITS[kind]} ", limits)
    child_manager.keeper.discard()  # it has no descriptors left


def may_mount() -> bool:
    """In a process of its own, for it would stay so."""
    imports = "from pathlib import Path; from workers.sandbox import scratch"
    program = f"{imports}; exit(not scratch.mount(Path('/mnt')))"
    return subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0


@pytest.mark.full
def test_what_it_writes_fills_no_disk_of_others() -> None:
    if not may_mount():
        pytest.skip("mounting a tmpfs needs CAP_SYS_ADMIN, or the right to make user namespaces")
    folder = Path(in_its_folder("0")).parent
    for number in range(4):
        tried("fill_file", str(folder / f"large{number}"), 2**26)
    assert denied("fill_file", str(folder / "more"), 2**20)
    assert denied("create_files", str(folder))
    assert not list(folder.iterdir())  # nobody else sees it
    child_manager.keeper.discard()
    assert not folder.exists()


@pytest.mark.full
def test_all_its_threads_are_sandboxed_and_it_holds_no_file() -> None:
    tried("nothing", apart=True)
    for status in Path(f"/proc/{process()}/task").glob("*/status"):
        told = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        assert (told["Seccomp"], told["NoNewPrivs"]) == ("2", "1")
        assert int(told["CapEff"], 16) in {0, 1 << privileges.CAP_DAC_READ_SEARCH}
    held = {os.readlink(path).partition(":")[0] for path in Path(f"/proc/{process()}/fd").iterdir()}
    assert held == {"pipe", "/dev/null"}


def test_without_a_sandbox_the_same_deeds_are_done(listening: tuple[str, int], services: Services) -> None:
    """Else the tests above would show nothing."""
    child_manager.keeper.discard()
    off = Settings(sandbox="off")
    inet, unix, stream = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM
    for name, arguments in (
        ("read", (PRIVATE,)),
        ("read", (f"/proc/{os.getpid()}/environ",)),
        ("list", (str(Path.home()),)),
        ("connect", (inet, stream, list(listening))),
        ("connect", (unix, stream, sockets(services)[0])),
        ("start_program", ("/bin/true",)),
        ("fork_often", ()),
        ("kill", (os.getpid(), 0)),
        ("read_limit_of", (os.getpid(),)),
        ("signals", (os.getpid(),)),
        ("outlive", ()),
        ("limits", ()),
    ):
        assert set(tried(name, *arguments, settings=off)) == {"done"}, (name, arguments)
    child_manager.keeper.discard()


def limited(settings: Settings, **limits: Any) -> Settings:
    child_manager.keeper.discard()
    return settings.model_copy(update=limits)


@pytest.mark.full
def test_what_it_takes_of_memory_and_time_ends_it(settings: Settings) -> None:
    with pytest.raises(ScoringFailed, match="more memory than the limit of 1500 MB"):
        tried("take_memory", settings=limited(settings, scoring_memory_mb=1500))
    first = tried("nothing", settings=settings), process()
    with pytest.raises(ScoringFailed, match="longer than the limit of 2 s"):
        tried("run_endlessly", settings=settings.model_copy(update={"scoring_time_limit_s": 2}))
    assert eventually(lambda: not Path(f"/proc/{first[1]}").exists())
    child_manager.keeper.discard()


SAID = {
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
OF_EACH_KIND = {"no JSON", "no verdict", "something else", "beyond the last step", "a long line"}


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "times"),
    [
        pytest.param(*said, id=name, marks=() if name in OF_EACH_KIND else pytest.mark.full)
        for name, said in SAID.items()
    ],
)
def test_what_it_says_is_not_believed(text: str, times: int) -> None:
    with pytest.raises(ScoringFailed, match="internal error"):
        tried("speak", text, times)
    assert tried("nothing") == {"done": "None"}


@pytest.mark.full
@pytest.mark.parametrize("text", ['{"failed": "crash", "trace": "\\ud800"}\n', '{"\\ud800": 1}\n'])
def test_half_a_character_in_what_it_says_breaks_no_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    """As on a terminal, which is not JSON."""
    terminal = structlog.wrap_logger(structlog.PrintLogger(), [structlog.dev.ConsoleRenderer()])
    monkeypatch.setattr(child_manager, "log", terminal)
    with pytest.raises(ScoringFailed, match="internal error"):
        tried("speak", text, 1)
    assert "ud800" in capfd.readouterr().out


@pytest.mark.full
def test_who_never_ends_a_line_is_not_listened_to_for_longer_than_one_who_says_nothing() -> None:
    """It could keep its worker for days: there is always more to read."""
    spoken_to = child_manager.keeper.ready(Settings(), warm=False)
    asked = {"kind": "Deed", "name": "speak_endlessly", "arguments": [], "apart": False}
    spoken_to.send(asked, deadline=time.monotonic() + PATIENCE_S)
    assert spoken_to.has_output_within(PATIENCE_S)
    for _ in range(3):
        before = len(spoken_to.received)
        assert spoken_to.read(0, longest=2**30) is None
        assert 0 <= len(spoken_to.received) - before <= 2**20
    child_manager.keeper.discard()


@pytest.mark.full
@pytest.mark.parametrize("text", ['{"verdict": {"done": "forged"}, "scorer": "x"}\n', "half a line"])
def test_what_it_has_said_unasked_is_no_answer_to_what_comes_next(text: str) -> None:
    """Its next work may be another team's."""
    tried("nothing")
    first = process()
    assert child_manager.keeper.child is not None
    asked = {"kind": "Deed", "name": "speak", "arguments": [text, 1], "apart": False}
    child_manager.keeper.child.send(asked, deadline=time.monotonic() + PATIENCE_S)
    assert child_manager.keeper.child.has_output_within(PATIENCE_S)
    assert tried("nothing") == {"done": "None"}
    assert process() != first


def evaluation_of(identifier: str) -> Evaluation:
    with transaction() as session:
        return session.scalars(select(Evaluation).where(Evaluation.submission_id == UUID(identifier))).one()


@pytest.mark.full
def test_a_hostile_measure_reaches_nothing_and_everything_is_scored_as_without_a_sandbox(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It adds 1 to its number for everything that was not denied."""
    child_manager.keeper.discard()
    sent = [arena.submit("red", seed=seed).json()["id"] for seed in (1, 2)]
    for _ in sent:
        score.score()
    sandboxed = [evaluation_of(identifier) for identifier in sent]
    assert [one.state for one in sandboxed] == [State.SCORED, State.SCORED]
    child_manager.keeper.discard()
    monkeypatch.setattr(child_manager, "PROGRAM", "workers.scorer")
    monkeypatch.setattr(score, "get_settings", lambda: settings.model_copy(update={"sandbox": "off"}))
    again = [arena.submit("blue", seed=seed).json()["id"] for seed in (1, 2)]
    for _ in again:
        score.score()
    honest = [evaluation_of(identifier).verdict for identifier in again]
    child_manager.keeper.discard()
    assert [one.verdict for one in sandboxed] == honest
