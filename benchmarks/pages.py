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

import structlog
from argon2 import PasswordHasher
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, text

from app.config import get_settings
from app.crypto import deadline_signing, sealing
from app.db import engine
from app.db.models import Competition, Submission, Target, Team
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.main import create_app, served_app
from app.processes.embedded_servers import run_embedded_services
from app.services.accounts import accounts
from app.services.boards import verdicts
from app.services.contests import competitions
from app.services.contests.contest import parse_rules
from app.services.jobs import queue
from migrations.run import migrate
from tests.support import large_contest
from tests.support.contest import Contest
from tests.support.large_contest import ContestSize
from tests.support.query_counter import log_queries

_FEEDBACK = '[publication]\nfeedback = "immediate"'
_COMPETITIONS = 200
_LIMIT_MS = 200.0
_SKIPPED_PREFIXES = ("/api/", "/static", "/sign-out", "/healthz", "/readyz", "/metrics")
"""Paths that are not timed. Of the API, only the boards and the list of competitions are."""


@dataclass(frozen=True, slots=True)
class PageMeasurement:
    """Measurements of one page for one audience. Times are in milliseconds."""

    status: int
    cold: float
    warm: float
    statements: int
    kilobytes: float


@contextmanager
def run_application() -> Iterator[TestClient]:
    """Run the application on private servers and yield a client."""
    accounts.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with tempfile.TemporaryDirectory() as folder:
        data, servers = Path(folder, "data"), Path(folder, "servers")
        servers.mkdir()
        sealing.create_keys(data / "sealing.pub", data / "private")
        deadline_signing.create_key(data / "private")
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
            with TestClient(served_app(), base_url="http://localhost") as client:
                structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
                yield client
            engine.get_engine().dispose()
            queue.celery.close()


def fill_contest(client: TestClient, size: ContestSize) -> tuple[Contest, dict[str, str]]:
    """Create a large contest among many empty ones; return it and the values of path parameters."""
    contest = Contest.create(client, slug="crowded", extra_toml=_FEEDBACK)
    _add_empty_competitions(_COMPETITIONS - 1)
    large_contest.fill(contest, size)
    rescore = large_contest.create_rejudging(contest)
    with engine.get_engine().begin() as connection:
        connection.execute(text("ANALYZE"))  # autovacuum would do this within a minute
    with transaction() as session:
        team = session.scalars(select(Team.id).where(Team.name == "the first")).one()
        submission_id = session.scalars(
            select(Submission.id).where(Submission.team_id == team).limit(1)
        ).one()
        target = session.scalars(select(Target.id).limit(1)).first()
    path_values = {"slug": "crowded", "submission_id": submission_id, "team_id": team, "rescore_id": rescore}
    path_values |= {"target_id": target, "name": "anonymization"}
    return contest, {name: str(value) for name, value in path_values.items() if value is not None}


def _add_empty_competitions(number: int) -> None:
    """Add ``number`` competitions without data."""
    with transaction() as session:
        (row,) = competitions.list_competitions(session)
        for index in range(number):
            file = row.file.replace('"crowded"', f'"other-{index}"')
            session.add(Competition(slug=f"other-{index}", file=file, scales={}, original={}))


def _list_paths() -> list[str]:
    """Return the paths of all pages and boards, in the order of the routes."""
    routes = iter_route_contexts(create_app().routes)
    paths = [route.path or "" for route in routes if "GET" in (route.methods or ())]
    wanted = [path for path in paths if "/boards/" in path or not path.startswith(_SKIPPED_PREFIXES)]
    return [*wanted, "/api/v1/competitions"]


def _time_page(client: TestClient, path: str, session: str | None, repeats: int) -> PageMeasurement:
    headers = {"Cookie": f"{COOKIE}={session}"} if session else {}

    def request_page() -> tuple[float, Response]:
        started = time.perf_counter()
        answer = client.get(path, headers=headers, follow_redirects=False)
        return 1000 * (time.perf_counter() - started), answer

    request_page()
    verdicts.numbers_cache.clear()
    parse_rules.cache_clear()
    cold, _ = request_page()
    warm = statistics.median(request_page()[0] for _ in range(repeats))
    with log_queries() as noted:
        _, answer = request_page()
    return PageMeasurement(answer.status_code, cold, warm, len(noted.statements), len(answer.content) / 1000)


def report(client: TestClient, size: ContestSize, *, repeats: int, only: str) -> None:
    contest, path_values = fill_contest(client, size)
    arena = contest.arena
    tokens = {"team": arena.get_team_token("the first"), "organizer": arena.organizer}
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
                timing = _time_page(client, path.format(**path_values), session, repeats)
                _print_line(audience, timing)


def _list_placeholders(path: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(path) if name}


def _print_line(audience: str, timing: PageMeasurement) -> None:
    if timing.status != 200:
        print(f"    {audience:<10}{timing.status}")
        return
    times = f"{timing.warm:8.1f} ({timing.cold:7.1f})"
    slow = "  slow" if timing.warm > _LIMIT_MS else ""
    print(f"    {audience:<14}{times}{timing.statements:7}{timing.kilobytes:8.1f}{slow}")


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
