"""Workers and clock as forks of one process, supervised like separate programs."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname

import psutil
import pytest

from app.config import Settings
from app.db.privileges import CLOCK, WORKER
from app.processes.child_folders import PREFIX
from app.processes.supervisor import build_forked_program
from tests.support.service_processes import QUICK_SETTINGS, build_role_env, list_forks, run_program
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

FORK_NAMES = {"worker", "reports", "scheduler"}


@contextmanager
def run_forks(logs: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, psutil.Process]]]:
    """Run the forking process; yield it and its forks once their pools have started."""
    with run_program(
        build_forked_program(
            jobs=1,
            env=QUICK_SETTINGS | build_role_env(WORKER),
            log_folder=logs,
            name="forked",
            clock_database_url=build_role_env(CLOCK)["DATABASE_URL"],
        )
    ) as process:
        assert poll_until(lambda: list_forks(process.pid).keys() == FORK_NAMES)
        forked = list_forks(process.pid)
        assert poll_until(lambda: all(forked[name].children() for name in ("worker", "reports")))
        yield process, forked


def list_tree(processes: dict[str, psutil.Process]) -> list[psutil.Process]:
    return [member for top in processes.values() for member in (top, *top.children(recursive=True))]


def have_all_ended(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=TIMEOUT_S)[1]


def test_forks_have_their_own_name_environment_and_log(settings: Settings, tmp_path: Path) -> None:
    with run_forks(tmp_path) as (_, forked):
        assert poll_until(lambda: [child.name() for child in forked["worker"].children()] == ["worker"])
        assert poll_until(lambda: "clock_starts" in (tmp_path / "scheduler.log").read_text())
        for name, node in (("worker", "celery-forked"), ("reports", "reports-forked")):
            log = tmp_path / f"{name}.log"
            assert poll_until(lambda: f"{node}@{gethostname()} ready" in log.read_text())  # noqa: B023
        assert (tmp_path / "workers.log").read_text() == ""


@pytest.mark.parametrize(
    "name", ["worker", *(pytest.param(name, marks=pytest.mark.full) for name in ("reports", "scheduler"))]
)
def test_killed_fork_is_restarted_without_its_old_children(
    name: str, settings: Settings, tmp_path: Path
) -> None:
    with run_forks(tmp_path) as (process, forked):
        other_forks = [forked[fork] for fork in FORK_NAMES - {name}]
        tree = list_tree({name: forked[name]})
        tree[0].kill()
        assert have_all_ended(tree)
        assert poll_until(lambda: list_forks(process.pid).get(name, tree[0]) != tree[0])
        assert [fork for fork in other_forks if not fork.is_running()] == []
    assert f"{name} ended (status -9); starting it again" in (tmp_path / "workers.log").read_text()


@pytest.mark.full
def test_forks_end_with_their_parent(settings: Settings, tmp_path: Path) -> None:
    with run_forks(tmp_path) as (process, forked):
        descendants = list_tree(forked)
        process.kill()
        assert have_all_ended(descendants)


@pytest.mark.full
def test_clock_that_ignores_sigterm_ends_with_its_parent(settings: Settings, tmp_path: Path) -> None:
    old_handler = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # inherited by its children
    try:
        with run_forks(tmp_path) as (process, forked):
            process.kill()
            assert have_all_ended([forked["scheduler"]])
    finally:
        signal.signal(signal.SIGTERM, old_handler)


@pytest.mark.full
def test_sigterm_ends_all_forks_cleanly(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    orphan = tmp_path / f"{PREFIX}of-one-that-was-killed"
    with run_forks(tmp_path) as (process, forked):
        descendants = list_tree(forked)
        orphan.mkdir()
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
        assert have_all_ended(descendants)
    assert not orphan.exists()


@pytest.mark.full
def test_fork_that_cannot_start_ends_all_and_logs_the_reason(settings: Settings, tmp_path: Path) -> None:
    env = QUICK_SETTINGS | {"ANONCUP_CLOCK_EVERY_S": "never"}
    with run_program(
        build_forked_program(
            jobs=1, env=env, log_folder=tmp_path, name="broken", clock_database_url=os.environ["DATABASE_URL"]
        )
    ) as process:
        assert process.wait(TIMEOUT_S) == 1
    log = (tmp_path / "workers.log").read_text()
    assert "has ended 5 times, before it was ready" in log
    assert "clock_every_s" in log


def test_forks_share_imported_modules_in_memory(settings: Settings, tmp_path: Path) -> None:
    """Separate programs share little but the interpreter: more than half of their memory is private."""
    with run_forks(tmp_path) as (_, forked):
        assert poll_until(lambda: "clock_starts" in (tmp_path / "scheduler.log").read_text())
        memory_infos = []
        for item in list_tree(forked):
            with suppress(psutil.NoSuchProcess):  # short-lived commands that Celery runs at its start
                memory_infos.append(item.memory_full_info())
        assert sum(item.pss for item in memory_infos) < 0.4 * sum(item.rss for item in memory_infos)
