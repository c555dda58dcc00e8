"""Measure the service's memory: ``python -m benchmarks.memory [--scores 300] [--pid PID]``.

Prints PSS in MB by kind of process and in total, for ``anoncup serve`` when it is ready, after a submission
has been scored, and after the scoring process has ended. ``--scores`` scores more submissions and prints the
memory of their scoring process. ``--pid`` measures a running service as it is.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from anoncup.rules.toml_text import replace_tables
from anoncup.tables.csv_text import write_csv
from benchmarks.processes import iterate_with_kind, measure_pss_mb
from benchmarks.service import run_service
from tests.support.arena import build_competition_toml, build_original_table
from tests.support.service_processes import ServedContest, open_contest

_WARM_UP_S = 15
"""Seconds to wait after the service is ready, because it still imports modules and opens connections."""
_IDLE_S = 20
BYTES_PER_MB = 2**20


def _measure_mb_by_kind(pid: int) -> Counter[str]:
    """Return PSS in MB by kind of process."""
    totals: Counter[str] = Counter()
    for process, kind in iterate_with_kind(psutil.Process(pid)):
        totals[kind] += round(measure_pss_mb(process.pid))
    return totals


def report(title: str, pid: int) -> None:
    totals = _measure_mb_by_kind(pid)
    parts = ", ".join(f"{name} {size}" for name, size in totals.most_common() if size)
    print(f"{title}: {sum(totals.values())} MB ({parts})", flush=True)


def _build_competition_file() -> str:
    """Return the file of the small competition, with high caps."""
    caps = ("valid_per_day", "valid_total", "attempts_per_day", "attempts_total")
    table = "\n".join(["[limits]", *(f"{cap} = 10000" for cap in caps)])
    return replace_tables(build_competition_toml(), "limits", table)


def score(contest: ServedContest, number: int) -> None:
    contest.wait_for_state(contest.submit(seed=number), "SCORED")


def _list_scoring_children(pid: int) -> list[psutil.Process]:
    return [
        process
        for process, kind in iterate_with_kind(psutil.Process(pid))
        if kind == "runners and their children"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--scores", type=int, default=0)
    parser.add_argument("--pid", type=int)
    options = parser.parse_args()
    if options.pid is not None:
        report("now", options.pid)
        return
    env = {"ANONCUP_RUNNER_IDLE_S": str(_IDLE_S)}
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder), env=env) as service:
        pid = service.pid
        time.sleep(_WARM_UP_S)
        report("fresh", pid)
        contest = open_contest(
            service.url,
            file=_build_competition_file(),
            original={"original": write_csv(build_original_table())},
            slug="small",
        )
        score(contest, 1)
        report("after a score", pid)
        for number in range(2, options.scores + 2):
            score(contest, number)
            if number % 50 == 0:
                sizes = [
                    process.memory_full_info().uss // BYTES_PER_MB for process in _list_scoring_children(pid)
                ]
                print(f"{number} scored: scoring processes {sizes} MB", flush=True)
        while _list_scoring_children(pid):
            time.sleep(1)
        report("idle", pid)


if __name__ == "__main__":
    main()
