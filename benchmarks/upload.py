"""How long one upload takes on an idle service: ``python -m benchmarks.upload [--uploads 30] [--every 1.0]``.

The embedded default is started as ``anoncup serve`` does. After a few warming ones, generated releases of
8,333 rows and 25 columns enter one at a time; each is then also scored in this process. Printed are the
milliseconds until a release was answered, stored, claimed and scored, the last of them as a ratio to bare
scoring, and the CPU time of each process.
"""

import argparse
import asyncio
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from sqlalchemy import select

from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.example import household_table
from app.db.models import Evaluation
from app.db.transaction import transaction
from benchmarks import rush
from benchmarks.bare import BareScoring
from benchmarks.load import ask
from benchmarks.processes import watched
from benchmarks.service import Service, served

WARMING = 4
GOAL = 1.5
"""Upload to verdict, as a multiple of bare scoring."""


async def sent(service: Service, request: bytes) -> tuple[float, float]:
    """When it was sent and when it was answered; returns when it has been scored."""
    began = time.time()
    answer = await ask(service.port, request)
    assert answer.status == 202, answer.body  # there is nothing to measure
    await rush.all_scored(asyncio.Event())
    return began, began + answer.seconds


def stages(last: int) -> list[tuple[float, ...]]:
    """When each of the last evaluations was written down, claimed and finished."""
    moments = select(Evaluation.created_at, Evaluation.started_at, Evaluation.finished_at)
    with transaction() as session:
        rows = session.execute(moments.order_by(Evaluation.created_at)).all()
    return [tuple(moment.timestamp() for moment in row) for row in rows[-last:]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.upload")
    parser.add_argument("--uploads", type=int, default=30)
    parser.add_argument("--every", type=float, default=1.0)
    given, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), more) as service:
        table, file = household_table(), rush.rush_file("idle")
        slug = rush.opened(service, rush.organizer(), file, table_csv(table))
        bare = BareScoring(file, table)
        made = rush.releases(file, table, WARMING + given.uploads)
        warm = rush.uploads(slug, rush.enrolled(slug, 1, "warm"), islice(made, WARMING))
        asyncio.run(rush.warmed(service, warm))
        contents = list(made)
        requests = rush.uploads(slug, rush.enrolled(slug, given.uploads), iter(contents))
        times, alone = [], []
        with watched(service.pid) as usage:
            for request, content in zip(requests, contents, strict=True):
                times.append(asyncio.run(sent(service, request)))
                alone.append(bare.median_seconds([content], time.perf_counter))
                time.sleep(given.every)
        passed = [
            [1000 * (moment - began) for moment in (answered, *rest)]
            for (began, answered), rest in zip(times, stages(len(times)), strict=True)
        ]
    for name, column in zip(
        ("answered", "written", "claimed", "scored"), zip(*passed, strict=True), strict=True
    ):
        middle, late = np.quantile(column, (0.5, 0.99))
        print(f"{name:<10}p50 {middle:6.0f} ms, p99 {late:6.0f} ms")
    alone_ms = 1000 * float(np.median(alone))
    ratio = float(np.median(passed, axis=0)[-1]) / alone_ms
    verdict = "met" if ratio <= GOAL else "MISSED"
    print(f"{'bare':<10}p50 {alone_ms:6.0f} ms; scored / bare {ratio:.2f}, goal at most {GOAL}: {verdict}")
    for kind, seconds in rush.most_first(usage.cpu):
        print(f"CPU of {kind}: {1000 * seconds / len(times):.0f} ms each")
    print(f"CPU of others on this machine: {usage.others:.0f} s")


if __name__ == "__main__":
    main()
