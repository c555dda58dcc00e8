"""How much memory the service holds: ``python -m benchmarks.memory [--scores 300] [--pid PID]``.

PSS in MB, by process and as a sum: of ``anoncup serve`` when it has come up, after a submission has been
taken in and scored, and when the scoring process has ended.
``--scores``: so many submissions more, and what their scoring process holds before and after. ``--pid``: of a
service that runs, as it is.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from app import tethered
from app.config import get_settings
from app.embedded import running_services
from app.processes import wait_until_healthy
from app.scoring.csv_text import table_csv
from app.scoring.toml_text import with_tables
from tests.arena import competition_file, original_table
from tests.e2e.stack import Contest, free_port, open_contest

SETTLING_S = 15
"""Processes still import and connect when the service is ready."""
IDLE_S = 20
MB = 2**20


def tree(pid: int) -> list[psutil.Process]:
    """Without those that have ended and whose parent has not looked yet."""
    top = psutil.Process(pid)
    found = [top, *top.children(recursive=True)]
    return [one for one in found if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def held(pid: int) -> Counter[str]:
    """MB of PSS by what the processes are; equals are added."""
    found: Counter[str] = Counter()
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            found[label(process)] += process.memory_full_info().pss // MB
    return found


def label(process: psutil.Process) -> str:
    words = process.cmdline()
    if "-m" in words and not process.name().startswith("python"):
        return f"{process.name()} (fork)"
    return words[words.index("-m") + 1] if "-m" in words else process.name()


def report(title: str, pid: int) -> None:
    found = held(pid)
    parts = ", ".join(f"{name} {size}" for name, size in found.most_common() if size)
    print(f"{title}: {sum(found.values())} MB ({parts})", flush=True)


@contextmanager
def serving() -> Iterator[tuple[int, str]]:
    """A fresh service: its process number and address."""
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder, "data"), free_port()
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port), "--data", str(data)]
        env = os.environ | {"ANONCUP_SCORING_IDLE_S": str(IDLE_S)}
        process = tethered.start(command, log=Path(folder, "log"), env=env)
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}/readyz", check=lambda: None)
            reach(data)
            yield process.pid, f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def reach(data: Path) -> None:
    """Let this process's own transactions reach the same database."""
    services = running_services(data)
    assert services is not None
    os.environ.update(DATABASE_URL=services.database_url, REDIS_URL=services.redis_url)
    get_settings.cache_clear()


def file() -> str:
    """The small competition without its usual caps."""
    caps = ("valid_per_day", "valid_total", "attempts_per_day", "attempts_total")
    table = "\n".join(["[limits]", *(f"{cap} = 10000" for cap in caps)])
    return with_tables(competition_file(), "limits", table)


def score(contest: Contest, number: int) -> None:
    contest.until_state(contest.submit(seed=number), "SCORED")


def scorers(pid: int) -> list[psutil.Process]:
    return [one for one in tree(pid) if "workers.scorer" in one.cmdline()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--scores", type=int, default=0)
    parser.add_argument("--pid", type=int)
    given = parser.parse_args()
    if given.pid is not None:
        report("now", given.pid)
        return
    with serving() as (pid, url):
        time.sleep(SETTLING_S)
        report("fresh", pid)
        contest = open_contest(
            url, file=file(), original={"original": table_csv(original_table())}, slug="small"
        )
        score(contest, 1)
        report("after a score", pid)
        for number in range(2, given.scores + 2):
            score(contest, number)
            if number % 50 == 0:
                sizes = [one.memory_full_info().uss // MB for one in scorers(pid)]
                print(f"{number} scored: scoring processes {sizes} MB", flush=True)
        while scorers(pid):
            time.sleep(1)
        report("idle", pid)


if __name__ == "__main__":
    main()
