"""Time all pages: ``python -m benchmarks.pages [--repeats 7] [--teams 50] [--each 10] [--only boards]``.

Prints the median milliseconds of server time of every page and board for a visitor, a team and an organizer,
in a contest of 500 scored submissions, 60 targets and 5,400 guesses, with the number of SQL statements and
the size of the response. The time in parentheses is that of the first request, with empty caches.
"""

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from uuid import uuid4

import numpy as np
import structlog
from argon2 import PasswordHasher
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import insert, select, text

from anoncup.competition.parser import read_file
from app.competitions import competitions
from app.config import get_settings
from app.core import sealing
from app.core.db import engine
from app.core.db.models import (
    Competition,
    Evaluation,
    RecordedVerdict,
    Rescore,
    Round,
    Submission,
    Target,
    Team,
)
from app.core.db.transaction import transaction
from app.core.identity import password_hashes
from app.core.identity.session_cookie import COOKIE
from app.core.storage import compute_digest
from app.jobs import queue
from app.main import create_app, create_served_app
from app.operations.embedded_servers import run_embedded_services
from benchmarks import large_contest
from benchmarks.large_contest import ContestSize
from migrations.run import migrate
from tests.support.contest import Contest
from tests.support.query_counter import log_queries

_FEEDBACK = '[publication]\nfeedback = "immediate"'
_COMPETITION_COUNT = 200
_SLOW_MS = 200.0
_SKIPPED_PREFIXES = ("/api/", "/static", "/sign-out", "/healthz", "/readyz", "/metrics")
"""Paths that are not timed. The only API paths timed are the boards and the list of competitions."""


def _create_rescore(contest: Contest) -> str:
    """Create an open rescore with other scores for every evaluation. Return its identifier."""
    rng = np.random.default_rng(1)
    with transaction() as session:
        row = session.scalars(
            select(Round).join(Competition).where(Competition.slug == contest.arena.slug)
        ).one()
        submission = session.scalars(select(Submission).where(Submission.round_id == row.id).limit(1)).one()
        rescore = Rescore(
            round_id=row.id,
            user_id=submission.user_id,
            file=row.file,
            competition_file=row.competition.file,
            scales=row.scales,
            replaces=compute_digest(row.file.encode()),
        )
        session.add(rescore)
        session.flush()
        query = select(Evaluation).join(Evaluation.submission).where(Submission.round_id == row.id)
        evaluations = [large_contest.read_columns(evaluation) for evaluation in session.scalars(query)]
        copies = [
            evaluation | {"id": uuid4(), "rescore_id": rescore.id, "current": False}
            for evaluation in evaluations
            if evaluation["verdict"] is not None
        ]
        session.execute(insert(Evaluation), copies)
        session.execute(
            insert(RecordedVerdict), [large_contest.vary_verdict(copy, copy["id"], rng) for copy in copies]
        )
        return str(rescore.id)


@dataclass(frozen=True, slots=True)
class PageMeasurement:
    """Measurements of one page for one audience. Times are in milliseconds."""

    status: int
    cold_ms: float
    warm_ms: float
    statement_count: int
    kilobytes: float


@contextmanager
def run_application() -> Iterator[TestClient]:
    """Run the application on private servers and yield a client."""
    password_hashes.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with tempfile.TemporaryDirectory() as folder:
        data, servers = Path(folder, "data"), Path(folder, "servers")
        servers.mkdir()
        sealing.create_keys(data / "sealing.pub", data / "private")
        with run_embedded_services(servers) as running:
            migrate(running.database_url)
            os.environ.update(
                DATABASE_URL=running.database_url,
                REDIS_URL=running.redis_url,
                ANONCUP_DATA=str(data),
                ANONCUP_SEALING_KEY_FILE=str(data / "sealing.pub"),
                ANONCUP_OPENING_KEYS_DIR=str(data / "private"),
            )
            get_settings.cache_clear()
            with TestClient(create_served_app(), base_url="http://localhost") as client:
                structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
                yield client
            engine.get_engine().dispose()
            queue.celery.close()


def fill_contest(client: TestClient, size: ContestSize) -> tuple[Contest, dict[str, str]]:
    """Create a large contest and many empty ones; return the large one and the values of path parameters."""
    contest = Contest.create(client, slug="crowded", extra_toml=_FEEDBACK)
    _add_empty_competitions(_COMPETITION_COUNT - 1)
    large_contest.fill(contest, size)
    rescore_id = _create_rescore(contest)
    with engine.get_engine().begin() as connection:
        connection.execute(text("ANALYZE"))  # autovacuum would do this within a minute
    with transaction() as session:
        team_id = session.scalars(select(Team.id).where(Team.name == "the first")).one()
        submission_id = session.scalars(
            select(Submission.id).where(Submission.team_id == team_id).limit(1)
        ).one()
        target_id = session.scalars(select(Target.id).limit(1)).first()
    path_values = {
        "slug": "crowded",
        "submission_id": submission_id,
        "team_id": team_id,
        "rescore_id": rescore_id,
    }
    path_values |= {"target_id": target_id, "name": "anonymization"}
    return contest, {name: str(value) for name, value in path_values.items() if value is not None}


def _add_empty_competitions(count: int) -> None:
    """Add ``count`` competitions without data."""
    with transaction() as session:
        (contest,) = competitions.list_current_rounds(session, None)
        for index in range(count):
            file = contest.competition.file.replace('"crowded"', f'"other-{index}"')
            published_at = contest.competition.published_at
            competition = Competition(slug=f"other-{index}", file=file, published_at=published_at)
            session.add(Round(competition=competition, scales={}, original={}))


def _list_paths() -> list[str]:
    """Return the paths of all pages and boards, in the order of the routes."""
    routes = iter_route_contexts(create_app().routes)
    paths = [route.path or "" for route in routes if "GET" in (route.methods or ())]
    timed_paths = [path for path in paths if "/boards/" in path or not path.startswith(_SKIPPED_PREFIXES)]
    return [*timed_paths, "/api/v1/competitions"]


def _time_page(client: TestClient, path: str, session: str | None, repeats: int) -> PageMeasurement:
    headers = {"Cookie": f"{COOKIE}={session}"} if session else {}

    def request_page() -> tuple[float, Response]:
        started = time.perf_counter()
        response = client.get(path, headers=headers, follow_redirects=False)
        return 1000 * (time.perf_counter() - started), response

    request_page()
    read_file.cache_clear()
    cold_ms, _ = request_page()
    warm_ms = statistics.median(request_page()[0] for _ in range(repeats))
    with log_queries() as query_log:
        _, response = request_page()
    return PageMeasurement(
        response.status_code, cold_ms, warm_ms, len(query_log.statements), len(response.content) / 1000
    )


def report(client: TestClient, size: ContestSize, *, repeats: int, only: str) -> None:
    contest, path_values = fill_contest(client, size)
    arena = contest.arena
    tokens = {"team": arena.get_team_token("the first"), "organizer": arena.organizer_token}
    sessions = {"visitor": None} | {audience: arena.get_session(token) for audience, token in tokens.items()}
    print(f"{size.teams} teams with {size.submissions_per_team} submissions each, {size.targets} targets")
    print(f"{'median ms (first)':>36}{'SQL':>7}{'kB':>8}")
    for path in _list_paths():
        if only in path:
            print(path)
            missing = _list_placeholders(path) - path_values.keys()
            if missing:
                print(f"    not tried: nothing stands for {', '.join(sorted(missing))}")
                continue
            for audience, session in sessions.items():
                measurement = _time_page(client, path.format(**path_values), session, repeats)
                _print_line(audience, measurement)


def _list_placeholders(path: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(path) if name}


def _print_line(audience: str, measurement: PageMeasurement) -> None:
    if measurement.status != 200:
        print(f"    {audience:<10}{measurement.status}")
        return
    times = f"{measurement.warm_ms:8.1f} ({measurement.cold_ms:7.1f})"
    slow = "  slow" if measurement.warm_ms > _SLOW_MS else ""
    print(f"    {audience:<14}{times}{measurement.statement_count:7}{measurement.kilobytes:8.1f}{slow}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--targets", type=int, default=60)
    parser.add_argument("--only", default="", help="a part of the paths to time")
    options = parser.parse_args()
    size = ContestSize(teams=options.teams, submissions_per_team=options.each, targets=options.targets)
    with run_application() as client:
        report(client, size, repeats=options.repeats, only=options.only)


if __name__ == "__main__":
    main()
