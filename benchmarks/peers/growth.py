"""Measure time and memory by number of rows: ``python -m benchmarks.peers.growth [--large]``.

Each size is measured in separate processes, which parse files as a worker does. The peak is the memory of the
process that scores. Times are CPU seconds, because the sizes are measured one after the other.
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
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.microdata.release import MicrodataOriginal, build_target
from benchmarks.peers.inputs import make_microdata, make_unmatched
from benchmarks.peers.linkage import attack_euc1, attack_euc2

SHORT_SIZES = (2_083, 8_333, 33_332)
LARGE_SIZES = (8_333, 83_330, 250_000, 1_000_000)
TIMEOUT_S = 900
MAX_EXPONENTS = {"EUC1": 1.25, "EUC2, none matched": 1.45, "parse + whole evaluation": 1.25}
_MAX_PEAK_MB = 1024
REPEATS, MAX_MEASURING_S = 5, 1.0

Times = dict[str, float]


def make_files(folder: Path, rows: int) -> None:
    """Write an original, a release and its source rows to ``folder``."""
    table = generate_households(rows)
    data = make_microdata("", table)
    (folder / "original").write_bytes(write_csv(table))
    (folder / "anonymized").write_bytes(data.files["anonymized"])
    np.save(folder / "source.npy", data.source)


def time_attacks(folder: Path) -> None:
    """Print a line with the seconds of EUC1 and one with those of EUC2."""
    kernels.load()
    target = build_target(*_parse(folder, _load_rules()))
    _print_time("EUC1", lambda: attack_euc1(target, len(target.original.columns.quasi_identifiers)))
    unmatched_target = make_unmatched(target)
    _print_time("EUC2, none matched", lambda: attack_euc2(unmatched_target))


def time_scoring(folder: Path) -> None:
    """Print a line with the seconds of parsing and scoring, and one with the peak memory in MB."""
    kernels.load()
    rules, source = _load_rules(), np.load(folder / "source.npy")

    def parse_and_score() -> None:
        evaluate(rules, *_parse(folder, rules), source)

    _print_time("parse + whole evaluation", parse_and_score)
    print(f"peak MB\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}", flush=True)


def _load_rules() -> Rules:
    """Return rules with scales, which the service computes once for a competition."""
    rules = parse_competition(template(2015))
    return replace(rules, scales=dict.fromkeys(rules.weights, 1.0))


def _parse(folder: Path, rules: Rules) -> tuple[MicrodataOriginal, pd.DataFrame]:
    track = TRACKS["microdata"]
    files = {name: (folder / name).read_bytes() for name in ("original", "anonymized")}
    original, _ = track.parse_original(files, rules)
    released, _ = track.parse_release(files, original, rules, {})
    return original, released


def _print_time(task: str, function: Callable[[], Any]) -> None:
    samples: list[float] = []
    while len(samples) < REPEATS and sum(samples) < MAX_MEASURING_S:
        start = time.process_time()
        function()
        samples.append(time.process_time() - start)
    print(f"{task}\t{statistics.median(samples)}", flush=True)


def measure(rows: int, *, timeout_s: float = TIMEOUT_S) -> Times:
    """Return the seconds by task and the peak memory, without tasks that exceeded the time limit."""
    with tempfile.TemporaryDirectory() as folder:
        _run_step("make", folder, rows, None)
        return parse_output("".join(_run_step(step, folder, rows, timeout_s) for step in ("attack", "score")))


def _run_step(step: str, folder: str, rows: int, timeout_s: float | None) -> str:
    """Run a step in a process; return its output until it ended or timed out."""
    command = [sys.executable, "-m", "benchmarks.peers.growth", "--step", step, folder, "--rows", str(rows)]
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=timeout_s).stdout.decode()
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode()


def parse_output(output: str) -> Times:
    pairs = (line.split("\t") for line in output.splitlines(keepends=True) if line.endswith("\n"))
    return {task: float(number) for task, number in pairs}


def fit_exponent(seconds: Mapping[int, float]) -> float:
    """Fit time = c * rows ** e by least squares of the logarithms, and return the exponent e."""
    rows, times = (np.log(list(values)) for values in (seconds.keys(), seconds.values()))
    return float(np.polyfit(rows, times, 1)[0])


def report(sizes: Sequence[int], *, timeout_s: float = TIMEOUT_S) -> None:
    print("| rows | " + " | ".join(f"{task}, s" for task in MAX_EXPONENTS) + " | peak MB |")
    print("| --- " * (len(MAX_EXPONENTS) + 2) + "|", flush=True)
    by_rows: dict[int, Times] = {}
    for rows in sizes:
        by_rows[rows] = times = measure(rows, timeout_s=timeout_s)
        cells = [f"{times.get(task, math.inf):.3g}" for task in (*MAX_EXPONENTS, "peak MB")]
        print(f"| {rows:,} | {' | '.join(cells)} |", flush=True)
    for task, max_exponent in MAX_EXPONENTS.items():
        seconds = {rows: times[task] for rows, times in by_rows.items() if task in times}
        if len(seconds) > 1:
            exponent = fit_exponent(seconds)
            verdict = "met" if exponent <= max_exponent else f"missed by n^{exponent - max_exponent:.2f}"
            print(f"{task}: n^{exponent:.2f} up to {max(seconds):,} rows; goal n^{max_exponent}: {verdict}")
    peak = max(times.get("peak MB", math.inf) for times in by_rows.values())
    print(f"peak {peak:.0f} MB at most; goal {_MAX_PEAK_MB} at a million rows")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.growth", description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rows", type=int, help="one size only")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step is None:
        report([options.rows] if options.rows else LARGE_SIZES if options.large else SHORT_SIZES)
        return
    step, folder = options.step[0], Path(options.step[1])
    if step == "make":
        make_files(folder, options.rows)
    else:
        {"attack": time_attacks, "score": time_scoring}[step](folder)


if __name__ == "__main__":
    main()
