"""How times and memory grow with the rows of a table: ``python -m benchmarks.peers.growth [--large]``.

Each size is measured in processes of its own, which read files as a worker does; the peak is that of the one
which scores. Seconds are those of the processor: sizes cannot take turns.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.geometry import kernels
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.release import prepare, target_of
from benchmarks.peers.inputs import microdata, unmatched
from benchmarks.peers.linkage import one_shot, ours_by_codes

SHORT = (2_083, 8_333, 33_332)
LARGE = (8_333, 83_330, 250_000, 1_000_000)
LIMIT_S = 900
GOALS = {"EUC1": 1.25, "EUC2, none matched": 1.45, "parse + whole evaluation": 1.25}
PEAK_MB = 1024
REPEATS, ENOUGH_S = 5, 1.0

Times = dict[str, float]


def make(folder: Path, rows: int) -> None:
    """An original, its release and whose rows these are."""
    table = household_table(rows)
    made = microdata("", table)
    (folder / "original").write_bytes(table_csv(table))
    (folder / "anonymized").write_bytes(made.files["anonymized"])
    np.save(folder / "source.npy", made.source)


def attack(folder: Path) -> None:
    """Print a line for EUC1 and for EUC2, with its seconds."""
    kernels.warm()
    table, released = _parsed(folder, _rules())
    target = target_of(prepare(table, household_columns()), released)
    _say("EUC1", lambda: ours_by_codes(target, len(target.original.columns.quasi_identifiers)))
    lost = unmatched(target)
    _say("EUC2, none matched", lambda: one_shot(lost))


def score(folder: Path) -> None:
    """Print a line for parsing and scoring, with its seconds, and one for the peak in MB."""
    kernels.warm()
    rules, source = _rules(), np.load(folder / "source.npy")

    def whole() -> None:
        table, released = _parsed(folder, rules)
        evaluate(rules, TRACKS["microdata"].prepare(table, rules), released, source)

    _say("parse + whole evaluation", whole)
    print(f"peak MB\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}", flush=True)


def _rules() -> Rules:
    """With scales, which the service computes once for a competition."""
    rules = parse_competition(template(2015))
    return replace(rules, scales=dict.fromkeys(rules.weights, 1.0))


def _parsed(folder: Path, rules: Rules) -> tuple[pd.DataFrame, pd.DataFrame]:
    track = TRACKS["microdata"]
    files = {name: (folder / name).read_bytes() for name in ("original", "anonymized")}
    table, _ = track.parse_original(files, rules)
    released, _ = track.parse_release(files, table, rules)
    return table, released


def _say(task: str, work: Callable[[], Any]) -> None:
    took: list[float] = []
    while len(took) < REPEATS and sum(took) < ENOUGH_S:
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    print(f"{task}\t{statistics.median(took)}", flush=True)


def measured(rows: int, *, limit_s: float = LIMIT_S) -> Times:
    """Seconds by task and the peak, of those that came to an end in time."""
    with tempfile.TemporaryDirectory() as folder:
        _in_a_process("make", folder, rows, None)
        return read("".join(_in_a_process(step, folder, rows, limit_s) for step in ("attack", "score")))


def _in_a_process(step: str, folder: str, rows: int, limit_s: float | None) -> str:
    """What it printed until its end, or until its time was over."""
    command = [sys.executable, "-m", "benchmarks.peers.growth", "--step", step, folder, "--rows", str(rows)]
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=limit_s).stdout.decode()
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode()


def read(said: str) -> Times:
    pairs = (line.split("\t") for line in said.splitlines(keepends=True) if line.endswith("\n"))
    return {task: float(number) for task, number in pairs}


def exponent(seconds: Mapping[int, float]) -> float:
    """Of the power of the rows that the times grow with, by least squares of their logarithms."""
    rows, times = (np.log(list(each)) for each in (seconds.keys(), seconds.values()))
    return float(np.polyfit(rows, times, 1)[0])


def report(sizes: Sequence[int], *, limit_s: float = LIMIT_S) -> None:
    print("| rows | " + " | ".join(f"{task}, s" for task in GOALS) + " | peak MB |")
    print("| --- " * (len(GOALS) + 2) + "|", flush=True)
    by_rows: dict[int, Times] = {}
    for rows in sizes:
        by_rows[rows] = found = measured(rows, limit_s=limit_s)
        cells = [f"{found.get(task, math.inf):.3g}" for task in (*GOALS, "peak MB")]
        print(f"| {rows:,} | {' | '.join(cells)} |", flush=True)
    for task, most in GOALS.items():
        seconds = {rows: found[task] for rows, found in by_rows.items() if task in found}
        if len(seconds) > 1:
            power = exponent(seconds)
            said = "met" if power <= most else f"missed by n^{power - most:.2f}"
            print(f"{task}: n^{power:.2f} up to {max(seconds):,} rows; goal n^{most}: {said}")
    peak = max(found.get("peak MB", math.inf) for found in by_rows.values())
    print(f"peak {peak:.0f} MB at most; goal {PEAK_MB} at a million rows")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.growth", description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rows", type=int, help="one size only")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step is None:
        report([given.rows] if given.rows else LARGE if given.large else SHORT)
        return
    step, folder = given.step[0], Path(given.step[1])
    if step == "make":
        make(folder, given.rows)
    else:
        {"attack": attack, "score": score}[step](folder)


if __name__ == "__main__":
    main()
