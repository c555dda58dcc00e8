"""``anoncup worker`` with all queues: one process that supervises a Celery worker for each pool."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname

import psutil
import pytest

from app.config import Settings
from app.db.privileges import WORKER
from app.processes.supervisor import POOLS, Program
from tests.support.service_processes import QUICK_SETTINGS, build_role_env, find_pools, run_program
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

COMMAND = [sys.executable, "-m", "anoncup.cli", "worker", "--name", "both"]


@contextmanager
def run_worker_command(log: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, psutil.Process]]]:
    """Run the command; yield its process and those of its pools once these have children."""
    env = QUICK_SETTINGS | build_role_env(WORKER)
    pools: dict[str, psutil.Process] = {}

    def have_all_pools_children() -> bool:
        # One look for both questions: a pool that fails to start is replaced between two looks.
        pools.clear()
        pools.update(find_pools(process.pid))
        return len(pools) == len(POOLS) and all(pool.children() for pool in pools.values())

    with run_program(Program(name="workers", command=COMMAND, env=env, log=log)) as process:
        assert poll_until(have_all_pools_children)
        yield process, pools


def list_tree(processes: dict[str, psutil.Process]) -> list[psutil.Process]:
    return [member for top in processes.values() for member in (top, *top.children(recursive=True))]


def have_all_ended(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=TIMEOUT_S)[1]


@pytest.mark.parametrize("name", [pool.name for pool in POOLS])
def test_killed_worker_is_restarted_without_its_old_children(
    name: str, settings: Settings, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with run_worker_command(log) as (process, pools):
        for node in "celery-both", "reports-both":
            assert poll_until(lambda: f"{node}@{gethostname()} ready" in log.read_text())  # noqa: B023
        (other_pool,) = (pool for pool_name, pool in pools.items() if pool_name != name)
        tree = list_tree({name: pools[name]})
        tree[0].kill()
        assert have_all_ended(tree)
        assert poll_until(lambda: find_pools(process.pid).get(name, tree[0]) != tree[0])
        assert other_pool.is_running()
    assert f"{name} ended (status -9); starting it again" in log.read_text()


def test_workers_end_with_their_killed_parent(settings: Settings, tmp_path: Path) -> None:
    with run_worker_command(tmp_path / "log") as (process, pools):
        descendants = list_tree(pools)
        process.kill()
        assert have_all_ended(descendants)


def test_sigterm_ends_all_workers_cleanly(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with run_worker_command(tmp_path / "log") as (process, pools):
        descendants = list_tree(pools)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
        assert have_all_ended(descendants)
