"""What the database takes with many submissions in it: copies, in SQL, of one that was really scored.

They are spread over ten competitions of two hundred teams, a day for each hundred thousand. Times are
CPU time of this process and of the Postgres process that serves it, which plans without parallel workers.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Connection, event, select, text
from sqlalchemy.orm import Session

from app.cli.backup import service as backups
from app.config import get_settings
from app.db import engine, now
from app.db.models import Evaluation, Submission, Team
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.boards import anonymization, verdicts
from app.services.contests import competitions, visibility
from app.services.jobs import health, leases, store_check
from app.services.submissions import progress, quota, submissions
from app.storage import store

CONTESTS, TEAMS = 10, 200
BACKLOGS = (1_000, 10_000, 100_000)
MEASURED_S, REPEATS = 1.0, 20
SEALED_KEPT = 1_000
"""Bytes of a sealed secret that a copy keeps: what is cut off is only stored, and counted in the report."""
LEASE = timedelta(seconds=20)

MODEL = """
CREATE TEMP TABLE chosen AS SELECT s.id, s.competition_id, s.team_id FROM submissions s
    JOIN evaluations e ON e.submission_id = s.id WHERE e.state = 'SCORED' ORDER BY s.received_at LIMIT 1;
CREATE TEMP TABLE contests AS SELECT n, gen_random_uuid() AS id FROM generate_series(1, {contests}) n;
INSERT INTO competitions SELECT made.* FROM contests, competitions c, LATERAL jsonb_populate_record(c,
    jsonb_build_object('id', contests.id, 'slug', 'filled-' || n)) made
    WHERE c.id = (SELECT competition_id FROM chosen);
CREATE TEMP TABLE founded AS SELECT row_number() OVER () AS n, gen_random_uuid() AS id, c.id AS contest
    FROM contests c, generate_series(1, {teams});
INSERT INTO teams SELECT made.* FROM founded, teams t, LATERAL jsonb_populate_record(t,
    jsonb_build_object('id', founded.id, 'competition_id', contest, 'name', 'Team ' || n,
    'name_key', 'team ' || n, 'name_look', 'team ' || n, 'name_capitals', 'TEAM ' || n)) made
    WHERE t.id = (SELECT team_id FROM chosen);
"""
COPIES = """
CREATE TEMP TABLE copies AS SELECT one, gen_random_uuid() AS id, founded.id AS team, contest,
    now() - ({begin} + one) * interval '1 day' / 100000 AS at
    FROM generate_series(1, {number}) one JOIN founded ON n = 1 + one % {every};
INSERT INTO submissions SELECT made.* FROM copies c, submissions s, LATERAL jsonb_populate_record(s,
    jsonb_build_object('id', c.id, 'team_id', team, 'competition_id', contest, 'received_at', at,
    'idempotency_key', c.id)) made WHERE s.id = (SELECT id FROM chosen) ORDER BY at;
INSERT INTO secrets SELECT c.id, key_id, substr(sealed, 1, {sealed}), commitment FROM copies c, secrets s
    WHERE s.submission_id = (SELECT id FROM chosen) ORDER BY at;
INSERT INTO attempts SELECT made.* FROM copies c, attempts a, LATERAL jsonb_populate_record(a,
    jsonb_build_object('id', gen_random_uuid(), 'team_id', team, 'at', c.at, 'key', c.id, 'ended_at', c.at))
    made WHERE a.id = (SELECT id FROM attempts LIMIT 1) ORDER BY c.at;
INSERT INTO evaluations SELECT made.* FROM copies c, evaluations e, LATERAL jsonb_populate_record(e,
    jsonb_build_object('id', gen_random_uuid(), 'submission_id', c.id, 'competition_id', contest,
    'party_id', team, 'created_at', at, 'started_at', at, 'finished_at', at)) made
    WHERE e.submission_id = (SELECT id FROM chosen) ORDER BY at;
DROP TABLE copies;
"""
TABLES = ("submissions", "evaluations", "secrets", "attempts")
WAITING = """
UPDATE evaluations SET state = 'QUEUED', not_before = NULL WHERE id IN
    (SELECT id FROM evaluations WHERE state = 'SCORED' ORDER BY created_at DESC LIMIT {more})
"""


@dataclass
class Cost:
    """CPU in ms of one doing, the median; and the tables that Postgres read from end to end for it."""

    python: float
    postgres: float
    scans: set[str]

    def __str__(self) -> str:
        return f"{self.python:.1f} | {self.postgres:.1f} | {', '.join(sorted(self.scans)) or '-'} |"


def postgres_ms(backend: int) -> float:
    """CPU of one server process so far, to the microsecond."""
    return int(Path(f"/proc/{backend}/schedstat").read_text().split()[0]) / 1e6


def cost(do: Callable[[Session], Any]) -> Cost:
    """Nothing of what it does is kept."""
    spent: list[tuple[float, float]] = []
    deadline = time.monotonic() + MEASURED_S
    while len(spent) < 2 or (len(spent) < REPEATS and time.monotonic() < deadline):
        with session_of_none() as session:
            backend = session.scalars(text("SELECT pg_backend_pid()")).one()
            own, theirs = time.process_time(), postgres_ms(backend)
            do(session)
            spent.append((1000 * (time.process_time() - own), postgres_ms(backend) - theirs))
    with session_of_none() as session, explained(session.connection()) as scans:
        do(session)
    own_ms, their_ms = map(statistics.median, zip(*spent, strict=True))
    return Cost(own_ms, their_ms, scans)


@contextmanager
def session_of_none() -> Iterator[Session]:
    with engine.session_factory()() as session:
        yield session
        session.rollback()


@contextmanager
def explained(connection: Connection) -> Iterator[set[str]]:
    """The tables of more than a few pages that are read from end to end by what is asked meanwhile."""
    scans: set[str] = set()

    def explain(_: Any, cursor: Any, statement: str, values: Any, *_rest: Any) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            asked = cursor.connection.cursor()
            plan = asked.execute(f"EXPLAIN (FORMAT JSON) {statement}", values).fetchone()[0]
            scans.update(whole(json.loads(plan)[0]["Plan"] if isinstance(plan, str) else plan[0]["Plan"]))

    event.listen(connection, "before_cursor_execute", explain)
    try:
        yield scans
    finally:
        event.remove(connection, "before_cursor_execute", explain)


def whole(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TABLES:
        yield node["Relation Name"]
    for below in node.get("Plans", ()):
        yield from whole(below)


def one_by_one(statements: str) -> None:
    with engine.get_engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for each in filter(str.strip, statements.split(";")):
            connection.execute(text(each))


def fill(number: int, *, begin: int) -> None:
    """So many more, each before all that are there."""
    if begin == 0:
        one_by_one(MODEL.format(contests=CONTESTS, teams=TEAMS))
    one_by_one(COPIES.format(number=number, begin=begin, sealed=SEALED_KEPT, every=CONTESTS * TEAMS))


def timed(title: str, do: Callable[[], Any]) -> None:
    """Seconds, and CPU of this process and of all Postgres processes that are still there."""
    top = psutil.Process()

    def spent() -> float:
        found = [one.cpu_times() for one in (top, *top.children(recursive=True))]
        return sum(one.user + one.system for one in found)

    began, before = time.monotonic(), spent()
    do()
    print(f"{title}: {time.monotonic() - began:.1f} s, {spent() - before:.1f} s of CPU", flush=True)


def sizes(number: int) -> None:
    """Bytes of one submission, by the table."""
    print("| table | rows, bytes | indexes, bytes | of it one submission: | all |\n" + "| --- " * 5 + "|")
    asked = "SELECT pg_table_size('{0}'), pg_indexes_size('{0}')"
    with session_of_none() as session:
        for table in TABLES:
            rows, indexes = session.execute(text(asked.format(table))).one()
            each = f"{rows / number:.0f} | {(rows + indexes) / number:.0f}"
            print(f"| {table} | {rows:,} | {indexes:,} | {each} |")
        secret, verdict = session.execute(
            text(
                "SELECT max(octet_length(sealed)), (SELECT max(pg_column_size(verdict)) FROM evaluations) "
                "FROM secrets"
            )
        ).one()
    print(f"a whole sealed secret: {secret:,} bytes (here {SEALED_KEPT:,}); a verdict: {verdict:,}")


def doings() -> dict[str, Callable[[Session], Any]]:
    """What the service asks again and again, by what it is for."""
    with transaction() as session:
        contest = competitions.find(session, None, "filled-1")
        team = session.scalars(select(Team.id).where(Team.competition_id == contest.id).limit(1)).one()
        sent = select(Submission.id).where(Submission.team_id == team).order_by(Submission.received_at.desc())
        latest = session.scalars(sent.limit(1)).one()

    def board(session: Session) -> None:
        anonymization.board(session, visibility.boards(session, None, "filled-1"))

    def first_board(session: Session) -> None:
        verdicts.kept.clear()
        board(session)

    def listed(session: Session) -> None:
        asked = submissions.shown().where(Submission.competition_id == contest.id)
        submissions.newest_first(session, asked, None, 50)

    return {
        "a board after a change": board,
        "the first board of a process": first_board,
        "claim": lambda it: leases.claim_next(it, Evaluation, lease=LEASE, attempts=3),
        "progress of one": lambda it: progress.of_submissions(it, {latest}),
        "quota": lambda it: quota.caps(it, contest, team, "anonymization", now.clock(it)),
        "same release before?": lambda it: it.scalars(
            select(Submission.sent).where(Submission.team_id == team)
        ).all(),
        "check of the store": store_check.known_files,
        "sweep": lambda it: leases.unattended(it, Evaluation),
        "round of the clock": contest_lifecycle.due,
        "/metrics": health.work,
        "organizer's list": listed,
    }


def report(numbers: Sequence[int]) -> None:
    one_by_one("ALTER ROLE anoncup SET max_parallel_workers_per_gather = 0")
    engine.get_engine().dispose()
    filled = 0
    for number in numbers:
        print(f"\n{number:,} submissions")
        timed("filled", partial(fill, number - filled, begin=filled))
        timed("vacuum and analyze", partial(one_by_one, "VACUUM ANALYZE"))
        filled = number
        sizes(number)
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder, "cup.tar.gz")
            timed("backup", partial(backups.backup, get_settings().database_url, store(), into))
            print(f"backup: {into.stat().st_size / number:.0f} bytes of a submission without its files")
        print("| what | Python, ms | Postgres, ms | reads all of |\n" + "| --- " * 4 + "|")
        for what, do in doings().items():
            print(f"| {what} | {cost(do)}", flush=True)
    waiting = 0
    for backlog in BACKLOGS:
        one_by_one(WAITING.format(more=backlog - waiting) + "; VACUUM ANALYZE evaluations")
        waiting = backlog
        for what in ("claim", "progress of one", "sweep", "/metrics"):
            print(f"| {what}, {backlog:,} waiting | {cost(doings()[what])}", flush=True)
