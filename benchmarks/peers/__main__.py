"""Print the comparison table: ``python -m benchmarks.peers [--large] [--only WORD]``.

By default it takes under three minutes, with 8,333 rows, and 100,000 for k-anonymity and the cross-tables.
``--large`` uses a million for these, and gives slow peers all rows.
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
from anoncup.tracks.microdata.example import DEFAULT_ROWS, generate_households
from anoncup.tracks.transactions.release import TransactionTarget
from benchmarks.peers import baskets, linkage, tables
from benchmarks.peers.duel import HEADER, Duel, DuelOutcome, run_duel
from benchmarks.peers.inputs import (
    Microdata,
    get_reference_folder,
    load_retail,
    make_customer_target,
    make_hostile_customers,
    make_hostile_targets,
    make_microdata,
    make_shipped_target,
    make_unmatched,
)
from benchmarks.peers.inputs import list_microdata as real_and_generated


@dataclass(frozen=True, slots=True)
class SuiteSize:
    """Sizes of the inputs.

    ``rows`` is the size of most tables, and ``grouped_rows`` that of tables whose rows are only grouped. A
    slow peer gets only every ``…_part``-th row.
    """

    rows: int = DEFAULT_ROWS
    grouped_rows: int = 100_000
    customers: int = 400
    dict_part: int = 20
    loop_part: int = 20
    multiset_part: int = 100
    turns: int = 5


SHORT_SUITE = SuiteSize()
LARGE_SUITE = SuiteSize(grouped_rows=1_000_000, dict_part=1, loop_part=1, multiset_part=10)

DuelCase = tuple[Duel, str, Any, list[Any]]
"""A duel, the name of its data, the case to time, and hostile cases for comparing the answers only."""


def _list_cases(size: SuiteSize) -> Iterator[DuelCase]:
    """Yield all duels. Their data is only created when it is needed."""
    hostile: list[Any] = list(make_hostile_targets())
    for table in real_and_generated(size.rows):
        yield from _list_linkage_cases(table, size, hostile)
    yield from _list_grouping_cases(size, hostile)
    yield from _list_customer_cases(size)


def _list_linkage_cases(table: Microdata, size: SuiteSize, hostile: list[Any]) -> Iterator[DuelCase]:
    for duel in linkage.build_euc1_duels(size.dict_part):
        yield duel, table.name, table.matched, hostile
    for duel in linkage.build_euc2_duels(size.loop_part):
        yield duel, table.name, table.unmatched, list(map(make_unmatched, hostile))
    yield tables.build_cross_duel(8), table.name, table.matched, hostile
    whole = tables.prepare_upload(table.rules, table.matched.original, table.files, table.source)
    unmatched = replace(whole, files=table.unmatched_files)
    for upload, name, goal in ((whole, "", 6.0), (unmatched, ", none matched", 9.0)):
        for duel in tables.build_csv_duels(max_factor=goal):
            yield duel, f"{table.name}{name}", upload, []


def _list_grouping_cases(size: SuiteSize, hostile: list[Any]) -> Iterator[DuelCase]:
    large_table = make_microdata(
        f"generated, {size.grouped_rows:,} rows", generate_households(size.grouped_rows)
    )
    for duel in tables.build_k_duels():
        yield duel, large_table.name, large_table.matched, hostile
    yield tables.build_cross_duel(2.5), large_table.name, large_table.matched, []


def _list_customer_cases(size: SuiteSize) -> Iterator[DuelCase]:
    hostile: list[Any] = list(make_hostile_customers())
    name, target = make_shipped_target(size.customers)
    for duel in baskets.build_small_duels():
        yield duel, name, target, hostile
    upload = _prepare_customer_upload(target)
    for duel in tables.build_csv_duels(include_small_task=False):
        yield duel, name, upload, []
    folder = get_reference_folder()
    if folder is None:
        print("ANONCUP_REFERENCE_DATA names no folder: the real table and Online Retail are left out")
        return
    name, target = make_customer_target("Online Retail, 4,334", load_retail(folder))
    for duel in baskets.build_large_duels(size.multiset_part):
        yield duel, name, target, hostile


def _prepare_customer_upload(target: TransactionTarget) -> tables.PreparedUpload:
    """Return a transaction release as an upload. The secret does not affect the time and is arbitrary."""
    rules, track = parse_competition(template(2016)), TRACKS["transactions"]
    return tables.prepare_upload(
        rules, target.original, track.files_of(target.tables), np.arange(target.rows)
    )


def _describe_machine() -> str:
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, load {load}; Python {platform.python_version()}"


def _format_row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def run_duels(size: SuiteSize, only: str = "") -> list[DuelOutcome]:
    print(
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {_describe_machine()}; "
        f"median of {size.turns} turns, one thread"
    )
    print(_format_row(HEADER), _format_row(tuple("---" for _ in HEADER)), sep="\n", flush=True)
    outcomes = []
    for duel, data, case, hostile in _list_cases(size):
        if only not in f"{duel.task} {duel.peer} {data}":
            continue
        outcomes.append(run_duel(duel, data, case, hostile, turns=size.turns))
        print(_format_row(outcomes[-1].format_cells()), flush=True)
    return outcomes


def summarize(outcomes: Iterable[DuelOutcome]) -> list[str]:
    """Return a table with the ratios and the verdict for each goal."""
    by_goal: dict[tuple[str, str, str], list[DuelOutcome]] = {}
    for outcome in outcomes:
        if outcome.duel.goal is not None:
            by_goal.setdefault((outcome.duel.task, outcome.duel.peer, str(outcome.duel.goal)), []).append(
                outcome
            )
    rows = [_format_row(("task", "beside", "goal", "measured")), _format_row(("---",) * 4)]
    return rows + [
        _format_row((*goal, "; ".join(map(_describe_outcome, goal_outcomes))))
        for goal, goal_outcomes in by_goal.items()
    ]


def _describe_outcome(outcome: DuelOutcome) -> str:
    return f"{outcome.data}: {outcome.ratio:.3g}x, {outcome.verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="rows that have it in task, peer or data")
    options = parser.parse_args()
    kernels.load()
    start = time.perf_counter()
    outcomes = run_duels(LARGE_SUITE if options.large else SHORT_SUITE, options.only)
    print("", *summarize(outcomes), sep="\n")
    outcomes_with_goal = [outcome for outcome in outcomes if outcome.duel.goal is not None]
    met_count = sum(outcome.is_met for outcome in outcomes_with_goal)
    print(
        f"{met_count} of {len(outcomes_with_goal)} goals met; "
        f"{time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
