"""Time single uploads to an idle service: ``python -m benchmarks.upload [--uploads 30] [--every 1.0]``.

The service is started with ``anoncup serve``. After a warm-up, generated releases of 8,333 rows and 25
columns are uploaded one at a time, and each is also scored in this process. Prints the milliseconds until an
upload was answered, stored, claimed and scored, the ratio of the last to bare scoring, and the CPU time by
kind of process.
"""

import argparse
import asyncio
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from sqlalchemy import select

from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import generate_households
from app.core.db.models import Evaluation
from app.core.db.transaction import transaction
from benchmarks import rush
from benchmarks.bare import BareScorer
from benchmarks.load import send_request
from benchmarks.processes import measure_usage
from benchmarks.service import BenchmarkService, run_service

_WARM_UP_COUNT = 4
_MAX_RATIO = 1.5
"""Maximum time from upload to verdict, as a multiple of bare scoring."""


async def _upload_and_wait(service: BenchmarkService, request: bytes) -> tuple[float, float]:
    """Upload and wait until scored; return the times of the request and the response."""
    sent_at = time.time()
    response = await send_request(service.port, request)
    assert response.status == 202, response.body  # otherwise there is nothing to measure
    await rush.wait_until_scored(asyncio.Event())
    return sent_at, sent_at + response.seconds


def _load_stages(count: int) -> list[tuple[float, ...]]:
    """Return when each of the last evaluations was created, claimed and finished."""
    times = select(Evaluation.created_at, Evaluation.started_at, Evaluation.finished_at)
    with transaction() as session:
        rows = session.execute(times.order_by(Evaluation.created_at)).all()
    return [tuple(moment.timestamp() for moment in row) for row in rows[-count:]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.upload")
    parser.add_argument("--uploads", type=int, default=30)
    parser.add_argument("--every", type=float, default=1.0)
    options, serve_arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder), serve_arguments) as service:
        table, file = generate_households(), rush.build_competition_file("idle")
        slug = rush.open_competition(service, rush.create_organizer(), file, write_csv(table))
        bare_scorer = BareScorer(file, table)
        releases = rush.make_releases(file, table, _WARM_UP_COUNT + options.uploads)
        warm_up_requests = rush.build_uploads(
            slug, rush.enroll_teams(slug, 1, "warm"), islice(releases, _WARM_UP_COUNT)
        )
        asyncio.run(rush.warm_up(service, warm_up_requests))
        contents = list(releases)
        requests = rush.build_uploads(slug, rush.enroll_teams(slug, options.uploads), iter(contents))
        times, bare_seconds = [], []
        with measure_usage(service.pid) as usage:
            for request, content in zip(requests, contents, strict=True):
                times.append(asyncio.run(_upload_and_wait(service, request)))
                bare_seconds.append(bare_scorer.measure_median_seconds([content], time.perf_counter))
                time.sleep(options.every)
        delays_ms = [
            [1000 * (moment - sent_at) for moment in (answered, *later_moments)]
            for (sent_at, answered), later_moments in zip(times, _load_stages(len(times)), strict=True)
        ]
    for name, column in zip(
        ("answered", "written", "claimed", "scored"), zip(*delays_ms, strict=True), strict=True
    ):
        middle, slow = np.quantile(column, (0.5, 0.99))
        print(f"{name:<10}p50 {middle:6.0f} ms, p99 {slow:6.0f} ms")
    bare_ms = 1000 * float(np.median(bare_seconds))
    ratio = float(np.median(delays_ms, axis=0)[-1]) / bare_ms
    verdict = "met" if ratio <= _MAX_RATIO else "MISSED"
    print(
        f"{'bare':<10}p50 {bare_ms:6.0f} ms; scored / bare {ratio:.2f}, goal at most {_MAX_RATIO}: {verdict}"
    )
    for kind, seconds in rush.sort_by_value(usage.cpu_s):
        print(f"CPU of {kind}: {1000 * seconds / len(times):.0f} ms each")
    print(f"CPU of others on this machine: {usage.other_cpu_s:.0f} s")


if __name__ == "__main__":
    main()
