"""How long pages take: ``python -m benchmarks.pages [--repeats 7] [--teams 50] [--each 10] [--only boards]``.

Median milliseconds of server time of every page and board, for a visitor, a team and an organizer, in a
contest of 500 scored submissions, 60 targets and 5,400 guesses, on servers of its own; with the statements
sent to the database and the size of the answer. ``cold``: as the first one of a process that has read
nothing yet.
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
from app.processes.embedded_servers import embedded_services
from app.services.accounts import accounts
from app.services.boards import verdicts
from app.services.contests import competitions
from app.services.contests.contest import parsed
from app.services.jobs import queue
from migrations.run import migrate
from tests.support import large_contest
from tests.support.contest import Contest
from tests.support.large_contest import Size
from tests.support.query_counter import asked

FEEDBACK = '[publication]\nfeedback = "immediate"'
COMPETITIONS = 200
LIMIT_MS = 200.0
SKIPPED = ("/api/", "/static", "/sign-out", "/healthz", "/readyz", "/metrics")
"""What is no page; of the API only the boards are timed, and the list of competitions."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Of one page for one audience."""

    status: int
    cold: float
    warm: float
    statements: int
    kilobytes: float


@contextmanager
def serving() -> Iterator[TestClient]:
    """The application on private servers, which end with it."""
    accounts.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with tempfile.TemporaryDirectory() as folder:
        data, servers = Path(folder, "data"), Path(folder, "servers")
        servers.mkdir()
        sealing.create_keys(data / "sealing.pub", data / "private")
        deadline_signing.create_key(data / "private")
        with embedded_services(servers) as running:
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


def filled(client: TestClient, size: Size) -> tuple[Contest, dict[str, str]]:
    """The crowded contest among many empty ones, and what stands for the names in paths."""
    contest = Contest.opened(client, slug="crowded", more=FEEDBACK)
    copied(COMPETITIONS - 1)
    large_contest.fill(contest, size)
    rescore = large_contest.rescored(contest)
    with engine.get_engine().begin() as connection:
        connection.execute(text("ANALYZE"))  # what the database itself does within a minute
    with transaction() as session:
        team = session.scalars(select(Team.id).where(Team.name == "the first")).one()
        sent = session.scalars(select(Submission.id).where(Submission.team_id == team).limit(1)).one()
        target = session.scalars(select(Target.id).limit(1)).first()
    places = {"slug": "crowded", "submission_id": sent, "team_id": team, "rescore_id": rescore}
    places |= {"target_id": target, "name": "anonymization"}
    return contest, {name: str(value) for name, value in places.items() if value is not None}


def copied(number: int) -> None:
    """So many more competitions, without data."""
    with transaction() as session:
        (row,) = competitions.listed(session)
        for one in range(number):
            file = row.file.replace('"crowded"', f'"other-{one}"')
            session.add(Competition(slug=f"other-{one}", file=file, scales={}, original={}))


def pages() -> list[str]:
    """The paths of all pages and boards, in the order of the application."""
    routes = iter_route_contexts(create_app().routes)
    paths = [route.path or "" for route in routes if "GET" in (route.methods or ())]
    wanted = [path for path in paths if "/boards/" in path or not path.startswith(SKIPPED)]
    return [*wanted, "/api/v1/competitions"]


def timed(client: TestClient, path: str, session: str | None, repeats: int) -> Timing:
    headers = {"Cookie": f"{COOKIE}={session}"} if session else {}

    def ask() -> tuple[float, Response]:
        started = time.perf_counter()
        answer = client.get(path, headers=headers, follow_redirects=False)
        return 1000 * (time.perf_counter() - started), answer

    ask()
    verdicts.kept.clear()
    parsed.cache_clear()
    cold, _ = ask()
    warm = statistics.median(ask()[0] for _ in range(repeats))
    with asked() as noted:
        _, answer = ask()
    return Timing(answer.status_code, cold, warm, len(noted.statements), len(answer.content) / 1000)


def report(client: TestClient, size: Size, *, repeats: int, only: str) -> None:
    contest, places = filled(client, size)
    arena = contest.arena
    tokens = {"team": arena.team("the first"), "organizer": arena.organizer}
    sessions = {"visitor": None} | {audience: arena.session(token) for audience, token in tokens.items()}
    print(f"{size.teams} teams with {size.each} submissions each, {size.targets} targets")
    print(f"{'median ms (first)':>36}{'SQL':>7}{'kB':>8}")
    for path in pages():
        if only in path:
            print(path)
            missing = names_in(path) - places.keys()
            if missing:
                print(f"    not tried: nothing stands for {', '.join(sorted(missing))}")
                continue
            for audience, session in sessions.items():
                found = timed(client, path.format(**places), session, repeats)
                print_line(audience, found)


def names_in(path: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(path) if name}


def print_line(audience: str, found: Timing) -> None:
    if found.status != 200:
        print(f"    {audience:<10}{found.status}")
        return
    times = f"{found.warm:8.1f} ({found.cold:7.1f})"
    slow = "  slow" if found.warm > LIMIT_MS else ""
    print(f"    {audience:<14}{times}{found.statements:7}{found.kilobytes:8.1f}{slow}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--targets", type=int, default=60)
    parser.add_argument("--only", default="", help="a part of the paths to time")
    given = parser.parse_args()
    size = Size(teams=given.teams, each=given.each, targets=given.targets)
    with serving() as client:
        report(client, size, repeats=given.repeats, only=given.only)


if __name__ == "__main__":
    main()
