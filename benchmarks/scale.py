"""Measure how the service scales: ``python -m benchmarks.scale [--only workers|rows|queries] [--large]``.

Web server, clock and workers run as in ``docs/hosting.md``, on private servers. For releases of 8,333 rows
and 25 columns and for TC400, prints the submissions scored per second with two hosts that share Postgres,
Valkey and a bucket over TCP, and with 1, 2 and 4 scoring processes on one host. Also prints the CPU time of
one submission by kind of process, which depends less on other load. Then measures the database with 100,000
submissions, and one evaluation by number of rows. Takes less than eight minutes. ``--large`` measures up to a
million of both.
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

import numpy as np
from sqlalchemy import func, select

from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.parts import HasRows
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.release import TransactionOriginal
from anoncup.tracks.transactions.tables import files_of
from app.core.db.models import Evaluation
from app.core.db.transaction import transaction
from app.operations.supervisor import wait_until_healthy
from benchmarks import queries, rush
from benchmarks.hosts import Installation, build_programs, run_installation, run_over_network
from benchmarks.load import TimedResponse, send_spread
from benchmarks.peers import growth
from benchmarks.processes import measure_usage
from benchmarks.service import BenchmarkService
from tests.support.arena import PASSWORD, build_competition_toml
from tests.support.service_processes import find_free_port, run_program

_PROCESS_KINDS = (
    "web",
    "parsers of uploads",
    "worker",
    "runners and their children",
    "postgres",
    "valkey",
    "clock",
    "bucket",
)
ROW_COUNTS, LARGE_ROW_COUNTS = (8_333, 83_330, 250_000), (8_333, 83_330, 250_000, 1_000_000)
UPLOAD_COUNT, WARM_UP_COUNT = 60, 3
SUBMISSION_COUNTS, LARGE_SUBMISSION_COUNTS = (100_000,), (100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class ScaleCase:
    """A competition: a function from slug to file, its data, and releases with their secrets."""

    name: str
    file: Callable[[str], str]
    original: Mapping[str, bytes]
    releases: Sequence[dict[str, bytes]]


def _make_household_case(number: int) -> ScaleCase:
    table = generate_households()
    original = MicrodataOriginal(table, get_household_columns())
    releases = _make_releases(rush.build_competition_file("made"), original, "swap_within_classes", number)
    return ScaleCase("8,333 x 25", rush.build_competition_file, {"original.csv": write_csv(table)}, releases)


def _build_shop_file(slug: str) -> str:
    """Return the 2016 template, open today."""
    text = template(2016).replace('slug = "cup-2016"', f'slug = "{slug}"')
    window = build_competition_toml(opens=-1, closes=1)
    return replace_tables(text, "phases", window[window.index("[[phases]]") :])


def _make_shop_case(number: int) -> ScaleCase:
    tables = load_tc400()
    releases = _make_releases(
        _build_shop_file("made"), TransactionOriginal(tables), "balance_clusters", number
    )
    return ScaleCase(
        "TC400",
        _build_shop_file,
        {f"{name}.csv": content for name, content in files_of(tables).items()},
        releases,
    )


def _make_releases(file: str, original: HasRows, method: str, number: int) -> list[dict[str, bytes]]:
    """Return one release in ``number`` different row orders, with the secrets."""
    rules = parse_competition(file)
    track = TRACKS[rules.track]
    anonymized = track.anonymize(track.methods[method], original, rules, np.random.default_rng(0), {})
    releases: list[dict[str, bytes]] = []
    for seed in range(number):
        release, source = track.shuffle(*anonymized, rng=np.random.default_rng(seed))
        releases.append({**track.files_of(release), "secret": write_secret(source)})
    return releases


def _measure_throughput(
    installation: Installation, case: ScaleCase, token: str, *, hosts: int, jobs: int
) -> str:
    """Return a row of the table. The first submissions only warm up the processes."""
    port, warm_up_count = find_free_port(), WARM_UP_COUNT * hosts * jobs
    with ExitStack() as stack:
        for program in build_programs(installation, port, hosts, jobs):
            stack.enter_context(run_program(program))
        service = BenchmarkService(port, os.getpid())
        wait_until_healthy(f"{service.url}/readyz", check=lambda: None)
        slug = _open_competition(service, token, case)
        requests = rush.build_uploads(slug, rush.enroll_teams(slug, len(case.releases)), iter(case.releases))
        asyncio.run(rush.warm_up(service, requests[:warm_up_count]))
        started_at = datetime.now(UTC)
        with measure_usage(service.pid) as usage:
            responses = asyncio.run(_upload_at_once(port, requests[warm_up_count:]))
        assert not rush.count_refused(responses), "a benchmark of refusals says nothing"
    cpu_ms = [1000 * usage.cpu_s[kind] / (len(requests) - warm_up_count) for kind in _PROCESS_KINDS]
    numbers = " | ".join(f"{value:.0f}" for value in (*cpu_ms, sum(cpu_ms)))
    rate = f"{hosts} | {hosts * jobs} | {_measure_rate_since(started_at):.2f}"
    return f"| {case.name} | {rate} | {numbers} | {usage.other_cpu_s:.0f} s |"


def _open_competition(service: BenchmarkService, token: str, case: ScaleCase) -> str:
    slug = f"scale-{service.port}"
    with Client(service.url, token, password=lambda: PASSWORD) as client:
        client.create_competition(case.file(slug))
        for file, content in case.original.items():
            client.put_original(slug, content, filename=file)
        client.publish_competition(slug)
    return slug


async def _upload_at_once(port: int, requests: list[bytes]) -> list[TimedResponse]:
    """Send all requests at once; return the responses when all are scored."""
    responses = await send_spread(port, requests, 0.0)
    await rush.wait_until_scored(asyncio.Event())
    return responses


def _measure_rate_since(start: datetime) -> float:
    """Return evaluations per second, from the start of the first to the end of the last."""
    duration = func.extract("epoch", func.max(Evaluation.finished_at) - func.min(Evaluation.started_at))
    with transaction() as session:
        return float(
            session.scalars(select(func.count() / duration).where(Evaluation.created_at >= start)).one()
        )


def _report_scoring(
    installation: Installation, cases: Sequence[ScaleCase], layouts: Sequence[tuple[int, int]]
) -> None:
    """Print a row for each case and layout. A layout is the number of hosts and of jobs on each."""
    token = rush.create_organizer()
    for case in cases:
        for hosts, jobs in layouts:
            print(_measure_throughput(installation, case, token, hosts=hosts, jobs=jobs), flush=True)


def _report_hosts(folder: Path, cases: Sequence[ScaleCase]) -> None:
    """Measure two hosts with a new database, because the bucket has no files of other databases."""
    header = (
        "case",
        "hosts",
        "processes",
        "scored /s",
        *(f"{kind}, ms" for kind in _PROCESS_KINDS),
        "all, ms",
        "others",
    )
    print("| " + " | ".join(header) + " |\n" + "| --- " * len(header) + "|", flush=True)
    with (
        run_installation(folder) as (installation, services),
        run_over_network(installation, services) as remote,
    ):
        _report_scoring(remote, cases, [(2, 1)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", choices=("workers", "rows", "queries"))
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    parts = {options.only} if options.only else {"workers", "rows", "queries"}
    with tempfile.TemporaryDirectory() as folder:
        cases = (
            (_make_household_case(UPLOAD_COUNT), _make_shop_case(UPLOAD_COUNT // 2))
            if "workers" in parts
            else (_make_household_case(2 * WARM_UP_COUNT),)
        )
        if "workers" in parts:
            _report_hosts(Path(folder, "hosts"), cases)
        if parts & {"workers", "queries"}:
            with run_installation(Path(folder, "one")) as (installation, _):
                _report_scoring(
                    installation, cases, [(1, 1), (1, 2), (1, 4)] if "workers" in parts else [(1, 1)]
                )
                if "queries" in parts:
                    queries.report(LARGE_SUBMISSION_COUNTS if options.large else SUBMISSION_COUNTS)
    if "rows" in parts:
        growth.report(LARGE_ROW_COUNTS if options.large else ROW_COUNTS)


if __name__ == "__main__":
    main()
