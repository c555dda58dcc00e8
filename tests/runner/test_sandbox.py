"""Hostile code in a child of a runner, in the real sandbox."""

import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anoncup.runner import child, sandbox
from anoncup.runner.child import RESOURCE_LIMITS
from anoncup.runner.client import Runner
from anoncup.runner.sandbox import Sandbox, landlock, privileges, seccomp
from app.config import Settings
from app.core.storage import get_store
from app.operations.embedded_servers import EmbeddedServices
from tests.support.hostile_jobs import Deed, FindWords, Identify, TakeMoreThreads, TakeThreads
from tests.support.runners import LIMITS, find_template, open_runner, read_status
from tests.support.wait import poll_until

PRIVATE_FILE = "/etc/passwd"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    if not (seccomp.is_available() and landlock.get_abi_version()):
        pytest.skip("the sandbox needs seccomp, and Linux 5.13 with Landlock")
    with open_runner("required") as opened:
        yield opened


@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.full)], ids=["main thread", "other thread"]
)
def in_other_thread(request: pytest.FixtureRequest) -> bool:
    """Whether the hostile action runs in a second thread of the child."""
    return bool(request.param)


class Child:
    """Tries actions in a child, by default in its main thread."""

    def __init__(self, runner: Runner, *, in_thread: bool = False) -> None:
        self.runner, self.in_thread = runner, in_thread

    def run(self, name: str, *arguments: Any) -> dict[str, str]:
        return self.runner.run(Deed(name=name, arguments=arguments, in_thread=self.in_thread), LIMITS)

    def is_denied(self, name: str, *arguments: Any) -> bool:
        return set(self.run(name, *arguments)) == {"denied"}

    def find_pid(self) -> int:
        return int(self.run("identify")["done"])


@pytest.fixture
def hostile(runner: Runner, in_other_thread: bool) -> Child:
    return Child(runner, in_thread=in_other_thread)


def list_private_paths(settings: Settings) -> list[str]:
    """Return keys, another team's release, passwords of the database and files of the system."""
    digest = get_store().save(b"another team's release")
    assert settings.opening_keys_dir is not None
    paths = [
        *settings.opening_keys_dir.iterdir(),
        *settings.data.rglob(digest),
        *settings.data.rglob("pgpass"),
        PRIVATE_FILE,
        "/etc/shadow",
        "/etc/hostname",
        "/root/.profile",
        "README.md",
        str(Path.cwd() / "README.md"),
    ]
    assert any(str(path).endswith(digest) for path in paths)
    return [str(path) for path in paths]


def test_child_can_compute_and_import_libraries(runner: Runner) -> None:
    hostile = Child(runner)
    assert hostile.run("nothing") == {"done": "None"}
    assert "done" in hostile.run("read", os.__file__)
    assert "done" in hostile.run("read", child.__file__)


def test_child_cannot_read_keys_uploads_or_system_files(settings: Settings, hostile: Child) -> None:
    for path in list_private_paths(settings):
        assert hostile.is_denied("read", path), path
    for folder in ("/", "/etc", "/tmp", "/home", str(Path.home()), str(settings.data), str(Path.cwd())):
        assert hostile.is_denied("list", folder), folder


def test_child_cannot_access_other_processes(runner: Runner, hostile: Child) -> None:
    hostile.run("nothing")
    for pid in (1, os.getpid(), find_template(runner).pid):
        for name in ("environ", "mem", "maps", "cmdline", "fd/0", "cwd/README.md", "root/etc/passwd"):
            assert hostile.is_denied("read", f"/proc/{pid}/{name}"), (pid, name)
        assert hostile.is_denied("call", "process_vm_readv", pid, 0, 0, 0, 0, 0)
        for request in (0x4206, 16):  # PTRACE_SEIZE, PTRACE_ATTACH
            assert hostile.is_denied("call", "ptrace", request, pid, 0, 0)
        assert hostile.is_denied("read_limit_of", pid)


@pytest.mark.full
def test_memory_contains_no_addresses_or_keys(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "AWS_SECRET_ACCESS_KEY", "ANONCUP_METRICS_TOKEN"):
        monkeypatch.setenv(name, "confidential")
    words = ["confidential", settings.database_url, settings.redis_url, str(settings.data), "DATABASE"]
    with open_runner() as fresh:
        assert fresh.run(FindWords(words=words), LIMITS) == []
        environment = find_template(fresh).environ()
    assert not any(word in str(environment) for word in words)


def test_child_cannot_write(tmp_path: Path, hostile: Child) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"untouched")
    library = Path(child.__file__)
    for path in (
        mine,
        tmp_path / "new",
        library,
        library.with_name("new.py"),
        Path.cwd() / "new.py",
        Path(sys.prefix, "lib", "new.py"),
        "/usr/lib/new",
        "/tmp/new",
        "/dev/shm/new",
        "/proc/self/oom_score_adj",
    ):
        assert hostile.is_denied("append", str(path)), path
    for name in ("truncate", "remove"):
        assert hostile.is_denied(name, str(mine))
        assert hostile.is_denied(name, str(library))
    assert hostile.is_denied("link", str(library), str(tmp_path / "linked"))
    assert hostile.is_denied("symlink", PRIVATE_FILE, str(tmp_path / "linked"))
    assert hostile.is_denied("folder", str(tmp_path / "deeper"))
    assert hostile.is_denied("mode", str(library), 0o777)
    assert hostile.is_denied("reserve_disk", str(tmp_path / "large"))
    assert (mine.read_bytes(), sorted(tmp_path.iterdir())) == (b"untouched", [mine])


@pytest.fixture
def listening_address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "127.0.0.1", server.getsockname()[1]


def list_sockets(services: EmbeddedServices) -> list[str]:
    """Return the paths of the sockets of Postgres and Valkey."""
    parent = Path(services.redis_url.partition("://")[2].partition("?")[0]).parent
    return [str(path) for path in parent.parent.rglob("*") if path.is_socket()]


def test_child_cannot_reach_the_network(
    listening_address: tuple[str, int], services: EmbeddedServices, hostile: Child
) -> None:
    inet, unix, stream, datagram = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
    assert hostile.is_denied("connect", inet, stream, list(listening_address))
    assert hostile.is_denied("connect", inet, datagram, list(listening_address))
    assert hostile.is_denied("connect", socket.AF_INET6, stream, ["::1", listening_address[1]])
    assert len(list_sockets(services)) >= 2
    for path in list_sockets(services):
        assert hostile.is_denied("connect", unix, stream, path), path
    assert hostile.is_denied("connect", unix, stream, "\0abstract")


def test_child_cannot_start_programs(hostile: Child) -> None:
    for name in ("start_program", "replace_program"):
        assert hostile.is_denied(name, "/bin/true")
        assert hostile.is_denied(name, sys.executable)
    assert hostile.is_denied("fork")
    assert hostile.is_denied("fork_often")


def test_child_cannot_signal_processes(runner: Runner, hostile: Child) -> None:
    hostile.run("nothing")
    for pid in (os.getpid(), find_template(runner).pid):
        for number in (0, signal.SIGKILL, signal.SIGSTOP):
            assert hostile.is_denied("kill", pid, number)
            assert hostile.is_denied("group", os.getpgid(pid), number)
            assert hostile.is_denied("kill", -1, number)
            assert hostile.is_denied("call", "tkill", pid, int(number))
        assert hostile.is_denied("signals", pid)
    assert hostile.is_denied("outlive")


@pytest.mark.full
def test_child_has_limited_shared_resources(hostile: Child) -> None:
    for name in ("limits", "map_memory", "type_into_terminal"):
        assert hostile.is_denied(name)
    assert hostile.is_denied("lock_file", os.__file__)
    limits = Path(f"/proc/{hostile.find_pid()}/limits").read_text()
    for name, kind in {"core file size": resource.RLIMIT_CORE, "open files": resource.RLIMIT_NOFILE}.items():
        assert re.search(rf"Max {name} +{RESOURCE_LIMITS[kind]} +{RESOURCE_LIMITS[kind]} ", limits)
    with open_runner() as fresh:
        assert Child(fresh).is_denied("open_pipes", 129)


@pytest.mark.full
@pytest.mark.usefixtures("runner")  # which skips without a sandbox
def test_threads_are_sandboxed_without_open_files() -> None:
    with open_runner("required") as new_runner:  # whose child has no last job yet, after which it ends
        pid = Child(new_runner, in_thread=True).find_pid()
        for path in Path(f"/proc/{pid}/task").iterdir():
            status = read_status(int(path.name))
            assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
            assert int(status["CapEff"], 16) in {0, 1 << privileges.CAP_DAC_READ_SEARCH}
        # The child closes the files of its job after it has told that the job is finished.
        assert poll_until(lambda: list_open_files(pid) == ["/dev/null", "/dev/null", "/dev/null", "socket"])


def list_open_files(pid: int) -> list[str]:
    """Return the kinds of the open files of a process, except those that it closes meanwhile."""
    kinds = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            kinds.append(os.readlink(path).partition(":")[0])
    return sorted(kinds)


def test_everything_is_possible_without_a_sandbox(
    listening_address: tuple[str, int], services: EmbeddedServices
) -> None:
    """Control experiment: what the tests above forbid works without a sandbox."""
    inet, unix, stream = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM
    with open_runner("off") as unsandboxed:
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
            assert not Child(unsandboxed).is_denied(name, *arguments), (name, arguments)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@needs_root
def test_child_of_root_runs_unprivileged(runner: Runner) -> None:
    identity = runner.run(Identify(), LIMITS)
    assert identity["uid"] == identity["gid"]
    assert identity["uid"] in privileges.SANDBOX_UIDS
    status = read_status(identity["pid"])
    assert (status["Seccomp"], status["NoNewPrivs"], status["Groups"].strip()) == ("2", "1", "")


@needs_root
def test_threads_of_one_child_are_limited_and_hinder_no_other(runner: Runner) -> None:
    counts = [runner.run(job, LIMITS) for job in (TakeThreads(), TakeMoreThreads())]
    assert all(8 < count < 64 for count in counts), counts


@pytest.mark.full
@needs_root
def test_files_are_protected_without_landlock(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    if not privileges.are_libraries_public():
        pytest.skip("only root can read the libraries")
    monkeypatch.setattr(sandbox, "get_available", lambda: Sandbox(call_mechanism=sandbox.SECCOMP))
    with open_runner() as unrestricted:
        hostile = Child(unrestricted)
        assert unrestricted.run(Identify(), LIMITS)["uid"] in privileges.SANDBOX_UIDS
        assert settings.opening_keys_dir is not None
        for path in (*settings.opening_keys_dir.iterdir(), "/etc/shadow", f"/proc/{os.getpid()}/environ"):
            assert hostile.is_denied("read", str(path)), path
        for path in ("/usr/lib/new", str(Path.cwd() / "new.py"), child.__file__):
            assert hostile.is_denied("append", path), path
        assert read_status(hostile.find_pid())["CapEff"] == "0000000000000000"
    monkeypatch.setattr(privileges, "can_become_unprivileged", lambda: True)
    assert sandbox.describe("wanted") == "seccomp, as an unprivileged user"
