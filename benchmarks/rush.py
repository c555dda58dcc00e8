"""A rush before a deadline: ``python -m benchmarks.rush [--uploads N] [--over 15] [--large]``.

The embedded default is started as ``anoncup serve`` does; further arguments are passed on to it. First
some releases of 8,333 rows and 25 columns are scored in this process. From that the benchmark computes how
many the machine scores in a minute. So many releases then enter, spread over ``--over`` seconds, while a
board is requested four times a second and the phase of another competition ends in the middle. The figures
are printed as a table and as a line of JSON. Goals are ratios of figures of the same run. ``--large``:
afterwards five uploads of 120 MB at once; ``--uploads 0 --large``: only these.
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
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.microdata.example import household_table
from app.db.models import Competition, Evaluation, Member, Submission
from app.db.transaction import transaction
from app.services.accounts import accounts, memberships
from app.services.contests import competitions
from app.services.jobs.leases import UNFINISHED
from benchmarks.bare import BareScoring
from benchmarks.load import Answer, ask, polled, spread, upload
from benchmarks.processes import Usage, watched
from benchmarks.service import Service, served
from tests.e2e.stack import household_file
from tests.support.arena import PASSWORD, competition_file, noisy_release, original_table

API = "/api/v1"
BARE = 12
"""Releases that are scored in this process, for the ratios."""
EACH_TEAM = 5
CPU_GOAL = 1.4
ANSWER_GOAL = 1 / 3
METHOD = "swap_within_classes"
LARGE_ROWS, LARGE_UPLOADS = 1_000_000, 5
WARMING = 8
BOARD_EVERY_S, HEALTH_EVERY_S = 0.25, 0.05
LONGEST_S = 900.0


@dataclass(frozen=True, slots=True)
class Figure:
    """Something measured; ``goal``: what it should stay below, or be, if that is 0."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None

    @property
    def missed(self) -> bool:
        return self.goal is not None and self.value > self.goal


# Competitions and what is sent into them


def opened(service: Service, organizer: str, file: str, original: bytes) -> str:
    """The slug of a new competition with data."""
    slug = parse_competition(file).slug
    with Client(service.url, organizer) as client:
        client.create_competition(file)
        client.put_original(slug, original)
    return slug


def organizer() -> str:
    with transaction() as session:
        user = accounts.create_user(session, name="organizer", password=PASSWORD, role=Role.ORGANIZER)
        return accounts.issue_token(session, user, name="rush")


def enrolled(slug: str, number: int, name: str = "team") -> list[str]:
    """The tokens of so many new teams of one."""
    hashed, tokens = accounts.hashed(PASSWORD), []
    with transaction() as session:
        row = competitions.find(session, None, slug).row
        for one in range(number):
            user = accounts.add_user(session, name=f"{slug} {name} {one}", password_hash=hashed)
            team = memberships.create_team(session, row.id, f"{name} {one}")
            session.add(Member(competition_id=row.id, user_id=user.id, team_id=team.id))
            tokens.append(accounts.issue_token(session, user, name="rush"))
    return tokens


def rush_file(slug: str, *, file_mb: int = 64) -> str:
    """Scores are shown at once, so that the board is as dear as it can be."""
    text = household_file(slug).replace('feedback = "hidden"', 'feedback = "immediate"')
    return text.replace("file_mb = 64", f"file_mb = {file_mb}")


def releases(file: str, table: pd.DataFrame, number: int) -> Iterator[dict[str, bytes]]:
    """So many different ones with their secrets."""
    rules = parse_competition(file)
    track = TRACKS[rules.track]
    for seed in range(number):
        rng = np.random.default_rng(seed)
        made = track.anonymize(track.methods[METHOD], table, rules, rng, {})
        release, source = track.shuffle(*made, rng=rng)
        yield {**track.files_of(release), "secret": secret_csv(source)}


def uploads(slug: str, tokens: list[str], sent: Iterator[dict[str, bytes]]) -> list[bytes]:
    """A request for each release, the teams in turn."""
    path = f"{API}/competitions/{slug}/submissions"
    return [upload(path, tokens[one % len(tokens)], files) for one, files in enumerate(sent)]


def shuffled_lines(content: bytes, seed: int) -> dict[str, bytes]:
    """A release that is only in another order, made without parsing it."""
    head, *lines = content.splitlines(keepends=True)
    order = np.random.default_rng(seed).permutation(len(lines))
    return {"anonymized": b"".join([head, *(lines[one] for one in order)]), "secret": secret_csv(order)}


# The rush


@dataclass(frozen=True, slots=True)
class Turning:
    """A small competition beside, into which two uploads go a second before its phase ends."""

    slug: str
    requests: list[bytes]


def turning(service: Service, token: str) -> Turning:
    table = original_table()
    slug = opened(service, token, competition_file("turning"), table_csv(table))
    sent = (dict(zip(("anonymized", "secret"), noisy_release(seed, table), strict=True)) for seed in (1, 2))
    return Turning(slug, uploads(slug, enrolled(slug, 2), sent))


def end_in(slug: str, seconds: float) -> datetime:
    """Let the first phase end then."""
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    with transaction() as session:
        row = competitions.find(session, None, slug).row
        row.file = with_phases(row.file, [Phase("anonymization", end - timedelta(days=1), end)])
    return end


async def all_scored(ended: asyncio.Event) -> None:
    """Return when no submission waits any more; ``ended`` is set then, or when that takes too long."""
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline and await asyncio.to_thread(waiting):
        await asyncio.sleep(BOARD_EVERY_S)
    ended.set()


def waiting() -> bool:
    with transaction() as session:
        counted = select(func.count()).select_from(Evaluation).where(Evaluation.state.in_(UNFINISHED))
        return bool(session.scalars(counted).one())


async def rushed(
    service: Service, slug: str, requests: list[bytes], beside: Turning, over_s: float
) -> tuple[list[Answer], list[Answer], list[Answer]]:
    """The answers to the uploads, to those of the other competition, and to those who look at a board."""
    ended = asyncio.Event()
    board = f"{API}/competitions/{slug}/boards/anonymization"
    looking = asyncio.create_task(polled(service.port, board, BOARD_EVERY_S, ended))
    last = asyncio.create_task(at_last(service, beside, over_s / 2 - 1))
    answers = await spread(service.port, requests, over_s)
    await all_scored(ended)
    return answers, await last, await looking


async def warmed(service: Service, requests: list[bytes]) -> None:
    """What a process does only once (imports, compiled loops, the original) has been done in each."""
    await asyncio.gather(*(ask(service.port, each) for each in requests))
    await all_scored(asyncio.Event())


async def at_last(service: Service, beside: Turning, wait_s: float) -> list[Answer]:
    await asyncio.sleep(max(0.0, wait_s))
    return await asyncio.gather(*(ask(service.port, each) for each in beside.requests))


def played(service: Service, token: str, given: argparse.Namespace) -> list[Figure]:
    """Prepare everything, let the uploads enter, and measure."""
    table, file = household_table(), rush_file("rush")
    slug = opened(service, token, file, table_csv(table))
    print("making the releases", file=sys.stderr)
    bare = BareScoring(file, table).median_seconds(releases(file, table, BARE))
    number = given.uploads or scored_in_a_minute(bare)
    sent = releases(file, table, WARMING + number)
    asyncio.run(warmed(service, uploads(slug, enrolled(slug, 1, "warm"), islice(sent, WARMING))))
    requests = uploads(slug, enrolled(slug, -(-number // EACH_TEAM)), sent)
    beside = turning(service, token)
    print(f"{len(requests)} uploads, {sum(map(len, requests)) / 1e6:.0f} MB", file=sys.stderr)
    began = datetime.now(UTC)
    end = end_in(beside.slug, given.over / 2)
    with watched(service.pid) as usage:
        answers, last, boards = asyncio.run(rushed(service, slug, requests, beside, given.over))
    done = scored(slug, began)
    return [
        Figure("uploads", len(requests)),
        Figure("bare scoring of one, CPU", 1000 * bare, "ms"),
        Figure("refused that entered in time", refused([*answers, *last]), goal=0),
        *quantiles("answers", answers, "s"),
        *quantiles("boards", boards, "ms"),
        *done,
        Figure("phase turned late", turned_after(beside.slug, end), "s"),
        *used(usage, goal=1500.0),
        *ratios(bare, answers, done, usage),
    ]


def scored_in_a_minute(bare: float) -> int:
    """Return how many releases all cores score in a minute, at the CPU time of one in this process."""
    return int(60 * len(os.sched_getaffinity(0)) / (CPU_GOAL * bare))


def ratios(bare: float, answers: list[Answer], done: list[Figure], usage: Usage) -> list[Figure]:
    """Compare the service with bare scoring, and the slowest answers with the time of scoring all."""
    every = next(figure.value for figure in done if figure.name == "all scored after")
    late = float(np.quantile([answer.seconds for answer in answers], 0.99))
    return [
        Figure("CPU of all / bare scoring", sum(usage.cpu.values()) / (bare * len(answers)), goal=CPU_GOAL),
        Figure("answers, p99 / all scored after", late / every, goal=ANSWER_GOAL),
    ]


def refused(answers: list[Answer]) -> int:
    reasons = Counter(f"{one.status} {one.body[:300]!r}" for one in answers if one.status != 202)
    for reason, times in reasons.items():
        print(f"{times} times: {reason}", file=sys.stderr)
    return reasons.total()


def quantiles(name: str, answers: list[Answer], unit: str) -> list[Figure]:
    scale = {"s": 1.0, "ms": 1000.0}[unit]
    middle, late = np.quantile([scale * one.seconds for one in answers], (0.5, 0.99))
    return [Figure(f"{name}, p50", float(middle), unit), Figure(f"{name}, p99", float(late), unit)]


def scored(slug: str, began: datetime) -> list[Figure]:
    """When the last verdict was there, and what did not end with one; on the way from upload to verdict."""
    with transaction() as session:
        mine = select(Evaluation.state, Evaluation.finished_at, Submission.received_at).join(
            Evaluation.submission
        )
        row = competitions.find(session, None, slug).row
        wanted = mine.where(Submission.competition_id == row.id, Submission.received_at >= began)
        rows = session.execute(wanted).all()
    took = [(at - received).total_seconds() for _, at, received in rows if at]
    last = max(((at - began).total_seconds() for _, at, _ in rows if at), default=0.0)
    verdicts = sum(state in {"SCORED", "REJECTED"} for state, _, _ in rows)
    return [
        Figure("entrance to verdict, p50", float(np.median(took)) if took else 0.0, "s"),
        Figure("all scored after", last, "s"),
        Figure("without a verdict", len(rows) - verdicts, goal=0),
    ]


def turned_after(slug: str, end: datetime) -> float:
    """Seconds from the deadline until the targets were there; endless if they are not."""
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        with transaction() as session:
            published = session.scalar(select(Competition.published_at).where(Competition.slug == slug))
        if published is not None:
            return (published - end).total_seconds()
        time.sleep(BOARD_EVERY_S)
    return float("inf")


def used(usage: Usage, *, goal: float) -> list[Figure]:
    return [
        Figure("memory (PSS) before", usage.idle, "MB"),
        Figure("memory (PSS), peak", usage.peak, "MB", goal),
        *(Figure(f"memory of {kind}, peak", peak, "MB") for kind, peak in most_first(usage.peaks)),
        Figure("CPU of all", sum(usage.cpu.values()), "s"),
        Figure("CPU of others on this machine", usage.others, "s"),
        *(Figure(f"CPU of {kind}", seconds, "s") for kind, seconds in most_first(usage.cpu)),
    ]


def most_first(found: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(found.items(), key=lambda one: -one[1])


# Large files


async def swamped(service: Service, requests: list[bytes]) -> tuple[list[Answer], list[Answer]]:
    """The answers to large uploads that come at once, and those of /healthz until the last one."""
    ended = asyncio.Event()
    looking = asyncio.create_task(polled(service.port, "/healthz", HEALTH_EVERY_S, ended))
    answers = await spread(service.port, requests, 0.0)
    ended.set()
    return answers, await looking


def played_large(service: Service, token: str) -> list[Figure]:
    print("making the large releases", file=sys.stderr)
    content = table_csv(household_table(LARGE_ROWS))
    slug = opened(service, token, rush_file("large", file_mb=150), content)
    tokens = enrolled(slug, LARGE_UPLOADS)
    requests = uploads(slug, tokens, (shuffled_lines(content, seed) for seed in range(LARGE_UPLOADS)))
    with watched(service.pid) as usage:
        answers, health = asyncio.run(swamped(service, requests))
    return [
        Figure("large: file", len(content) / 1e6, "MB"),
        Figure("large: refused", refused(answers), goal=0),
        *quantiles("large: answers", answers, "s"),
        *quantiles("large: /healthz", health, "ms"),
        Figure("large: memory of web, peak", usage.peaks["web"], "MB", goal=700.0),
        Figure("large: CPU of web", usage.cpu["web"], "s"),
    ]


def report(figures: list[Figure]) -> None:
    for one in figures:
        goal = "" if one.goal is None else f"  at most {one.goal:g} {one.unit}"
        print(f"{one.name:<34}{one.value:10.2f} {one.unit:<3}{goal}{'  MISSED' if one.missed else ''}")
    print(json.dumps([asdict(one) | {"value": round(one.value, 3)} for one in figures]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, help="default: as many as the machine scores in a minute")
    parser.add_argument("--over", type=float, default=15.0, help="seconds in which they enter")
    parser.add_argument("--large", action="store_true", help="five uploads of 120 MB afterwards")
    given, more = parser.parse_known_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), more) as service:
        token = organizer()
        if given.uploads != 0:
            figures += played(service, token, given)
        if given.large:
            figures += played_large(service, token)
    report(figures)


if __name__ == "__main__":
    main()
