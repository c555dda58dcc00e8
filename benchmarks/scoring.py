"""Time the parts of scoring: ``python -m benchmarks.scoring [PART] [--method NAME]``.

Prints the median milliseconds of every measure, attacker and check. The time to derive values from the
release counts for the part that first needs them. Preparing the original is timed separately, and compilation
is not counted.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.scales import scales
from anoncup.excessive.rejection_rule import compute_individual_distances
from anoncup.excessive.threshold_advisor import advise
from anoncup.geometry import kernels
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.example import (
    DEFAULT_ROWS,
    generate_households,
    get_household_columns,
    make_example_data,
)
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import files_of

_UNMATCHED = "unmatched"
_REPEATS = 5
_TEMPLATE_YEARS = {"microdata": 2015, "transactions": 2016}
_DEFAULT_METHODS = {
    "microdata": ("add_noise", "k_anonymize", _UNMATCHED),
    "transactions": ("delete_records", "cluster_tfidf", "balance_clusters"),
}


def _make_release(track: AnyTrack, rules: Rules, original: HasRows, method: str) -> tuple[Any, IntArray]:
    """Return a shuffled release and its source rows.

    The method ``unmatched`` adds noise and replaces quasi-identifiers by values that do not occur in X.
    """
    rng = np.random.default_rng(0)
    sample_method = track.methods["add_noise" if method == _UNMATCHED else method]
    release, source = track.anonymize(sample_method, original, rules, rng, {})
    if method == _UNMATCHED:
        release = release.assign(SetaiKubun="unknown")
    return track.shuffle(release, source, rng=rng)


def _measure_milliseconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return 1000 * (time.perf_counter() - start)


def _time_parts(
    track: AnyTrack, rules: Rules, original: HasRows, release: tuple[Any, IntArray]
) -> dict[str, float]:
    """Return the milliseconds of each part of scoring, in the order in which they run."""
    start = time.perf_counter()
    evaluated_release = track.add_answer(release[1], track.build_context(rules, original, release[0]))
    times = {"(encoding)": 1000 * (time.perf_counter() - start)}
    for name, measure in track.measures.items():
        parameters: Mapping[str, object] = rules.measure_settings(name).parameters
        times[name] = _measure_milliseconds(lambda: measure.compute(evaluated_release, **parameters))  # noqa: B023
    for name, attacker in track.attackers.items():
        parameters = rules.attacker_settings(name).parameters
        times[name] = _measure_milliseconds(lambda: attacker.attack(evaluated_release.target, **parameters))  # noqa: B023
    distance = track.distances[rules.required_excessive.distance]
    times["excessive"] = _measure_milliseconds(
        lambda: compute_individual_distances(evaluated_release, distance)
    )
    return times | {"total": sum(times.values())}


def report(track: AnyTrack, files: Mapping[str, bytes], method: str) -> None:
    rules = parse_competition(template(_TEMPLATE_YEARS[track.name]))
    parsing_ms = _measure_milliseconds(lambda: track.parse_original(files, rules))
    original, _ = track.parse_original(files, rules)
    release = _make_release(track, rules, original, method)
    cold_times = _time_parts(track, rules, track.parse_original(files, rules)[0], release)
    _time_parts(track, rules, original, release)
    rounds = [_time_parts(track, rules, original, release) for _ in range(_REPEATS)]
    print(f"{track.name}, {original.rows} individuals, {method}; median of {_REPEATS}")
    for name in rounds[0]:
        print(f"  {name:<28}{statistics.median(times[name] for times in rounds):10.2f} ms")
    print(f"  {'total, cold':<28}{cold_times['total']:10.2f} ms  with preparing the original")
    print(f"  {'parsing the original':<28}{parsing_ms:10.2f} ms")
    print(f"  {'scales':<28}{_measure_milliseconds(lambda: scales(track, original, {})):10.2f} ms  once")


def _report_advice(rows: int) -> None:
    """Time the advice on a table of households. The goal is 10 s for 8,333 rows."""
    track, rules = TRACKS["microdata"], parse_competition(template(2015))
    original = MicrodataOriginal(generate_households(rows), get_household_columns())
    distance = track.distances[rules.required_excessive.distance]
    groups = track.distances.group_individuals(original, track.distances.group_columns(rules)[1])
    print(f"advice on {rows} rows, distance {distance.name}")
    print(f"  {'advice':<28}{_measure_milliseconds(lambda: advise(original, distance, groups)):10.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*_TEMPLATE_YEARS, "advice", []])
    parser.add_argument("--method", action="append")
    parser.add_argument("--rows", type=int, default=DEFAULT_ROWS)
    options = parser.parse_args()
    kernels.load()
    for part in options.part or (*_TEMPLATE_YEARS, "advice"):
        if part == "advice":
            _report_advice(options.rows)
            continue
        files = make_example_data(options.rows, 0) if part == "microdata" else files_of(load_tc400())
        for method in options.method or _DEFAULT_METHODS[part]:
            report(TRACKS[part], files, method)


if __name__ == "__main__":
    main()
