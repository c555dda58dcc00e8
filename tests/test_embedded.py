"""The private Postgres and Valkey, with the real programs, and everything that may be killed killed."""

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

from anoncup.errors import Unavailable
from app.processes import child_process, data_folder, embedded_servers, server_process
from app.processes.embedded_servers import Services, embedded_services, running_services
from tests.support.data_folders import data, made_once
from tests.support.wait import PATIENCE_S, eventually

__all__ = ["data", "made_once"]

OWNER = """
import sys, time
from pathlib import Path
from app.processes.embedded_servers import embedded_services
with embedded_services(Path(sys.argv[1])) as services:
    print(*(server.process.pid for server in services.servers), flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def connection(services: Services) -> Iterator[Connection]:
    engine = create_engine(services.database_url)
    try:
        with engine.begin() as opened:
            yield opened
    finally:
        engine.dispose()


def sql(services: Services, statement: str) -> list[str]:
    with connection(services) as opened:
        result = opened.execute(text(statement))
        return [str(row[0]) for row in result] if result.returns_rows else []


@contextmanager
def valkey(services: Services) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(services.redis_py_url, decode_responses=True) as client:
        yield client


@contextmanager
def owner(data: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Another process that runs the servers, and their process numbers."""
    command = [sys.executable, "-c", OWNER, str(data), str(5 * PATIENCE_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        try:
            yield process, pids
        finally:
            process.kill()
    assert eventually(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_new_folder_gets_a_durable_utf8_database_and_a_durable_queue(tmp_path: Path) -> None:
    with embedded_services(tmp_path / "new" / "data") as services, valkey(services) as client:
        assert sql(services, "SHOW fsync") == ["on"]
        assert sql(services, "SHOW server_encoding") == ["UTF8"]
        assert sql(services, "SELECT upper('é')") == ["É"]
        assert sql(services, "SELECT current_database() || '/' || current_user") == ["anoncup/anoncup"]
        for name, value in (
            ("appendonly", "yes"),
            ("appendfsync", "everysec"),
            ("maxmemory-policy", "noeviction"),
        ):
            assert client.config_get(name) == {name: value}


def test_nothing_listens_on_the_network_and_only_this_user_enters_the_sockets(made_once: Path) -> None:
    with embedded_services(made_once) as services, valkey(services) as client:
        assert sql(services, "SHOW listen_addresses") == [""]
        assert client.config_get("port") == {"port": "0"}
        assert (made_once / "run").stat().st_mode & 0o777 == 0o700
        for server in services.servers:
            assert not listening_ports(server.process.pid)


def listening_ports(pid: int) -> set[str]:
    sockets = {os.readlink(f) for f in Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path("/proc/net", table).read_text().splitlines()[1:]
    ]
    return {fields[1] for fields in lines if f"socket:[{fields[9]}]" in sockets}


def test_rows_and_jobs_are_there_after_a_restart(data: Path) -> None:
    with embedded_services(data) as services, valkey(services) as client:
        sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        client.rpush("jobs", "score")
    with embedded_services(data) as services, valkey(services) as client:
        assert sql(services, "SELECT value FROM kept") == ["7"]
        assert client.lrange("jobs", 0, -1) == ["score"]


@pytest.mark.full
def test_a_folder_of_an_older_version_is_taken_over_without_an_error_in_the_log(data: Path) -> None:
    configuration, log = data / "postgres" / "postgresql.conf", data / "logs" / "postgres.log"
    # As initdb writes them, and as a version without passwords left the folder.
    configuration.write_text("shared_buffers = 128MB\nmax_connections = 200\nwork_mem = 5MB\n")
    shutil.rmtree(data / "roles")
    log.unlink()
    with embedded_services(data) as services:
        assert sql(services, "SELECT name FROM pg_file_settings WHERE error IS NOT NULL") == []
        assert sql(services, "SHOW shared_buffers") == ["64MB"]
        assert sql(services, "SHOW work_mem") == ["5MB"]
    assert "reloading configuration files" in log.read_text()
    assert "contains errors" not in log.read_text()


@pytest.mark.full
def test_kill_9_of_the_owner_ends_both_servers_and_loses_nothing(data: Path) -> None:
    with owner(data) as (process, pids):
        services = running_services(data)
        assert services
        with valkey(services) as client:
            sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
            client.rpush("jobs", "score")
        process.kill()
        process.wait()
        # At once: it waits for the old servers to close their files.
        with embedded_services(data) as services, valkey(services) as client:
            assert not any(is_running(pid) for pid in pids)
            assert sql(services, "SELECT value FROM kept") == ["7"]
            assert client.lrange("jobs", 0, -1) == ["score"]


@pytest.mark.full
def test_servers_that_hang_after_a_kill_9_of_the_owner_keep_no_later_start_out(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_folder, "FINISHING_WITHIN", 0.5)
    with owner(data) as (process, pids):
        services = running_services(data)
        assert services is not None
        sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        process.kill()
        process.wait()
        with embedded_services(data) as again:
            assert not any(is_running(pid) for pid in pids)
            assert sql(again, "SELECT value FROM kept") == ["7"]


@pytest.mark.full
def test_kill_9_of_everything_is_recovered_even_if_the_process_number_went_to_another(data: Path) -> None:
    with owner(data) as (process, pids):
        services = running_services(data)
        assert services
        sql(services, "CREATE TABLE kept AS SELECT 7 AS value")
        process.send_signal(signal.SIGSTOP)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        process.kill()
    stale = data / "postgres" / "postmaster.pid"
    lines = stale.read_text().splitlines(keepends=True)
    stale.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))
    with embedded_services(data) as services:
        assert sql(services, "SELECT value FROM kept") == ["7"]


@pytest.mark.full
def test_a_folder_in_use_is_refused_by_name_and_process(made_once: Path) -> None:
    with owner(made_once) as (process, pids):
        refusal = pytest.raises(Unavailable, match=rf"{made_once} is in use by process {process.pid}.*--data")
        with refusal, embedded_services(made_once):
            pass
        assert all(is_running(pid) for pid in pids)


@pytest.mark.full
def test_a_postgres_that_someone_started_by_hand_on_the_folder_is_left_alone(data: Path) -> None:
    sockets, binary = data / "run", embedded_servers._postgres_binary("postgres")
    process = child_process.start(
        [str(binary), "-D", str(data / "postgres"), "-k", str(sockets), "-c", "listen_addresses="],
        log=data / "logs" / "by_hand.log",
        end_with=signal.SIGINT,
        unroot=os.geteuid() == 0,
    )
    try:
        assert eventually(lambda: embedded_servers._has_database(data, sockets))
        with (
            pytest.raises(Unavailable, match=f"in use by the Postgres server {process.pid}"),
            embedded_services(data),
        ):
            pass
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


@pytest.mark.full
def test_a_start_that_was_killed_while_it_made_the_database_is_made_good(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-c", OWNER, str(data), str(5 * PATIENCE_S)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        assert eventually((data / "postgres.new" / "base").exists)
        process.kill()
    assert not (data / "postgres").exists()
    with embedded_services(data) as services:
        assert sql(services, "SELECT 1") == ["1"]
    assert not (data / "postgres.new").exists()


@pytest.mark.full
def test_another_version_s_data_is_refused_and_left_alone(data: Path) -> None:
    (data / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(Unavailable, match="made by Postgres 15; this one is 18"), embedded_services(data):
        pass
    assert (data / "postgres" / "base").is_dir()


@pytest.mark.full
def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "thesis.txt").write_text("years of work")
    with pytest.raises(Unavailable, match="no Postgres data folder"), embedded_services(tmp_path):
        pass
    assert (tmp_path / "postgres" / "thesis.txt").read_text() == "years of work"


@pytest.mark.full
def test_a_postgres_that_cannot_start_says_why(data: Path) -> None:
    with (data / "postgres" / "postgresql.conf").open("a") as settings:
        settings.write("nonsense = on\n")
    with (
        pytest.raises(Unavailable, match=r'(?s)Postgres ended.*parameter "nonsense"'),
        embedded_services(data),
    ):
        pass


@pytest.mark.full
def test_a_valkey_that_cannot_start_says_why(data: Path) -> None:
    (data / "valkey" / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")
    with pytest.raises(Unavailable, match=r"(?s)Valkey ended.*manifest"), embedded_services(data):
        pass


@pytest.mark.full
def test_the_first_folder_can_be_used_again_after_a_failed_start(data: Path) -> None:
    settings = data / "postgres" / "postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "nonsense = on\n")
    with pytest.raises(Unavailable), embedded_services(data):
        pass
    settings.write_text(good)
    with embedded_services(data) as services:
        assert sql(services, "SELECT 1") == ["1"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["long" * 30, "with space, 日本 & 100%"])
def test_a_path_that_sockets_or_urls_cannot_have_still_works(
    made_once: Path, tmp_path: Path, name: str
) -> None:
    data = shutil.copytree(made_once, tmp_path / name)
    with embedded_services(data) as services, valkey(services) as client:
        assert sql(services, "SELECT 1") == ["1"]
        assert client.ping()
        socket_folder = Path(services.redis_url.removeprefix("redis+socket://")).parent
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    assert not socket_folder.exists()


@pytest.mark.full
def test_a_killed_server_is_started_again_on_its_data_and_clients_go_on(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded_services(data) as services, valkey(services) as client:
        sql(services, "CREATE TABLE kept AS SELECT 7 AS number")
        client.set("kept", "7")
        assert client.waitaof(1, 0, 0)[0] == 1  # on disk
        for each in services.servers:
            old = each.process
            old.kill()
            old.wait()
            services.check()
            assert each.process.pid != old.pid
        assert sql(services, "SELECT number FROM kept") == ["7"]
        assert client.get("kept") == "7"
        assert "Postgres ended (status -9)" in caplog.text
        assert "Valkey ended (status -9)" in caplog.text
    with embedded_services(data) as services:
        assert sql(services, "SELECT number FROM kept") == ["7"]


@pytest.mark.full
def test_a_server_killed_with_busy_sessions_comes_back(data: Path) -> None:
    with embedded_services(data) as services:
        made = create_engine(services.database_url)
        busy = made.connect()
        busy.exec_driver_sql("CREATE TABLE lost (id int)")
        services.servers[1].process.kill()
        services.servers[1].process.wait()
        services.check()
        assert sql(services, "SELECT count(*) FROM pg_tables WHERE tablename = 'lost'") == ["0"]
        busy.invalidate()
        busy.close()
        made.dispose()


@pytest.mark.full
def test_a_server_that_keeps_ending_ends_it_all(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "RESTARTS", 1)
    with embedded_services(data) as services:
        for again in (True, False):
            services.servers[0].process.kill()
            services.servers[0].process.wait()
            if again:
                services.check()
        with pytest.raises(Unavailable, match="Valkey ended"):
            services.check()


@pytest.mark.full
def test_a_server_that_cannot_be_started_again_says_why(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "TRIES", 2)
    with embedded_services(data) as services:
        (data / "postgres" / "postgresql.conf").write_text("nonsense")
        services.servers[1].process.kill()
        services.servers[1].process.wait()
        with pytest.raises(Unavailable, match=r"(?s)Postgres ended.*contains errors"):
            services.check()


def test_a_second_command_finds_the_servers_only_while_they_run(made_once: Path) -> None:
    assert running_services(made_once) is None
    with embedded_services(made_once) as services:
        found = running_services(made_once)
        assert found
        assert (found.database_url, found.redis_url) == (services.database_url, services.redis_url)
    assert running_services(made_once) is None


@pytest.mark.full
def test_postgres_settings_in_the_environment_change_nothing(
    made_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("PGDATABASE", "other")
    with embedded_services(made_once) as services:
        assert sql(services, "SELECT 1") == ["1"]


def in_namespace(*options: str, data: Path, first: str = "true") -> subprocess.CompletedProcess[str]:
    """The owner in a user namespace, after the shell command ``first``."""
    script = f'{first} || exit 99; exec "$0" -c "$1" "$2" 0'
    return subprocess.run(
        ["unshare", "--user", *options, "sh", "-c", script, sys.executable, OWNER, str(data)],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="then every test here is this one")
def test_it_runs_as_an_ordinary_user(made_once: Path) -> None:
    run = in_namespace("--map-user=1000", data=made_once)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.split()) == 2


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs a namespace")
def test_root_without_user_namespaces_is_told_what_to_do(made_once: Path) -> None:
    # A namespace has a limit of its own on the namespaces inside it.
    run = in_namespace("--map-root-user", data=made_once, first="echo 0 > /proc/sys/user/max_user_namespaces")
    if run.returncode == 99:
        pytest.skip("this system does not let the limit be set")
    assert "Run as an ordinary user, or set DATABASE_URL and REDIS_URL" in run.stderr


@pytest.mark.full
def test_the_launcher_starts_nothing_for_a_parent_that_is_gone(tmp_path: Path) -> None:
    gone = 2**22 + 1  # above every process number
    mark = tmp_path / "mark"
    command = [sys.executable, child_process.__file__, str(gone), "15", "0", "/usr/bin/touch", str(mark)]
    assert subprocess.run(command, check=False).returncode == 1
    assert not mark.exists()


@pytest.mark.full
def test_a_log_that_grew_large_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "LARGEST_LOG", 3)
    log = tmp_path / "logs" / "web.log"
    for line in (b"first", b"second"):
        with child_process.opened_log(log) as file:
            file.write(line)
    assert log.read_bytes() == b"second"
    assert log.with_name("web.log.1").read_bytes() == b"first"
