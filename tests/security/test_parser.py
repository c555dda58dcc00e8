"""Hostile code in a parser process, run in the real sandbox."""

import os
import pickle
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anoncup.errors import InvalidInput, NotFound, Unavailable
from anoncup.runner import sandbox
from anoncup.runner.sandbox import Sandbox, landlock, privileges, seccomp
from app.config import Settings
from app.processes import parser_process
from app.processes.embedded_servers import EmbeddedServices
from app.processes.parser_process import UPLOADS, call, call_with_files
from app.storage import get_store
from tests.support import hostile_parser, hostile_public_parser
from tests.support.hostile_parser import (
    answer_twice,
    crash,
    fetch,
    find_words_in_environment,
    list_process_ids,
    loop,
    raise_bug,
    return_text,
    take_all_memory,
    try_deed,
    write_unexpected_line,
)
from tests.support.wait import TIMEOUT_S, poll_until


@pytest.fixture(scope="module", autouse=True)
def hostile_parsers(session_settings: Settings) -> Iterator[None]:
    """Replace the parsers of this process by hostile ones."""
    if not (seccomp.is_available() and landlock.get_abi_version()):
        pytest.skip("the sandbox needs seccomp, and Linux 5.13 with Landlock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser_process, "PROGRAM", hostile_parser.__name__)
        parser_process.enable(session_settings)
        yield
        parser_process.disable()


@pytest.fixture
def parser_patch(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A patch for parsers with other settings or limits, which end with the test."""
    parser_process.enable(settings)
    yield monkeypatch
    parser_process.enable(settings)


def is_denied(name: str, *arguments: Any) -> bool:
    return set(call(UPLOADS, try_deed, name, list(arguments))) == {"denied"}


def set_limits(**limits: int) -> None:
    for name, value in limits.items():
        setattr(parser_process.parsers[UPLOADS], name, value)


def find_child_pid() -> int:
    child = parser_process.parsers[UPLOADS].slot.child
    assert child is not None
    return child.process.pid


def test_parser_cannot_read_keys_uploads_or_system_files(settings: Settings) -> None:
    digest = get_store().save(b"another team's release")
    assert settings.opening_keys_dir is not None
    paths = [
        *settings.opening_keys_dir.iterdir(),
        *settings.data.rglob(digest),
        *settings.data.rglob("pgpass"),
        "/etc/passwd",
        "/etc/shadow",
        "/etc/hostname",
        "/root/.profile",
        "README.md",
        str(Path.cwd() / "README.md"),
    ]
    assert any(str(path).endswith(digest) for path in paths)
    for path in paths:
        assert is_denied("read", str(path)), path
    for folder in ("/", "/etc", "/tmp", "/home", str(settings.data), str(Path.cwd())):
        assert is_denied("list", folder), folder


@pytest.mark.full
def test_parser_cannot_inspect_other_processes() -> None:
    for pid in (1, os.getpid()):
        for name in ("environ", "mem", "maps", "cmdline", "fd/0", "root/etc/passwd"):
            assert is_denied("read", f"/proc/{pid}/{name}"), (pid, name)
    assert is_denied("call", "process_vm_readv", os.getpid(), 0, 0, 0, 0, 0)
    for request in (0x4206, 16):  # PTRACE_SEIZE, PTRACE_ATTACH
        assert is_denied("call", "ptrace", request, os.getpid(), 0, 0)


@pytest.mark.full
def test_parser_memory_contains_no_addresses_or_keys(
    settings: Settings, parser_patch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "AWS_SECRET_ACCESS_KEY", "ANONCUP_METRICS_TOKEN"):
        parser_patch.setenv(name, "confidential")
    words = ["confidential", settings.database_url, settings.redis_url, str(settings.data), "DATABASE"]
    assert call(UPLOADS, find_words_in_environment, words) == []
    assert Path(f"/proc/{find_child_pid()}/environ").read_bytes() in {
        b"",
        os.environb.get(b"LD_LIBRARY_PATH"),
    }


@pytest.mark.full
def test_parser_has_no_file_descriptors_except_its_pipe() -> None:
    call(UPLOADS, list_process_ids)
    descriptors = [os.readlink(path) for path in Path(f"/proc/{find_child_pid()}/fd").iterdir()]
    assert sorted(name.partition(":")[0] for name in descriptors) == [
        "/dev/null",
        "/dev/null",
        "/dev/null",
        "pipe",
        "pipe",
    ]


def list_sockets(services: EmbeddedServices) -> list[str]:
    """Return the paths of the sockets of Postgres and Valkey."""
    parent = Path(services.redis_url.partition("://")[2].partition("?")[0]).parent
    return [str(path) for path in parent.parent.rglob("*") if path.is_socket()]


def test_parser_cannot_reach_databases_or_the_network(services: EmbeddedServices) -> None:
    inet, unix, stream, datagram = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
    assert len(list_sockets(services)) >= 2
    for path in list_sockets(services):
        assert is_denied("connect", unix, stream, path), path
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert is_denied("connect", inet, stream, ["127.0.0.1", port])
        assert is_denied("connect", inet, datagram, ["127.0.0.1", port])
        assert is_denied("connect", socket.AF_INET6, stream, ["::1", port])
    assert is_denied("connect", unix, stream, "\0abstract")


@pytest.mark.full
def test_parser_cannot_start_or_end_processes() -> None:
    for name in ("start_program", "replace_program"):
        assert is_denied(name, "/bin/true")
        assert is_denied(name, sys.executable)
    assert is_denied("fork")
    for number in (0, signal.SIGKILL, signal.SIGSTOP):
        assert is_denied("kill", os.getpid(), number)
        assert is_denied("kill", -1, number)
        assert is_denied("group", os.getpgid(0), number)
    assert is_denied("outlive")


@pytest.mark.full
def test_parser_cannot_write_files(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"untouched")
    module = Path(parser_process.__file__)
    for path in (
        str(tmp_path / "mine"),
        str(tmp_path / "new"),
        str(module),
        str(module.with_name("new.py")),
        str(Path.cwd() / "new.py"),
        str(Path(sys.prefix, "lib", "new.py")),
        "/usr/lib/new",
        "/usr/local/lib/new",
        "/tmp/new",
        "/dev/shm/new",
    ):
        assert is_denied("append", path), path
    assert is_denied("truncate", str(module))
    assert is_denied("remove", str(module))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"untouched"]


def test_everything_is_possible_without_a_sandbox(
    settings: Settings, services: EmbeddedServices, parser_patch: pytest.MonkeyPatch
) -> None:
    """Control experiment: what the tests above forbid works without a sandbox."""
    parser_process.enable(settings.model_copy(update={"sandbox": "off"}))
    for name, arguments in (
        ("read", ["/etc/passwd"]),
        ("read", [f"/proc/{os.getpid()}/environ"]),
        ("list", ["/"]),
        ("connect", [socket.AF_UNIX, socket.SOCK_STREAM, list_sockets(services)[0]]),
        ("start_program", ["/bin/true"]),
        ("fork", []),
        ("kill", [os.getpid(), 0]),
        ("outlive", []),
    ):
        assert not is_denied(name, *arguments), (name, arguments)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@needs_root
def test_parser_started_by_root_runs_unprivileged() -> None:
    identity = call(UPLOADS, list_process_ids)
    assert (identity["uid"], identity["gid"]) == (privileges.SANDBOX_UID, privileges.SANDBOX_UID)
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{find_child_pid()}/status").read_text().splitlines()
        if ":\t" in line
    )
    assert (status["Seccomp"], status["NoNewPrivs"], status["Groups"].strip()) == ("2", "1", "")
    assert int(status["CapEff"], 16) in {0, 1 << privileges.CAP_DAC_READ_SEARCH}


@pytest.mark.full
@needs_root
def test_files_are_protected_without_landlock(settings: Settings, parser_patch: pytest.MonkeyPatch) -> None:
    parser_patch.setattr(parser_process, "PROGRAM", hostile_public_parser.__name__)
    parser_patch.setattr(privileges, "can_become_unprivileged", lambda: True)
    parser_patch.setattr(sandbox, "get_available", lambda: Sandbox(call_mechanism=sandbox.SECCOMP))
    parser_process.enable(settings.model_copy(update={"sandbox": "wanted"}))
    assert call(UPLOADS, list_process_ids)["uid"] == privileges.SANDBOX_UID
    assert settings.opening_keys_dir is not None
    for path in (*settings.opening_keys_dir.iterdir(), "/etc/shadow", f"/proc/{os.getpid()}/environ"):
        assert is_denied("read", str(path)), path
    for path in ("/usr/lib/new", str(Path.cwd() / "new.py"), parser_process.__file__):
        assert is_denied("append", path), path
    assert is_denied("connect", socket.AF_INET, socket.SOCK_STREAM, ["127.0.0.1", 9])
    assert sandbox.describe("wanted") == "seccomp, as an unprivileged user"
    assert Path(f"/proc/{find_child_pid()}/status").read_text().find("CapEff:\t0000000000000000") > 0


def test_missing_required_sandbox_refuses_uploads(
    parser_patch: pytest.MonkeyPatch,
) -> None:
    parser_patch.setattr(sandbox, "get_available", lambda: Sandbox(call_mechanism=sandbox.SECCOMP))
    with pytest.raises(Unavailable, match="cannot read files safely"):
        call(UPLOADS, list_process_ids)
    assert parser_process.parsers[UPLOADS].slot.child is None


@pytest.mark.full
def test_upload_above_the_memory_limit_is_refused(
    parser_patch: pytest.MonkeyPatch,
) -> None:
    set_limits(memory_mb=700)
    with pytest.raises(InvalidInput, match="more memory than the limit of 700 MB") as excinfo:
        call(UPLOADS, take_all_memory)
    assert excinfo.value.code == "parsing_memory_limit"
    assert call(UPLOADS, list_process_ids)["pid"] > 0


@pytest.mark.full
def test_upload_above_the_time_limit_is_refused(parser_patch: pytest.MonkeyPatch) -> None:
    first = call(UPLOADS, list_process_ids)["pid"]
    set_limits(time_limit_s=1)
    with pytest.raises(InvalidInput, match="longer than the limit of 1 s") as excinfo:
        call(UPLOADS, loop)
    assert excinfo.value.code == "parsing_time_limit"
    assert poll_until(lambda: not Path(f"/proc/{first}").exists())
    set_limits(time_limit_s=60)
    assert call(UPLOADS, list_process_ids)["pid"] != first


@pytest.mark.full
def test_next_upload_is_parsed_after_a_crash() -> None:
    with pytest.raises(Unavailable):
        call(UPLOADS, crash)
    assert call(UPLOADS, list_process_ids)["pid"] > 0


INVALID_ANSWERS = {
    "no JSON": ("nonsense", "", 1),
    "a pickle": (pickle.dumps(print, protocol=0).decode().replace("\n", " "), "", 1),
    "a list": ("[1]", "", 1),
    "nothing known": ('{"secrets": 1}', "", 1),
    "a result of another type": ('{"returned": 14}', '{"value": "no"}', 1),
    "a result with more in it": ('{"returned": 22}', '{"value": 1, "more": 2}', 1),
    "a negative length": ('{"returned": -1}', "", 1),
    "a length beyond all bounds": ('{"returned": 99999999999}', "", 1),
    "a length that is no number": ('{"returned": "1"}', "", 1),
    "an error of another class": (
        '{"raised": 66}',
        '{"kind": "NotSignedIn", "code": "x", "message": {"template": "x"}}',
        1,
    ),
    "an error without a message": (
        '{"raised": 52}',
        '{"kind": "Conflict", "code": "x", "message": [1, 2]}',
        1,
    ),
    "nested too deeply": ('{"returned": 100000}', "[", 100_000),
    "an endless line": ("x" * 100_000, "", 1),
}


@pytest.mark.full
@pytest.mark.parametrize("answer", INVALID_ANSWERS.values(), ids=INVALID_ANSWERS.keys())
def test_invalid_answers_are_rejected(answer: tuple[str, str, int]) -> None:
    line, content, times = answer
    with pytest.raises(RuntimeError, match="gave no valid answer"):
        call(UPLOADS, write_unexpected_line, line, content, times)
    assert call(UPLOADS, list_process_ids)["pid"] > 0


@pytest.mark.full
def test_result_of_a_wrong_type_is_rejected() -> None:
    with pytest.raises(RuntimeError, match="gave no valid answer"):
        call(UPLOADS, return_text)


@pytest.mark.full
def test_unsolicited_output_is_not_taken_for_an_answer() -> None:
    assert call(UPLOADS, answer_twice, '{"returned": 12}', '{"value": 1}') == 1
    child = parser_process.parsers[UPLOADS].slot.child
    assert child is not None
    assert child.has_output_within(TIMEOUT_S)
    assert call(UPLOADS, try_deed, "nothing", []) == {"done": "None"}


@pytest.mark.full
def test_internal_error_is_logged_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RuntimeError, match="could not be read"):
        call(UPLOADS, raise_bug)
    assert "secret" not in caplog.text


@pytest.mark.full
def test_parser_receives_only_the_files_of_its_call() -> None:
    own_digest, other_digest = get_store().save(b"mine"), get_store().save(b"of another team")
    assert call_with_files(UPLOADS, [own_digest], fetch, own_digest) == b"mine"
    with pytest.raises(RuntimeError, match="gave no valid answer"):
        call_with_files(UPLOADS, [own_digest], fetch, other_digest)
    get_store().backend.remove(f"blobs/{own_digest[:2]}/{own_digest}")
    with pytest.raises(NotFound):
        call_with_files(UPLOADS, [own_digest], fetch, own_digest)
    assert call(UPLOADS, list_process_ids)["pid"] > 0


@pytest.mark.full
def test_parser_is_replaced_after_the_maximum_number_of_calls(
    settings: Settings, parser_patch: pytest.MonkeyPatch
) -> None:
    parser_process.enable(settings.model_copy(update={"scoring_recycle_after": 1}))
    assert call(UPLOADS, list_process_ids)["pid"] != call(UPLOADS, list_process_ids)["pid"]
