"""How long scoring takes: ``python -m benchmarks.scoring [PART] [--method NAME]``.

Median milliseconds of every measure, attacker and check, each including what it is the first to derive from
the release; what is derived from the original alone is timed apart. Compilation is not counted.
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
from anoncup.excessive.advisor import advise
from anoncup.excessive.certified_bounds import certified_bounds
from anoncup.excessive.gaps import close_gaps
from anoncup.excessive.individual_distances import individual_distances
from anoncup.geometry import kernels
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.example import ROWS, household_table
from anoncup.tracks.model import Tables, Track
from anoncup.tracks.transactions.example import tc400

UNMATCHED = "unmatched"
REPEATS = 5
YEARS = {"microdata": 2015, "transactions": 2016}
USUAL = {
    "microdata": ("add_noise", "k_anonymize", UNMATCHED),
    "transactions": ("delete_records", "cluster_tfidf", "balance_clusters"),
}


def released(track: Track, rules: Rules, tables: Tables, method: str) -> tuple[Tables, IntArray]:
    """A shuffled release by a method's name; ``unmatched``: noise, no row's quasi-identifiers occur in X."""
    rng = np.random.default_rng(0)
    chosen = track.methods["add_noise" if method == UNMATCHED else method]
    release, source = track.anonymize(chosen, tables, rules, rng, {})
    if method == UNMATCHED:
        release = release.assign(SetaiKubun="unknown")
    return track.shuffle(release, source, rng=rng)


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def one_round(
    track: Track, rules: Rules, original: Any, release: tuple[Tables, IntArray]
) -> dict[str, float]:
    """The time of each part of scoring, in the order it is done in."""
    start = time.perf_counter()
    made = track.release_of(original, *release)
    times = {"(encoding)": 1000 * (time.perf_counter() - start)}
    for name, measure in track.measures.items():
        chosen: Mapping[str, object] = rules.measure(name).parameters
        times[name] = milliseconds(lambda: measure.compute(made, **chosen))  # noqa: B023
    for name, attacker in track.attackers.items():
        chosen = rules.attacker(name).parameters
        times[name] = milliseconds(lambda: attacker.attack(made.target, **chosen))  # noqa: B023
    distance = track.distances[rules.against_excess.distance]
    times["excessive"] = milliseconds(lambda: individual_distances(made, distance))
    return times | {"total": sum(times.values())}


def report(track: Track, tables: Tables, method: str) -> None:
    rules = parse_competition(template(YEARS[track.name]))
    release = released(track, rules, tables, method)
    files = dict(zip(track.original_files, track.files_of(tables).values(), strict=True))
    parsing = milliseconds(lambda: track.parse_original(files, rules))
    first = milliseconds(lambda: track.prepare(tables, rules))
    cold = one_round(track, rules, track.prepare(tables, rules), release)
    original = track.prepare(tables, rules)
    one_round(track, rules, original, release)
    rounds = [one_round(track, rules, original, release) for _ in range(REPEATS)]
    print(f"{track.name}, {track.individuals(tables)} individuals, {method}; median of {REPEATS}")
    for name in rounds[0]:
        print(f"  {name:<28}{statistics.median(times[name] for times in rounds):10.2f} ms")
    print(f"  {'total, cold':<28}{cold['total'] + first:10.2f} ms  with preparing the original")
    print(f"  {'parsing the original':<28}{parsing:10.2f} ms")
    print(f"  {'scales':<28}{milliseconds(lambda: scales(track, original, {})):10.2f} ms  once")


def report_bounds() -> None:
    """All bounds for all r on TC400, and the advice on it."""
    track = TRACKS["transactions"]
    original = track.prepare(tc400(), parse_competition(template(2016)))
    distance = track.distances["jaccard_quantity"]
    matrix = distance.matrix(original)
    certified_bounds(matrix[:20, :20])
    bounds = certified_bounds(matrix)
    print(f"bounds on TC400, all r; {int(bounds.exact.sum())} of {len(bounds.exact)} are exact at once")
    print(f"  {'certified for all r':<28}{milliseconds(lambda: certified_bounds(matrix)):10.2f} ms")
    for seconds in (1.0, 3.0, 4.5):
        start = time.perf_counter()
        closed = close_gaps(matrix, bounds, seconds=seconds)
        took = 1000 * (time.perf_counter() - start)
        print(f"  {f'closing gaps, {seconds} s':<28}{took:10.2f} ms  {int(closed.exact.sum())} exact")
    groups = track.groups(original, ("sex", "country"))
    print(
        f"  {'advice':<28}{milliseconds(lambda: advise(original, distance, groups)):10.2f} ms  30,000 draws"
    )


def report_advice(rows: int) -> None:
    """The advice on a table of households, which is to take 10 s for 8,333 rows."""
    track, rules = TRACKS["microdata"], parse_competition(template(2015))
    original = track.prepare(household_table(rows), rules)
    distance = track.distances[rules.against_excess.distance]
    groups = track.groups(original, track.group_columns(rules)[1])
    print(f"advice on {rows} rows, distance {distance.name}")
    print(f"  {'advice':<28}{milliseconds(lambda: advise(original, distance, groups)):10.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*YEARS, "bounds", "advice", []])
    parser.add_argument("--method", action="append")
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    kernels.warm()
    for part in given.part or (*YEARS, "bounds", "advice"):
        if part == "advice":
            report_advice(given.rows)
            continue
        if part == "bounds":
            report_bounds()
            continue
        tables = household_table(given.rows) if part == "microdata" else tc400()
        for method in given.method or USUAL[part]:
            report(TRACKS[part], tables, method)


if __name__ == "__main__":
    main()
