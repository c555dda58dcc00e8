"""The embedded Postgres and Valkey with the real programs: starts, stops, kills and damage."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError

from anoncup.errors import Unavailable
from app.core.processes import child_process
from app.operations import embedded_servers
from app.operations.embedded_servers import EmbeddedServices, find_running_services, run_embedded_services
from tests.support.data_folders import data, used_data_folder
from tests.support.postgres_server import can_run
from tests.support.wait import TIMEOUT_S, is_running, poll_until

__all__ = ["data", "used_data_folder"]

OWNER_PROGRAM = """
import sys, time
from pathlib import Path
from app.operations.embedded_servers import run_embedded_services
with run_embedded_services(Path(sys.argv[1])) as services:
    print(*services.supervisor.get_pids().values(), flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def open_connection(services: EmbeddedServices) -> Iterator[Connection]:
    engine = create_engine(services.database_url)
    try:
        with engine.begin() as db_connection:
            yield db_connection
    finally:
        engine.dispose()


def execute_sql(services: EmbeddedServices, statement: str) -> list[str]:
    with open_connection(services) as db_connection:
        result = db_connection.execute(text(statement))
        return [str(row[0]) for row in result] if result.returns_rows else []


@contextmanager
def connect_valkey(services: EmbeddedServices) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(services.redis_py_url, decode_responses=True) as client:
        yield client


@contextmanager
def start_owner(data: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a process that runs the servers. Yield it and the servers' process numbers."""
    command = [sys.executable, "-c", OWNER_PROGRAM, str(data), str(5 * TIMEOUT_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        try:
            yield process, pids
        finally:
            process.kill()
    assert poll_until(lambda: not any(is_running(pid) for pid in pids))


def test_new_folder_gets_durable_utf8_database_and_a_queue_in_memory(tmp_path: Path) -> None:
    with run_embedded_services(tmp_path / "new" / "data") as services, connect_valkey(services) as client:
        assert execute_sql(services, "SHOW fsync") == ["on"]
        assert execute_sql(services, "SHOW server_encoding") == ["UTF8"]
        assert execute_sql(services, "SELECT upper('é')") == ["É"]
        assert execute_sql(services, "SELECT current_database() || current_user") == ["anoncup" * 2]
        settings = {"appendonly": "no", "save": "", "maxmemory-policy": "noeviction"}
        assert client.config_get(*settings) == settings


def test_sockets_are_private_and_no_port_is_open(used_data_folder: Path) -> None:
    with run_embedded_services(used_data_folder) as services, connect_valkey(services) as client:
        assert execute_sql(services, "SHOW listen_addresses") == [""]
        assert client.config_get("port") == {"port": "0"}
        assert (used_data_folder / "run").stat().st_mode & 0o777 == 0o700
        for pid in services.supervisor.get_pids().values():
            assert not list_listening_ports(pid)


def list_listening_ports(pid: int) -> set[str]:
    sockets = {os.readlink(f) for f in Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path("/proc/net", table).read_text().splitlines()[1:]
    ]
    return {fields[1] for fields in lines if f"socket:[{fields[9]}]" in sockets}


@pytest.mark.full
def test_killed_owner_ends_both_servers_without_loss(data: Path) -> None:
    with start_owner(data) as (process, pids):
        services = find_running_services(data)
        assert services
        execute_sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        process.kill()
        process.wait()
        # The new start waits until the old servers have closed their files.
        with run_embedded_services(data) as services:
            assert not any(is_running(pid) for pid in pids)
            assert execute_sql(services, "SELECT value FROM kept") == ["7"]


@pytest.mark.full
def test_hanging_servers_of_a_killed_owner_are_replaced(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_servers, "ORPHAN_TIMEOUT_S", 0.5)
    with start_owner(data) as (process, pids):
        services = find_running_services(data)
        assert services is not None
        execute_sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        process.kill()
        process.wait()
        with run_embedded_services(data) as restarted_services:
            assert not any(is_running(pid) for pid in pids)
            assert execute_sql(restarted_services, "SELECT value FROM kept") == ["7"]


@pytest.mark.full
def test_recovery_works_if_the_process_number_was_reused(data: Path) -> None:
    with start_owner(data) as (process, pids):
        services = find_running_services(data)
        assert services
        execute_sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        process.send_signal(signal.SIGSTOP)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        process.kill()
    stale = data / "postgres" / "postmaster.pid"
    lines = stale.read_text().splitlines(keepends=True)
    stale.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))
    with run_embedded_services(data) as services:
        assert execute_sql(services, "SELECT value FROM kept") == ["7"]


@pytest.mark.full
def test_folder_in_use_is_refused_by_name_and_process(used_data_folder: Path) -> None:
    with start_owner(used_data_folder) as (process, pids):
        expect_failure(used_data_folder, f"{used_data_folder} is in use by process {process.pid}.*--data")
        assert all(is_running(pid) for pid in pids)


@pytest.mark.full
def test_manually_started_postgres_is_left_alone(data: Path) -> None:
    sockets, binary = data / "run", embedded_servers.find_postgres_binary("postgres")
    process = child_process.start(
        [str(binary), "-D", str(data / "postgres"), "-k", str(sockets), "-c", "listen_addresses="],
        log=data / "logs" / "by_hand.log",
        parent_death_signal=signal.SIGINT,
        hide_root=os.geteuid() == 0,
    )
    try:
        assert poll_until(lambda: embedded_servers._ensure_database(data, sockets))
        expect_failure(data, f"in use by the Postgres server {process.pid}")
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)


@pytest.mark.full
def test_folder_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in ("/proc/data", str(tmp_path / "file" / "data")):  # root may write elsewhere
        expect_failure(Path(folder), f"The data folder {folder} cannot be written: [A-Z].*--data")


@pytest.mark.full
def test_interrupted_initialization_is_repeated(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-c", OWNER_PROGRAM, str(data), str(5 * TIMEOUT_S)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        assert poll_until((data / "postgres.new" / "base").exists)
        process.kill()
    assert not (data / "postgres").exists()
    with run_embedded_services(data) as services:
        assert execute_sql(services, "SELECT 1") == ["1"]
    assert not (data / "postgres.new").exists()


@pytest.mark.full
def test_data_of_another_version_is_refused(data: Path) -> None:
    (data / "postgres" / "PG_VERSION").write_text("15\n")
    expect_failure(data, "made by Postgres 15; this one is 18")
    assert (data / "postgres" / "base").is_dir()


def expect_failure(data: Path, message: str) -> None:
    with pytest.raises(Unavailable, match=f"(?s){message}"), run_embedded_services(data):
        pass


@pytest.mark.full
def test_startup_errors_are_reported_and_the_folder_can_be_used_again(data: Path) -> None:
    settings = data / "postgres" / "postgresql.conf"
    good_content = settings.read_text()
    settings.write_text(good_content + "nonsense = on\n")
    expect_failure(data, 'Postgres ended.*parameter "nonsense"')
    settings.write_text(good_content)
    with run_embedded_services(data) as services:
        assert execute_sql(services, "SELECT 1") == ["1"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["long" * 30, "with space, 日本 & 100%"])
def test_long_or_special_paths_work(used_data_folder: Path, tmp_path: Path, name: str) -> None:
    data = shutil.copytree(used_data_folder, tmp_path / name)
    with run_embedded_services(data) as services, connect_valkey(services) as client:
        assert execute_sql(services, "SELECT 1") == ["1"]
        assert client.ping()
        socket_folder = Path(services.redis_url.removeprefix("redis+socket://")).parent
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    assert not socket_folder.exists()


@pytest.mark.full
def test_killed_server_is_restarted_and_clients_continue(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with run_embedded_services(data) as services, connect_valkey(services) as client:
        execute_sql(services, "CREATE TABLE kept AS SELECT 7 AS number")
        old_pids = services.supervisor.get_pids()
        for pid in old_pids.values():
            os.kill(pid, signal.SIGKILL)

        def is_running_again() -> bool:
            services.supervisor.restart_ended()
            return not {*old_pids.values()} & {*services.supervisor.get_pids().values()}

        assert poll_until(is_running_again)
        assert poll_until(lambda: can_run(client.ping, redis.ConnectionError))
        assert poll_until(lambda: can_run(lambda: execute_sql(services, "SELECT 1"), OperationalError))
        assert execute_sql(services, "SELECT number FROM kept") == ["7"]
        assert client.ping()
        assert "Postgres ended (status -9)" in caplog.text
        assert "Valkey ended (status -9)" in caplog.text
    with run_embedded_services(data) as services:
        assert execute_sql(services, "SELECT number FROM kept") == ["7"]


def test_second_command_finds_only_running_servers(used_data_folder: Path) -> None:
    assert find_running_services(used_data_folder) is None
    with run_embedded_services(used_data_folder) as services:
        running = find_running_services(used_data_folder)
        assert running
        assert (running.database_url, running.redis_url) == (services.database_url, services.redis_url)
    assert find_running_services(used_data_folder) is None


def run_in_namespace(
    *options: str, data: Path, setup_command: str = "true"
) -> subprocess.CompletedProcess[str]:
    """Run the owner in a user namespace, after a shell command."""
    script = f'{setup_command} || exit 99; exec "$0" -c "$1" "$2" 0'
    return subprocess.run(
        ["unshare", "--user", *options, "sh", "-c", script, sys.executable, OWNER_PROGRAM, str(data)],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="then every test here is this one")
def test_owner_can_be_an_ordinary_user(used_data_folder: Path) -> None:
    completed = run_in_namespace("--map-user=1000", data=used_data_folder)
    assert completed.returncode == 0, completed.stderr
    assert len(completed.stdout.split()) == 2


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs a namespace")
def test_root_without_user_namespaces_gets_instructions(used_data_folder: Path) -> None:
    # Each namespace has its own limit for nested namespaces.
    completed = run_in_namespace(
        "--map-root-user", data=used_data_folder, setup_command="echo 0 > /proc/sys/user/max_user_namespaces"
    )
    if completed.returncode == 99:
        pytest.skip("this system does not let the limit be set")
    assert "Run as an ordinary user, or set DATABASE_URL and REDIS_URL" in completed.stderr


@pytest.mark.full
def test_large_log_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "MAX_LOG_BYTES", 3)
    log = tmp_path / "logs" / "web.log"
    for line in (b"first", b"second"):
        with child_process.open_log(log) as file:
            file.write(line)
    assert log.read_bytes() == b"second"
    assert log.with_name("web.log.1").read_bytes() == b"first"
