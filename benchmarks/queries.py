"""Measure queries on a database with many submissions, made by SQL as copies of one scored submission.

The copies are spread over ten competitions with two hundred teams each, 100,000 per day. Times are CPU time
of this process and of its Postgres backend, which plans without parallel workers.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Connection, event, select, text
from sqlalchemy.orm import Session

from app.boards import anonymization
from app.competitions import competitions, visibility
from app.config import get_settings
from app.core.db import engine
from app.core.db.models import Evaluation, Submission, Team
from app.core.db.paging import fetch_newest_first
from app.core.db.transaction import read_clock, transaction
from app.core.storage import get_store
from app.jobs import health, leases
from app.lifecycle import contest_lifecycle
from app.operations.backup import backup_and_restore as backups
from app.submissions import quota, submissions

CONTEST_COUNT, TEAM_COUNT = 10, 200
_BACKLOGS = (1_000, 10_000, 100_000)
MAX_MEASURING_S, REPEATS = 1.0, 20
_SEALED_BYTES_KEPT = 1_000
"""Bytes of the sealed secret that a copy keeps, to save space. The report gives the full size."""

_TEMPLATE_SQL = """
CREATE TEMP TABLE chosen AS SELECT s.id, s.round_id, s.team_id FROM submissions s
    JOIN evaluations e ON e.submission_id = s.id WHERE e.state = 'SCORED' ORDER BY s.received_at LIMIT 1;
CREATE TEMP TABLE contests AS SELECT n, gen_random_uuid() AS id, gen_random_uuid() AS round
    FROM generate_series(1, {contests}) n;
INSERT INTO competitions SELECT made.* FROM contests, competitions c, LATERAL jsonb_populate_record(c,
    jsonb_build_object('id', contests.id, 'slug', 'filled-' || n)) made
    WHERE c.id = (SELECT competition_id FROM rounds WHERE id = (SELECT round_id FROM chosen));
INSERT INTO rounds SELECT made.* FROM contests, rounds r, LATERAL jsonb_populate_record(r,
    jsonb_build_object('id', contests.round, 'competition_id', contests.id)) made
    WHERE r.id = (SELECT round_id FROM chosen);
CREATE TEMP TABLE founded AS SELECT row_number() OVER () AS n, gen_random_uuid() AS id, c.id AS contest, round
    FROM contests c, generate_series(1, {teams});
INSERT INTO teams SELECT made.* FROM founded, teams t, LATERAL jsonb_populate_record(t,
    jsonb_build_object('id', founded.id, 'competition_id', contest, 'name', 'Team ' || n,
    'name_key', 'team ' || n)) made
    WHERE t.id = (SELECT team_id FROM chosen);
"""
_COPIES_SQL = """
CREATE TEMP TABLE copies AS SELECT one, gen_random_uuid() AS id, founded.id AS team, round,
    now() - ({begin} + one) * interval '1 day' / 100000 AS at
    FROM generate_series(1, {number}) one JOIN founded ON n = 1 + one % {every};
INSERT INTO submissions SELECT made.* FROM copies c, submissions s, LATERAL jsonb_populate_record(s,
    jsonb_build_object('id', c.id, 'team_id', team, 'round_id', round, 'received_at', at,
    'idempotency_key', c.id)) made WHERE s.id = (SELECT id FROM chosen) ORDER BY at;
INSERT INTO secrets SELECT c.id, key_id, substr(sealed, 1, {sealed}) FROM copies c, secrets s
    WHERE s.submission_id = (SELECT id FROM chosen) ORDER BY at;
INSERT INTO attempts SELECT made.* FROM copies c, attempts a, LATERAL jsonb_populate_record(a,
    jsonb_build_object(
        'id', gen_random_uuid(), 'team_id', team, 'round_id', round, 'started_at', c.at, 'key', c.id,
        'ended_at', c.at)) made
    WHERE a.id = (SELECT id FROM attempts LIMIT 1) ORDER BY c.at;
CREATE TEMP TABLE evaluated AS SELECT gen_random_uuid() AS evaluation, copies.* FROM copies;
INSERT INTO evaluations SELECT made.* FROM evaluated c, evaluations e, LATERAL jsonb_populate_record(e,
    jsonb_build_object('id', evaluation, 'submission_id', c.id, 'round_id', round,
    'party_id', team, 'created_at', at, 'started_at', at, 'finished_at', at)) made
    WHERE e.submission_id = (SELECT id FROM chosen) ORDER BY at;
INSERT INTO verdicts SELECT evaluation, scorer, content FROM evaluated, verdicts v JOIN evaluations e
    ON e.id = v.evaluation_id WHERE e.submission_id = (SELECT id FROM chosen) ORDER BY at;
DROP TABLE copies, evaluated;
"""
_TABLES = ("submissions", "evaluations", "verdicts", "secrets", "attempts")
_REQUEUE_SQL = """
UPDATE evaluations SET state = 'QUEUED', not_before = NULL WHERE id IN
    (SELECT id FROM evaluations WHERE state = 'SCORED' ORDER BY created_at DESC LIMIT {more})
"""


@dataclass
class OperationCost:
    """Median CPU milliseconds of an operation, and the tables that Postgres scanned completely."""

    python_ms: float
    postgres_ms: float
    scanned_tables: set[str]

    def __str__(self) -> str:
        tables = ", ".join(sorted(self.scanned_tables)) or "-"
        return f"{self.python_ms:.1f} | {self.postgres_ms:.1f} | {tables} |"


def _read_postgres_ms(backend: int) -> float:
    """Return the CPU milliseconds of a Postgres backend so far, in microsecond resolution."""
    return int(Path(f"/proc/{backend}/schedstat").read_text().split()[0]) / 1e6


def _measure_cost(operation: Callable[[Session], Any]) -> OperationCost:
    """Measure an operation, rolling back its changes."""
    samples: list[tuple[float, float]] = []
    deadline = time.monotonic() + MAX_MEASURING_S
    while len(samples) < 2 or (len(samples) < REPEATS and time.monotonic() < deadline):
        with _open_discarded_session() as session:
            backend = session.scalars(text("SELECT pg_backend_pid()")).one()
            python_start, postgres_start = time.process_time(), _read_postgres_ms(backend)
            operation(session)
            samples.append(
                (1000 * (time.process_time() - python_start), _read_postgres_ms(backend) - postgres_start)
            )
    with _open_discarded_session() as session, _collect_scans(session.connection()) as scans:
        operation(session)
    python_ms, server_ms = map(statistics.median, zip(*samples, strict=True))
    return OperationCost(python_ms, server_ms, scans)


@contextmanager
def _open_discarded_session() -> Iterator[Session]:
    with engine.get_session_factory()() as session:
        yield session
        session.rollback()


@contextmanager
def _collect_scans(connection: Connection) -> Iterator[set[str]]:
    """Collect the tables of ``_TABLES`` that queries in the context scan sequentially."""
    scans: set[str] = set()

    def explain(_: Any, cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            cursor_for_plan = cursor.connection.cursor()
            plan = cursor_for_plan.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters).fetchone()[0]
            scans.update(
                _iterate_scanned_tables(
                    json.loads(plan)[0]["Plan"] if isinstance(plan, str) else plan[0]["Plan"]
                )
            )

    event.listen(connection, "before_cursor_execute", explain)
    try:
        yield scans
    finally:
        event.remove(connection, "before_cursor_execute", explain)


def _iterate_scanned_tables(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in _TABLES:
        yield node["Relation Name"]
    for child in node.get("Plans", ()):
        yield from _iterate_scanned_tables(child)


def _execute_statements(statements: str) -> None:
    with engine.get_engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in filter(str.strip, statements.split(";")):
            connection.execute(text(statement))


def fill(submission_count: int, *, begin: int) -> None:
    """Add ``submission_count`` submissions, each older than all existing ones."""
    if begin == 0:
        _execute_statements(_TEMPLATE_SQL.format(contests=CONTEST_COUNT, teams=TEAM_COUNT))
    _execute_statements(
        _COPIES_SQL.format(
            number=submission_count, begin=begin, sealed=_SEALED_BYTES_KEPT, every=CONTEST_COUNT * TEAM_COUNT
        )
    )


def _print_time(title: str, operation: Callable[[], Any]) -> None:
    """Run an operation; print its seconds, and the CPU time of this process and its running children."""
    top = psutil.Process()

    def read_cpu_seconds() -> float:
        cpu_times = [process.cpu_times() for process in (top, *top.children(recursive=True))]
        return sum(process.user + process.system for process in cpu_times)

    started_at, cpu_at_start = time.monotonic(), read_cpu_seconds()
    operation()
    print(
        f"{title}: {time.monotonic() - started_at:.1f} s, {read_cpu_seconds() - cpu_at_start:.1f} s of CPU",
        flush=True,
    )


def _print_sizes(submission_count: int) -> None:
    """Print the size of each table, and the bytes of one submission in it."""
    print("| table | rows, bytes | indexes, bytes | of it one submission: | all |\n" + "| --- " * 5 + "|")
    query = "SELECT pg_table_size('{0}'), pg_indexes_size('{0}')"
    with _open_discarded_session() as session:
        for table in _TABLES:
            rows, indexes = session.execute(text(query.format(table))).one()
            cells = f"{rows / submission_count:.0f} | {(rows + indexes) / submission_count:.0f}"
            print(f"| {table} | {rows:,} | {indexes:,} | {cells} |")
        secret, verdict = session.execute(
            text(
                "SELECT max(octet_length(sealed)), (SELECT max(pg_column_size(content)) FROM verdicts) "
                "FROM secrets"
            )
        ).one()
    print(f"a whole sealed secret: {secret:,} bytes (here {_SEALED_BYTES_KEPT:,}); a verdict: {verdict:,}")


def _build_operations() -> dict[str, Callable[[Session], Any]]:
    """Return the operations that the service repeats often, by title."""
    with transaction() as session:
        contest = competitions.find(session, None, "filled-1")
        team = session.scalars(select(Team.id).where(Team.competition_id == contest.id).limit(1)).one()
        query = (
            select(Submission.id).where(Submission.team_id == team).order_by(Submission.received_at.desc())
        )
        latest = session.scalars(query.limit(1)).one()

    def load_board(session: Session) -> None:
        anonymization.build_board(session, visibility.authorize_boards(session, None, "filled-1"))

    def list_submissions(session: Session) -> None:
        query = submissions.select_with_details().where(Submission.round_id == contest.id)
        fetch_newest_first(session, query, Submission.received_at, Submission.id, cursor=None, limit=50)

    return {
        "a board after a change": load_board,
        "claim": lambda db: leases.claim_next(db, Evaluation),
        "progress of one": lambda db: submissions.load_queue_positions(db, [db.get_one(Submission, latest)]),
        "quota": lambda db: quota.load_caps(db, contest, team, "anonymization", read_clock(db)),
        "same release before?": lambda db: db.scalars(
            select(Submission.uploaded_sha256).where(Submission.team_id == team)
        ).all(),
        "sweep": lambda db: leases.count_unattended(db, Evaluation),
        "round of the clock": contest_lifecycle.find_due_work,
        "/metrics": health.measure_oldest_queued,
        "organizer's list": list_submissions,
    }


def report(submission_counts: Sequence[int]) -> None:
    _execute_statements("ALTER ROLE anoncup SET max_parallel_workers_per_gather = 0")
    engine.get_engine().dispose()
    filled_count = 0
    for submission_count in submission_counts:
        print(f"\n{submission_count:,} submissions")
        _print_time("filled", partial(fill, submission_count - filled_count, begin=filled_count))
        _print_time("vacuum and analyze", partial(_execute_statements, "VACUUM ANALYZE"))
        filled_count = submission_count
        _print_sizes(submission_count)
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder, "cup.tar.gz")
            _print_time("backup", partial(backups.backup, get_settings().database_url, get_store(), archive))
            backup_bytes = archive.stat().st_size / submission_count
            print(f"backup: {backup_bytes:.0f} bytes of a submission without its files")
        print("| what | Python, ms | Postgres, ms | reads all of |\n" + "| --- " * 4 + "|")
        for title, operation in _build_operations().items():
            print(f"| {title} | {_measure_cost(operation)}", flush=True)
    queued_count = 0
    for backlog in _BACKLOGS:
        _execute_statements(_REQUEUE_SQL.format(more=backlog - queued_count) + "; VACUUM ANALYZE evaluations")
        queued_count = backlog
        for title in ("claim", "progress of one", "sweep", "/metrics"):
            print(f"| {title}, {backlog:,} waiting | {_measure_cost(_build_operations()[title])}", flush=True)
