"""The table: ``python -m benchmarks.peers [--large] [--only WORD]``.

Short, under three minutes: 8,333 rows, 100,000 for k-anonymity and the cross-tables. ``--large``: a million
for these, and slow peers get all rows.
"""

import argparse
import os
import platform
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry import kernels
from anoncup.plugins import TRACKS
from anoncup.tracks.microdata.example import ROWS, household_table
from anoncup.tracks.transactions.baskets import distance_matrix
from anoncup.tracks.transactions.release import TransactionTarget
from benchmarks.peers import baskets, linkage, tables
from benchmarks.peers.duel import HEAD, Duel, Outcome, fought
from benchmarks.peers.inputs import (
    Microdata,
    customers,
    hostile_customers,
    hostile_targets,
    microdata,
    reference_data,
    retail,
    shipped,
    unmatched,
)
from benchmarks.peers.inputs import tables as real_and_generated


@dataclass(frozen=True, slots=True)
class Size:
    """``rows`` of the tables, and ``many`` of those only grouped; ``part``: slow peers get one in so many."""

    rows: int = ROWS
    many: int = 100_000
    customers: int = 400
    dict_part: int = 20
    loop_part: int = 20
    multiset_part: int = 100
    turns: int = 5


SHORT = Size()
LARGE = Size(many=1_000_000, dict_part=1, loop_part=1, multiset_part=10)

Bout = tuple[Duel, str, Any, list[Any]]
"""A duel, the name of the data, the case, and the hostile ones."""


def bouts(size: Size) -> Iterator[Bout]:
    """All there are; what a case is made of is made when its turn comes."""
    hostile: list[Any] = list(hostile_targets())
    for table in real_and_generated(size.rows):
        yield from linked(table, size, hostile)
    yield from grouped(size, hostile)
    yield from of_customers(size)


def linked(table: Microdata, size: Size, hostile: list[Any]) -> Iterator[Bout]:
    for duel in linkage.euc1_duels(size.dict_part):
        yield duel, table.name, table.matched, hostile
    for duel in linkage.euc2_duels(size.loop_part):
        yield duel, table.name, table.unmatched, list(map(unmatched, hostile))
    yield tables.cross_duel(8), table.name, table.matched, hostile
    whole = tables.uploaded(table.rules, table.table, table.files, table.source)
    for upload, name in ((whole, ""), (replace(whole, files=table.unmatched_files), ", none matched")):
        for duel in tables.csv_duels():
            yield duel, f"{table.name}{name}", upload, []


def grouped(size: Size, hostile: list[Any]) -> Iterator[Bout]:
    many = microdata(f"generated, {size.many:,} rows", household_table(size.many))
    for duel in tables.k_duels():
        yield duel, many.name, many.matched, hostile
    yield tables.cross_duel(2.5), many.name, many.matched, []


def of_customers(size: Size) -> Iterator[Bout]:
    hostile: list[Any] = list(hostile_customers())
    name, target = shipped(size.customers)
    for duel in baskets.small_duels():
        yield duel, name, target, hostile
    yield baskets.bounds_duel(), name, distance_matrix(target.original, "jaccard_quantity"), []
    upload = uploaded_customers(target)
    for duel in tables.csv_duels(some=False):
        yield duel, name, upload, []
    folder = reference_data()
    if folder is None:
        print("ANONCUP_REFERENCE_DATA names no folder: the real table and Online Retail are left out")
        return
    name, target = customers("Online Retail, 4,334", retail(folder))
    for duel in baskets.large_duels(size.multiset_part):
        yield duel, name, target, hostile


def uploaded_customers(target: TransactionTarget) -> tables.Upload:
    """TC400's release as files. Whose it is makes no difference to the time."""
    rules, track = parse_competition(template(2016)), TRACKS["transactions"]
    return tables.uploaded(
        rules, target.original.tables, track.files_of(target.tables), np.arange(target.rows)
    )


def machine() -> str:
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, load {load}; Python {platform.python_version()}"


def row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def report(size: Size, only: str = "") -> list[Outcome]:
    print(
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}; median of {size.turns} turns, one thread"
    )
    print(row(HEAD), row(tuple("---" for _ in HEAD)), sep="\n", flush=True)
    found = []
    for duel, data, case, hostile in bouts(size):
        if only not in f"{duel.task} {duel.peer} {data}":
            continue
        found.append(fought(duel, data, case, hostile, turns=size.turns))
        print(row(found[-1].cells()), flush=True)
    return found


def summary(found: Iterable[Outcome]) -> list[str]:
    """A row for each goal: the ratio on each data, and how many times better it would have to be."""
    by_goal: dict[tuple[str, str, str], list[Outcome]] = {}
    for each in found:
        if each.duel.goal is not None:
            by_goal.setdefault((each.duel.task, each.duel.peer, str(each.duel.goal)), []).append(each)
    rows = [row(("task", "beside", "goal", "measured")), row(("---",) * 4)]
    return rows + [row((*goal, "; ".join(map(_said, those)))) for goal, those in by_goal.items()]


def _said(outcome: Outcome) -> str:
    return f"{outcome.data}: {outcome.ratio:.3g}x, {outcome.verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="rows that have it in task, peer or data")
    given = parser.parse_args()
    kernels.load()
    start = time.perf_counter()
    found = report(LARGE if given.large else SHORT, given.only)
    print("", *summary(found), sep="\n")
    goals = [each for each in found if each.duel.goal is not None]
    met = sum(each.met for each in goals)
    print(
        f"{met} of {len(goals)} goals met; {time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
