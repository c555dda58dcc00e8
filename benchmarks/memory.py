"""How much memory the service holds: ``python -m benchmarks.memory [--scores 300] [--pid PID]``.

PSS in MB, by the kind of process and as a sum: of ``anoncup serve`` when it has come up, after a submission
has been taken in and scored, and when the scoring process has ended. ``--scores``: so many submissions more,
and what their scoring process holds before and after. ``--pid``: of a service that runs, as it is.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from anoncup.rules.toml_text import with_tables
from anoncup.tables.csv_text import table_csv
from benchmarks.processes import by_kind, proportional_mb
from benchmarks.service import served
from tests.e2e.stack import Contest, open_contest
from tests.support.arena import competition_file, original_table

SETTLING_S = 15
"""Processes still import and connect when the service is ready."""
IDLE_S = 20
MB = 2**20


def held(pid: int) -> Counter[str]:
    """MB (PSS) by the kind of process."""
    found: Counter[str] = Counter()
    for process, kind in by_kind(psutil.Process(pid)):
        found[kind] += round(proportional_mb(process.pid))
    return found


def report(title: str, pid: int) -> None:
    found = held(pid)
    parts = ", ".join(f"{name} {size}" for name, size in found.most_common() if size)
    print(f"{title}: {sum(found.values())} MB ({parts})", flush=True)


def file() -> str:
    """The small competition without its usual caps."""
    caps = ("valid_per_day", "valid_total", "attempts_per_day", "attempts_total")
    table = "\n".join(["[limits]", *(f"{cap} = 10000" for cap in caps)])
    return with_tables(competition_file(), "limits", table)


def score(contest: Contest, number: int) -> None:
    contest.until_state(contest.submit(seed=number), "SCORED")


def scorers(pid: int) -> list[psutil.Process]:
    return [one for one, kind in by_kind(psutil.Process(pid)) if kind == "scoring children"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--scores", type=int, default=0)
    parser.add_argument("--pid", type=int)
    given = parser.parse_args()
    if given.pid is not None:
        report("now", given.pid)
        return
    idle = {"ANONCUP_SCORING_IDLE_S": str(IDLE_S)}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), env=idle) as service:
        pid = service.pid
        time.sleep(SETTLING_S)
        report("fresh", pid)
        contest = open_contest(
            service.url, file=file(), original={"original": table_csv(original_table())}, slug="small"
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
