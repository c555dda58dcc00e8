"""Simulate a rush before a deadline: ``python -m benchmarks.rush [--uploads N] [--over 15] [--large]``.

The service is started with ``anoncup serve``, which gets all further arguments. First, releases of 8,333 rows
and 25 columns are scored in this process, to estimate how many the machine scores in a minute. That many
releases are then uploaded within ``--over`` seconds, while a board is requested four times a second and the
phase of another competition ends halfway. The figures are printed as a table and as a line of JSON. Goals are
ratios of figures of the same run. ``--large`` then sends five uploads of 120 MB at once; ``--uploads 0
--large`` sends only these.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import func, select

from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.schemas.fields import Role
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from app.accounts import memberships
from app.competitions import competitions
from app.core.db.models import Evaluation, Member, Submission
from app.core.db.transaction import transaction
from app.core.identity import password_hashes, users
from app.core.identity.tokens import issue_token
from app.jobs.leases import UNFINISHED
from benchmarks.bare import BareScorer
from benchmarks.load import TimedResponse, build_upload, poll, send_request, send_spread
from benchmarks.processes import ResourceUsage, measure_usage
from benchmarks.service import BenchmarkService, run_service
from tests.support.arena import PASSWORD, build_competition_toml, build_noisy_release, build_original_table
from tests.support.service_processes import build_household_file

API = "/api/v1"
_BARE_RELEASE_COUNT = 12
"""Releases that are scored in this process, as the baseline of the ratios."""
_RELEASES_PER_TEAM = 5
_MAX_CPU_RATIO = 1.4
_MAX_RESPONSE_RATIO = 1 / 3
METHOD = "swap_within_classes"
LARGE_ROWS, LARGE_UPLOAD_COUNT = 1_000_000, 5
_WARM_UP_COUNT = 8
BOARD_INTERVAL_S, HEALTH_INTERVAL_S = 0.25, 0.05
SCORING_TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True)
class RushFigure:
    """A measured value. ``goal`` is its maximum."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None

    @property
    def is_missed(self) -> bool:
        return self.goal is not None and self.value > self.goal


# Competitions and their uploads


def open_competition(service: BenchmarkService, organizer: str, file: str, original: bytes) -> str:
    """Create a competition with data; return its slug."""
    slug = parse_competition(file).slug
    with Client(service.url, organizer, password=lambda: PASSWORD) as client:
        client.create_competition(file)
        client.put_original(slug, original)
        client.publish_competition(slug)
    return slug


def create_organizer() -> str:
    with transaction() as session:
        user = users.create_user(session, name="organizer", password=PASSWORD, role=Role.ORGANIZER)
        return issue_token(session, user, name="rush")


def enroll_teams(slug: str, count: int, name: str = "team") -> list[str]:
    """Create ``count`` teams with one member each; return the members' tokens."""
    hashed, tokens = password_hashes.hash_password(PASSWORD), []
    with transaction() as session:
        row = competitions.find(session, None, slug).competition
        for index in range(count):
            user = users.add_user(session, name=f"{slug} {name} {index}", password_hash=hashed)
            team = memberships.create_team(session, row.id, f"{name} {index}")
            session.add(Member(competition_id=row.id, user_id=user.id, team_id=team.id))
            tokens.append(issue_token(session, user, name="rush"))
    return tokens


def build_competition_file(slug: str, *, file_mb: int = 64) -> str:
    """Return a competition file with immediate feedback, which makes the board as expensive as possible."""
    text = build_household_file(slug).replace('feedback = "hidden"', 'feedback = "immediate"')
    return text.replace("file_mb = 64", f"file_mb = {file_mb}")


def make_releases(file: str, table: pd.DataFrame, count: int) -> Iterator[dict[str, bytes]]:
    """Yield ``count`` different releases with their secrets."""
    rules = parse_competition(file)
    track, original = TRACKS[rules.track], MicrodataOriginal(table, get_household_columns())
    for seed in range(count):
        rng = np.random.default_rng(seed)
        anonymized = track.anonymize(track.methods[METHOD], original, rules, rng, {})
        release, source = track.shuffle(*anonymized, rng=rng)
        yield {**track.files_of(release), "secret": write_secret(source)}


def build_uploads(slug: str, tokens: list[str], releases: Iterator[dict[str, bytes]]) -> list[bytes]:
    """Return an upload request for each release, assigned to the teams in turn."""
    path = f"{API}/competitions/{slug}/submissions"
    return [build_upload(path, tokens[index % len(tokens)], files) for index, files in enumerate(releases)]


def _shuffle_lines(content: bytes, seed: int) -> dict[str, bytes]:
    """Return a release with the rows in random order and its secret, made without parsing."""
    head, *lines = content.splitlines(keepends=True)
    order = np.random.default_rng(seed).permutation(len(lines))
    return {"anonymized": b"".join([head, *(lines[index] for index in order)]), "secret": write_secret(order)}


# The rush


@dataclass(frozen=True, slots=True)
class EndingCompetition:
    """A small second competition that gets two uploads a second before its phase ends."""

    slug: str
    requests: list[bytes]


def _open_ending_competition(service: BenchmarkService, token: str) -> EndingCompetition:
    table = build_original_table()
    slug = open_competition(service, token, build_competition_toml("turning"), write_csv(table))
    releases = (
        dict(zip(("anonymized", "secret"), build_noisy_release(seed, table), strict=True)) for seed in (1, 2)
    )
    return EndingCompetition(slug, build_uploads(slug, enroll_teams(slug, 2), releases))


def _set_phase_end(slug: str, seconds: float) -> datetime:
    """Set the end of the first phase to ``seconds`` from now; return that time."""
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    with transaction() as session:
        row = competitions.find(session, None, slug).competition
        row.file = replace_phases(row.file, [Phase("anonymization", end - timedelta(days=1), end)])
    return end


async def wait_until_scored(finished: asyncio.Event) -> None:
    """Wait until all submissions are scored or ``SCORING_TIMEOUT_S`` has passed, and set ``finished``."""
    deadline = time.monotonic() + SCORING_TIMEOUT_S
    while time.monotonic() < deadline and await asyncio.to_thread(_has_unfinished):
        await asyncio.sleep(BOARD_INTERVAL_S)
    finished.set()


def _has_unfinished() -> bool:
    with transaction() as session:
        count = select(func.count()).select_from(Evaluation).where(Evaluation.state.in_(UNFINISHED))
        return bool(session.scalars(count).one())


async def _run_rush(
    service: BenchmarkService, slug: str, requests: list[bytes], ending: EndingCompetition, duration_s: float
) -> tuple[list[TimedResponse], list[TimedResponse], list[TimedResponse]]:
    """Return the responses to the uploads, to those of the ending competition, and to board requests."""
    finished = asyncio.Event()
    board = f"{API}/competitions/{slug}/boards/anonymization"
    board_task = asyncio.create_task(poll(service.port, board, BOARD_INTERVAL_S, finished))
    ending_task = asyncio.create_task(_upload_before_end(service, ending, duration_s / 2 - 1))
    responses = await send_spread(service.port, requests, duration_s)
    await wait_until_scored(finished)
    return responses, await ending_task, await board_task


async def warm_up(service: BenchmarkService, requests: list[bytes]) -> None:
    """Score some releases first, so that each process has imported, compiled and loaded the original."""
    await asyncio.gather(*(send_request(service.port, request) for request in requests))
    await wait_until_scored(asyncio.Event())


async def _upload_before_end(
    service: BenchmarkService, ending: EndingCompetition, wait_s: float
) -> list[TimedResponse]:
    await asyncio.sleep(max(0.0, wait_s))
    return await asyncio.gather(*(send_request(service.port, request) for request in ending.requests))


def _measure_rush(service: BenchmarkService, token: str, options: argparse.Namespace) -> list[RushFigure]:
    """Prepare competitions and releases, send the uploads and return the figures."""
    table, file = generate_households(), build_competition_file("rush")
    slug = open_competition(service, token, file, write_csv(table))
    print("making the releases", file=sys.stderr)
    bare_seconds = BareScorer(file, table).measure_median_seconds(
        make_releases(file, table, _BARE_RELEASE_COUNT)
    )
    upload_count = options.uploads or _estimate_per_minute(bare_seconds)
    all_releases = make_releases(file, table, _WARM_UP_COUNT + upload_count)
    asyncio.run(
        warm_up(
            service,
            build_uploads(slug, enroll_teams(slug, 1, "warm"), islice(all_releases, _WARM_UP_COUNT)),
        )
    )
    requests = build_uploads(slug, enroll_teams(slug, -(-upload_count // _RELEASES_PER_TEAM)), all_releases)
    ending = _open_ending_competition(service, token)
    print(f"{len(requests)} uploads, {sum(map(len, requests)) / 1e6:.0f} MB", file=sys.stderr)
    started_at = datetime.now(UTC)
    end = _set_phase_end(ending.slug, options.over / 2)
    with measure_usage(service.pid) as usage:
        responses, late_responses, board_responses = asyncio.run(
            _run_rush(service, slug, requests, ending, options.over)
        )
    figures = _measure_scoring(slug, started_at)
    return [
        RushFigure("uploads", len(requests)),
        RushFigure("bare scoring of one, CPU", 1000 * bare_seconds, "ms"),
        RushFigure("refused that entered in time", count_refused([*responses, *late_responses]), goal=0),
        *_compute_quantiles("answers", responses, "s"),
        *_compute_quantiles("boards", board_responses, "ms"),
        *figures,
        RushFigure("phase turned late", _measure_transition_delay(ending.slug, end), "s"),
        *_list_usage_figures(usage, goal=1500.0),
        *_compute_ratios(bare_seconds, responses, figures, usage),
    ]


def _estimate_per_minute(bare_seconds: float) -> int:
    """Estimate how many releases all cores score in a minute, from the CPU seconds of one in this process."""
    return int(60 * len(os.sched_getaffinity(0)) / (_MAX_CPU_RATIO * bare_seconds))


def _compute_ratios(
    bare_seconds: float, responses: list[TimedResponse], figures: list[RushFigure], usage: ResourceUsage
) -> list[RushFigure]:
    """Compare CPU time with bare scoring, and the slowest responses with the time to score all uploads."""
    scoring_seconds = next(figure.value for figure in figures if figure.name == "all scored after")
    slow_response_s = float(np.quantile([response.seconds for response in responses], 0.99))
    return [
        RushFigure(
            "CPU of all / bare scoring",
            sum(usage.cpu_s.values()) / (bare_seconds * len(responses)),
            goal=_MAX_CPU_RATIO,
        ),
        RushFigure(
            "answers, p99 / all scored after", slow_response_s / scoring_seconds, goal=_MAX_RESPONSE_RATIO
        ),
    ]


def count_refused(responses: list[TimedResponse]) -> int:
    reasons = Counter(
        f"{response.status} {response.body[:300]!r}" for response in responses if response.status != 202
    )
    for reason, count in reasons.items():
        print(f"{count} times: {reason}", file=sys.stderr)
    return reasons.total()


def _compute_quantiles(name: str, responses: list[TimedResponse], unit: str) -> list[RushFigure]:
    scale = {"s": 1.0, "ms": 1000.0}[unit]
    middle, slow = np.quantile([scale * response.seconds for response in responses], (0.5, 0.99))
    return [RushFigure(f"{name}, p50", float(middle), unit), RushFigure(f"{name}, p99", float(slow), unit)]


def _measure_scoring(slug: str, started_at: datetime) -> list[RushFigure]:
    """Return the median time from upload to verdict, the time of the last one, and the missing verdicts."""
    with transaction() as session:
        evaluations = select(Evaluation.state, Evaluation.finished_at, Submission.received_at).join(
            Evaluation.submission
        )
        row = competitions.find(session, None, slug)
        query = evaluations.where(Submission.round_id == row.id, Submission.received_at >= started_at)
        rows = session.execute(query).all()
    durations_s = [
        (finished_at - received).total_seconds() for _, finished_at, received in rows if finished_at
    ]
    last_s = max(
        ((finished_at - started_at).total_seconds() for _, finished_at, _ in rows if finished_at), default=0.0
    )
    verdict_count = sum(state in {"SCORED", "REJECTED"} for state, _, _ in rows)
    return [
        RushFigure("entrance to verdict, p50", float(np.median(durations_s)) if durations_s else 0.0, "s"),
        RushFigure("all scored after", last_s, "s"),
        RushFigure("without a verdict", len(rows) - verdict_count, goal=0),
    ]


def _measure_transition_delay(slug: str, end: datetime) -> float:
    """Return the seconds from the deadline until the targets were published; infinity after a timeout."""
    deadline = time.monotonic() + SCORING_TIMEOUT_S
    while time.monotonic() < deadline:
        with transaction() as session:
            published_at = competitions.find(session, None, slug).published_at
        if published_at is not None:
            return (published_at - end).total_seconds()
        time.sleep(BOARD_INTERVAL_S)
    return float("inf")


def _list_usage_figures(usage: ResourceUsage, *, goal: float) -> list[RushFigure]:
    return [
        RushFigure("memory (PSS) before", usage.idle_mb, "MB"),
        RushFigure("memory (PSS), peak", usage.peak_mb, "MB", goal),
        *(RushFigure(f"memory of {kind}, peak", peak, "MB") for kind, peak in sort_by_value(usage.peaks_mb)),
        RushFigure("CPU of all", sum(usage.cpu_s.values()), "s"),
        RushFigure("CPU of others on this machine", usage.other_cpu_s, "s"),
        *(RushFigure(f"CPU of {kind}", seconds, "s") for kind, seconds in sort_by_value(usage.cpu_s)),
    ]


def sort_by_value(values: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(values.items(), key=lambda item: -item[1])


# Large files


async def _upload_at_once(
    service: BenchmarkService, requests: list[bytes]
) -> tuple[list[TimedResponse], list[TimedResponse]]:
    """Send large uploads at once; return their responses and those of /healthz meanwhile."""
    finished = asyncio.Event()
    health_task = asyncio.create_task(poll(service.port, "/healthz", HEALTH_INTERVAL_S, finished))
    responses = await send_spread(service.port, requests, 0.0)
    finished.set()
    return responses, await health_task


def _measure_large(service: BenchmarkService, token: str) -> list[RushFigure]:
    print("making the large releases", file=sys.stderr)
    content = write_csv(generate_households(LARGE_ROWS))
    slug = open_competition(service, token, build_competition_file("large", file_mb=150), content)
    tokens = enroll_teams(slug, LARGE_UPLOAD_COUNT)
    requests = build_uploads(
        slug, tokens, (_shuffle_lines(content, seed) for seed in range(LARGE_UPLOAD_COUNT))
    )
    with measure_usage(service.pid) as usage:
        responses, health_responses = asyncio.run(_upload_at_once(service, requests))
    return [
        RushFigure("large: file", len(content) / 1e6, "MB"),
        RushFigure("large: refused", count_refused(responses), goal=0),
        *_compute_quantiles("large: answers", responses, "s"),
        *_compute_quantiles("large: /healthz", health_responses, "ms"),
        RushFigure("large: memory of web, peak", usage.peaks_mb["web"], "MB", goal=700.0),
        RushFigure("large: CPU of web", usage.cpu_s["web"], "s"),
    ]


def _print_report(figures: list[RushFigure]) -> None:
    for figure in figures:
        goal = "" if figure.goal is None else f"  at most {figure.goal:g} {figure.unit}"
        print(
            f"{figure.name:<34}{figure.value:10.2f} {figure.unit:<3}{goal}"
            f"{'  MISSED' if figure.is_missed else ''}"
        )
    print(json.dumps([asdict(figure) | {"value": round(figure.value, 3)} for figure in figures]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, help="default: as many as the machine scores in a minute")
    parser.add_argument("--over", type=float, default=15.0, help="seconds in which they enter")
    parser.add_argument("--large", action="store_true", help="five uploads of 120 MB afterwards")
    options, serve_arguments = parser.parse_known_args()
    figures: list[RushFigure] = []
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder), serve_arguments) as service:
        token = create_organizer()
        if options.uploads != 0:
            figures += _measure_rush(service, token, options)
        if options.large:
            figures += _measure_large(service, token)
    _print_report(figures)


if __name__ == "__main__":
    main()
