"""How long scoring one release takes: ``python -m benchmarks.scoring [--method NAME] [--rows N]``.

Median milliseconds of every measure, attacker and check, each including what it is the first to derive from
the release; what is derived from the original alone is timed apart. Compilation is not counted.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from app.scoring import kernels
from app.scoring.arrays import IntArray
from app.scoring.excessive.advisor import suggest_threshold
from app.scoring.excessive.check import individual_distances
from app.scoring.methods import METHODS
from app.scoring.release import PreparedOriginal, prepare, release_of
from app.scoring.scales import scales
from app.scoring.synthetic import ROWS, household_columns, household_table
from app.scoring.tracks import TRACKS

UNMATCHED = "unmatched"
REPEATS = 5


def anonymized(method: str, table: pd.DataFrame) -> tuple[pd.DataFrame, IntArray]:
    """A release by a method's name; ``unmatched``: noise, and no row's quasi-identifiers occur in X."""
    rng = np.random.default_rng(0)
    if method != UNMATCHED:
        return METHODS[method].apply(table, household_columns(), rng=rng)
    noisy, source = METHODS["add_noise"].apply(table, household_columns(), rng=rng)
    return noisy.assign(SetaiKubun="unknown"), source


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def one_round(original: PreparedOriginal, table: pd.DataFrame, source: IntArray) -> dict[str, float]:
    """The time of each part of scoring, in the order it is done in."""
    track = TRACKS["microdata"]
    start = time.perf_counter()
    release = release_of(original, table, source)
    times = {"(encoding)": 1000 * (time.perf_counter() - start)}
    for name, measure in track.measures.items():
        times[name] = milliseconds(lambda: measure.compute(release))  # noqa: B023
    for name, attacker in track.attackers.items():
        times[name] = milliseconds(lambda: attacker.attack(release.target))  # noqa: B023
    times["excessive"] = milliseconds(lambda: individual_distances(release))
    return times | {"total": sum(times.values())}


def report(method: str, rows: int) -> None:
    table = household_table(rows)
    release = anonymized(method, table)
    cold = one_round(prepare(table, household_columns()), *release)
    original = prepare(table, household_columns())
    first = milliseconds(lambda: prepare(table, household_columns()))
    one_round(original, *release)
    rounds = [one_round(original, *release) for _ in range(REPEATS)]
    print(f"{rows} x {len(table.columns)}, {method}; median of {REPEATS}")
    for name in rounds[0]:
        print(f"  {name:<18}{statistics.median(times[name] for times in rounds):10.2f} ms")
    print(f"  {'total, cold':<18}{cold['total'] + first:10.2f} ms  with preparing the original")
    print(f"  {'scales':<18}{milliseconds(lambda: scales(original, {})):10.2f} ms  once per competition")
    print(f"  {'threshold advice':<18}{milliseconds(lambda: suggest_threshold(original)):10.2f} ms  once")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", choices=[UNMATCHED, *METHODS], action="append")
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    kernels.warm()
    for method in given.method or ["add_noise", "k_anonymize", UNMATCHED]:
        report(method, given.rows)


if __name__ == "__main__":
    main()
