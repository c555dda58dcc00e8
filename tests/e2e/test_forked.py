"""Workers and clock as forks of one process: each is as well kept as a program of its own."""

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
from app.processes.supervisor import forked_program
from tests.e2e.stack import QUICK, acting, forks, running
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full

NAMES = {"worker", "reports", "scheduler"}


@contextmanager
def whole(logs: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, psutil.Process]]]:
    """The forking process and, once their pools are there, its forks."""
    with running(
        forked_program(
            jobs=1,
            env=QUICK | acting(WORKER),
            logs=logs,
            name="forked",
            clock=acting(CLOCK)["DATABASE_URL"],
        )
    ) as process:
        assert eventually(lambda: forks(process.pid).keys() == NAMES)
        found = forks(process.pid)
        assert eventually(lambda: all(found[name].children() for name in ("worker", "reports")))
        yield process, found


def with_children(processes: dict[str, psutil.Process]) -> list[psutil.Process]:
    return [each for top in processes.values() for each in (top, *top.children(recursive=True))]


def all_end(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=PATIENCE_S)[1]


def test_each_has_a_name_an_environment_and_a_log_of_its_own(settings: Settings, tmp_path: Path) -> None:
    with whole(tmp_path) as (_, found):
        assert eventually(lambda: [each.name() for each in found["worker"].children()] == ["worker"])
        assert eventually(lambda: "clock_starts" in (tmp_path / "scheduler.log").read_text())
        for name, node in (("worker", "celery-forked"), ("reports", "reports-forked")):
            log = tmp_path / f"{name}.log"
            assert eventually(lambda: f"{node}@{gethostname()} ready" in log.read_text())  # noqa: B023
        assert (tmp_path / "workers.log").read_text() == ""


@pytest.mark.parametrize(
    "name", ["worker", *(pytest.param(name, marks=pytest.mark.full) for name in ("reports", "scheduler"))]
)
def test_one_that_is_killed_takes_its_own_along_and_is_started_again(
    name: str, settings: Settings, tmp_path: Path
) -> None:
    with whole(tmp_path) as (process, found):
        others = [found[other] for other in NAMES - {name}]
        own = with_children({name: found[name]})
        own[0].kill()
        assert all_end(own)
        assert eventually(lambda: forks(process.pid).get(name, own[0]) != own[0])
        assert [other for other in others if not other.is_running()] == []
    assert f"{name} ended (status -9); starting it again" in (tmp_path / "workers.log").read_text()


@pytest.mark.full
def test_all_end_with_the_process_that_forked_them(settings: Settings, tmp_path: Path) -> None:
    with whole(tmp_path) as (process, found):
        below = with_children(found)
        process.kill()
        assert all_end(below)


@pytest.mark.full
def test_a_clock_that_hears_nothing_ends_with_the_process_that_forked_it(
    settings: Settings, tmp_path: Path
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what it starts inherits that
    try:
        with whole(tmp_path) as (process, found):
            process.kill()
            assert all_end([found["scheduler"]])
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.full
def test_asked_to_end_it_ends_all_and_well_and_leaves_no_folder_of_a_child(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    orphan = tmp_path / f"{PREFIX}of-one-that-was-killed"
    with whole(tmp_path) as (process, found):
        below = with_children(found)
        orphan.mkdir()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert all_end(below)
    assert not orphan.exists()


@pytest.mark.full
def test_what_ends_again_and_again_at_its_start_ends_all_and_says_why(
    settings: Settings, tmp_path: Path
) -> None:
    env = QUICK | {"ANONCUP_CLOCK_EVERY_S": "never"}
    with running(
        forked_program(jobs=1, env=env, logs=tmp_path, name="broken", clock=os.environ["DATABASE_URL"])
    ) as process:
        assert process.wait(PATIENCE_S) == 1
    said = (tmp_path / "workers.log").read_text()
    assert "has ended 5 times, before it was ready" in said
    assert "clock_every_s" in said


def test_what_they_import_is_in_memory_once(settings: Settings, tmp_path: Path) -> None:
    """Programs of their own share little but the interpreter: more than half of what they see is theirs."""
    with whole(tmp_path) as (_, found):
        assert eventually(lambda: "clock_starts" in (tmp_path / "scheduler.log").read_text())
        seen = []
        for each in with_children(found):
            with suppress(psutil.NoSuchProcess):  # what Celery asks of the machine at its start
                seen.append(each.memory_full_info())
        assert sum(each.pss for each in seen) < 0.4 * sum(each.rss for each in seen)
