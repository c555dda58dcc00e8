"""What many submissions take: ``python -m benchmarks.scale [--only workers|rows|stored] [--large]``.

Web server, clock and workers run as ``docs/hosting.md`` starts them, on servers of their own. Printed are,
for releases of 8,333 rows and 25 columns and for TC400, how many are scored in a second with two hosts that
share Postgres, Valkey and a bucket by TCP, and with 1, 2 and 4 scoring processes on one; and the CPU time
that one takes, by the kind of process, which says the same on a busy machine. Then the database with 100,000
submissions, and one evaluation by its rows. Less than eight minutes; ``--large``: up to a million of both.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select

from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import files_of
from app.db.models import Evaluation
from app.db.transaction import transaction
from app.processes.supervisor import wait_until_healthy
from benchmarks import rush, stored
from benchmarks.hosts import Plant, networked, planted, programs
from benchmarks.load import Answer, spread
from benchmarks.peers import growth
from benchmarks.processes import watched
from benchmarks.service import Service
from tests.e2e.stack import free_port, running, shop_file

KINDS = ("web", "readers of uploads", "worker", "scoring children", "postgres", "valkey", "clock", "bucket")
ROWS, MANY_ROWS = (8_333, 83_330, 250_000), (8_333, 83_330, 250_000, 1_000_000)
UPLOADS, WARMING = 60, 3
SUBMISSIONS, MANY_SUBMISSIONS = (100_000,), (100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of competition: its file by its slug, its data, and releases with their secrets."""

    name: str
    file: Callable[[str], str]
    original: Mapping[str, bytes]
    releases: Sequence[dict[str, bytes]]


def household(number: int) -> Case:
    table = household_table()
    made = released(rush.rush_file("made"), table, "swap_within_classes", number)
    return Case("8,333 x 25", rush.rush_file, {"original.csv": table_csv(table)}, made)


def shop(number: int) -> Case:
    tables = tc400()
    made = released(shop_file("made"), tables, "balance_clusters", number)
    return Case("TC400", shop_file, {f"{name}.csv": one for name, one in files_of(tables).items()}, made)


def released(file: str, table: Any, method: str, number: int) -> list[dict[str, bytes]]:
    """One release, in so many orders."""
    rules = parse_competition(file)
    track = TRACKS[rules.track]
    made = track.anonymize(track.methods[method], table, rules, np.random.default_rng(0), {})
    found: list[dict[str, bytes]] = []
    for seed in range(number):
        release, source = track.shuffle(*made, rng=np.random.default_rng(seed))
        found.append({**track.files_of(release), "secret": secret_csv(source)})
    return found


def scored(plant: Plant, case: Case, token: str, *, hosts: int, jobs: int) -> str:
    """A row of the table; the first submissions only warm the processes."""
    port, warming = free_port(), WARMING * hosts * jobs
    with ExitStack() as started:
        for program in programs(plant, port, hosts, jobs):
            started.enter_context(running(program))
        service = Service(port, os.getpid())
        wait_until_healthy(f"{service.url}/readyz", check=lambda: None)
        slug = opened(service, token, case)
        requests = rush.uploads(slug, rush.enrolled(slug, len(case.releases)), iter(case.releases))
        asyncio.run(rush.warmed(service, requests[:warming]))
        began = datetime.now(UTC)
        with watched(service.pid) as usage:
            answers = asyncio.run(rush_in(port, requests[warming:]))
        assert not rush.refused(answers), "a benchmark of refusals says nothing"
    spent = [1000 * usage.cpu[kind] / (len(requests) - warming) for kind in KINDS]
    numbers = " | ".join(f"{one:.0f}" for one in (*spent, sum(spent)))
    rate = f"{hosts} | {hosts * jobs} | {rate_since(began):.2f}"
    return f"| {case.name} | {rate} | {numbers} | {usage.others:.0f} s |"


def opened(service: Service, token: str, case: Case) -> str:
    slug = f"scale-{service.port}"
    with Client(service.url, token) as client:
        client.create_competition(case.file(slug))
        for file, content in case.original.items():
            client.put_original(slug, content, file=file)
    return slug


async def rush_in(port: int, requests: list[bytes]) -> list[Answer]:
    """All at once; returns when all are scored."""
    answers = await spread(port, requests, 0.0)
    await rush.all_scored(asyncio.Event())
    return answers


def rate_since(moment: datetime) -> float:
    """How many were scored in a second, from the beginning of the first to the end of the last."""
    took = func.extract("epoch", func.max(Evaluation.finished_at) - func.min(Evaluation.started_at))
    with transaction() as session:
        return float(
            session.scalars(select(func.count() / took).where(Evaluation.created_at >= moment)).one()
        )


def report_scoring(plant: Plant, cases: Sequence[Case], layouts: Sequence[tuple[int, int]]) -> None:
    """``layouts``: hosts, and the jobs of each."""
    token = rush.organizer()
    for case in cases:
        for hosts, jobs in layouts:
            print(scored(plant, case, token, hosts=hosts, jobs=jobs), flush=True)


def report_hosts(folder: Path, cases: Sequence[Case]) -> None:
    """A database of its own: it names no file that the bucket lacks."""
    heads = (
        "case",
        "hosts",
        "processes",
        "scored /s",
        *(f"{kind}, ms" for kind in KINDS),
        "all, ms",
        "others",
    )
    print("| " + " | ".join(heads) + " |\n" + "| --- " * len(heads) + "|", flush=True)
    with planted(folder) as (plant, services), networked(plant, services) as apart:
        report_scoring(apart, cases, [(2, 1)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", choices=("workers", "rows", "stored"))
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    wanted = {given.only} if given.only else {"workers", "rows", "stored"}
    with tempfile.TemporaryDirectory() as folder:
        cases = (household(UPLOADS), shop(UPLOADS // 2)) if "workers" in wanted else (household(2 * WARMING),)
        if "workers" in wanted:
            report_hosts(Path(folder, "hosts"), cases)
        if wanted & {"workers", "stored"}:
            with planted(Path(folder, "one")) as (plant, _):
                report_scoring(plant, cases, [(1, 1), (1, 2), (1, 4)] if "workers" in wanted else [(1, 1)])
                if "stored" in wanted:
                    stored.report(MANY_SUBMISSIONS if given.large else SUBMISSIONS)
    if "rows" in wanted:
        growth.report(MANY_ROWS if given.large else ROWS)


if __name__ == "__main__":
    main()
