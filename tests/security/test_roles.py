"""What each process may do in the database: said for every column, held by Postgres, tried by signing in."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from app.config import Settings
from app.db.models import Base
from app.db.privileges import CLOCK, DELETES, LONGEST_UPLOAD_H, PRIVILEGES, ROLES, WEB, WORKER
from app.services.jobs import health
from migrations.granting import VERBS
from tests.security.roles import SignedIn, connected, folder, refusal, signed_in
from tests.support.contest import Contest
from tests.support.role_session import acting_as

__all__ = ["folder", "signed_in"]


def columns() -> list[tuple[str, str]]:
    found = [(table.name, column.name) for table in Base.metadata.sorted_tables for column in table.columns]
    return [*found, ("alembic_version", "version_num")]


def test_every_column_of_every_table_has_its_decision_once() -> None:
    decided = [
        (table, name) for table, groups in PRIVILEGES.items() for names in groups for name in names.split()
    ]
    assert sorted(decided) == sorted(columns())


def test_the_database_grants_what_is_decided_and_nothing_else(settings: Settings) -> None:
    query = text("SELECT has_column_privilege(:role, :table, :column, :verb)")
    asked, whole = [], {table for table, _ in columns()}
    with connected(settings.database_url) as connection:
        for table, groups in PRIVILEGES.items():
            for names, may in groups.items():
                for name in names.split():
                    for role, letters in zip(ROLES, may, strict=True):
                        told = {"role": role, "table": table, "column": name}
                        held = {
                            letter
                            for letter, verb in VERBS.items()
                            if connection.scalar(query, told | {"verb": verb})
                        }
                        asked.append((table, name, role))
                        assert held == set(letters), (table, name, role)
        for table in whole:
            for role in ROLES:
                assert rights(connection, role, table) == ["DELETE"] * (role in DELETES.get(table, ()))
    assert len(asked) == 3 * len(columns())


def rights(connection: Connection, role: str, table: str) -> list[str]:
    """Those on a table as a whole."""
    query = text("SELECT has_table_privilege(:role, :table, :verb)")
    verbs = ("DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    told = {"role": role, "table": table}
    return [verb for verb in verbs if connection.scalar(query, told | {"verb": verb})]


NOW = "clock_timestamp()"
DENIED = (
    (WEB, "SELECT sealed FROM secrets"),
    (WEB, "SELECT * FROM secrets"),
    (WEB, "UPDATE secrets SET commitment = ''"),
    (WEB, "DELETE FROM secrets"),
    (WEB, "INSERT INTO openings SELECT id, ''::bytea, '' FROM targets"),
    (WEB, "UPDATE openings SET secret = ''"),
    (WEB, "SELECT sealed FROM seeds"),
    (WEB, "INSERT INTO seeds SELECT id, 'key', ''::bytea, '' FROM competitions"),
    (WEB, "UPDATE seeds SET commitment = ''"),
    (WEB, "INSERT INTO seed_openings SELECT id, ''::bytea FROM competitions"),
    (WEB, "UPDATE seed_openings SET seed = ''"),
    (WEB, "SELECT sealed FROM truths"),
    (WORKER, "DELETE FROM truths"),
    (WEB, "INSERT INTO draws SELECT id, '', NULL, 0, '{}' FROM competitions"),
    (WEB, "UPDATE draws SET files = '{}'"),
    *(
        (WEB, f"UPDATE competitions SET {turned}_at = {NOW}")
        for turned in ("drawn", "frozen", "published", "closed")
    ),
    (WEB, f"UPDATE competitions SET revealed_at = {NOW}"),
    (WEB, "UPDATE competitions SET slug = 'other'"),
    (WEB, "DELETE FROM competitions"),
    (WEB, "INSERT INTO competitions (id, slug, file, scales, original, revealed_at) {copy}"),
    (WEB, "UPDATE evaluations SET verdict = '{}'"),
    (WEB, "UPDATE evaluations SET scorer = '9'"),
    (WEB, "UPDATE evaluations SET state = 'QUEUED'"),
    (WEB, "UPDATE evaluations SET state = 'REJECTED'"),
    (WEB, "UPDATE evaluations SET state = 'CANCELLED' WHERE state = 'SCORED'"),
    (WEB, "UPDATE guesses SET correct = 40"),
    (WEB, "UPDATE guesses SET state = 'SCORED'"),
    (WEB, "UPDATE targets SET files = '{}'"),
    (WEB, "UPDATE submissions SET received_at = clock_timestamp()"),
    (WEB, "UPDATE submissions SET files = '{}'"),
    (WEB, "DELETE FROM submissions"),
    (WEB, "UPDATE audit_entries SET actor = 'nobody'"),
    (WEB, "DELETE FROM audit_entries"),
    (WEB, "TRUNCATE audit_entries"),
    (WEB, "INSERT INTO audit_entries (actor, action, subject) VALUES ('anoncup', 'secrets.reveal', 'small')"),
    (WEB, "INSERT INTO announcements (id, competition_id, text) SELECT id, id, '{}' FROM competitions"),
    (WEB, "UPDATE announcements SET text = '{}'"),
    (WEB, "UPDATE announcements SET user_id = (SELECT id FROM users LIMIT 1)"),
    (CLOCK, "DELETE FROM announcements"),
    (WEB, "UPDATE users SET role = 'administrator'"),
    (WEB, "UPDATE alembic_version SET version_num = '0001'"),
    (WEB, "UPDATE heartbeats SET task = 'turn'"),
    (WEB, "INSERT INTO heartbeats VALUES ('turn', clock_timestamp())"),
    (WEB, "DELETE FROM heartbeats"),
    (WEB, "INSERT INTO witnessed_ends SELECT * FROM witnessed_ends"),
    (WEB, "UPDATE witnessed_ends SET signature = ''"),
    (WEB, "DELETE FROM witnessed_ends"),
    (CLOCK, "UPDATE witnessed_ends SET signature = ''"),
    (CLOCK, "DELETE FROM witnessed_ends"),
    (WEB, "INSERT INTO targets SELECT * FROM targets"),
    *(
        (role, f"SELECT {column} FROM {table}")
        for role in (WORKER, CLOCK)
        for table, column in (
            ("users", "password_hash"),
            ("users", "name"),
            ("tokens", "digest"),
            ("password_links", "digest"),
            ("invites", "digest"),
            ("members", "user_id"),
        )
    ),
    (WORKER, f"UPDATE competitions SET closed_at = {NOW}"),
    (WORKER, "UPDATE competitions SET file = ''"),
    (WORKER, "INSERT INTO secrets SELECT id, 'key', ''::bytea, '' FROM submissions"),
    (WORKER, "INSERT INTO teams SELECT * FROM teams"),
    (WORKER, "UPDATE teams SET disqualified_at = NULL"),
    (WORKER, "INSERT INTO grants SELECT * FROM grants"),
    (WORKER, "INSERT INTO rehearsal_moves SELECT * FROM rehearsal_moves"),
    (WEB, "UPDATE competitions SET rehearses = NULL"),
    (WORKER, "SELECT salt FROM openings"),
    (WORKER, "UPDATE evaluations SET current = false"),
    (WORKER, "INSERT INTO audit_entries (actor, action, subject) VALUES ('a', 'b', 'c')"),
    (WORKER, "DELETE FROM evaluations"),
    (WORKER, "UPDATE secrets SET sealed = ''"),
    (WORKER, "SELECT files FROM draws"),
    (WORKER, "SELECT seed FROM seed_openings"),
    (WORKER, "UPDATE truths SET sealed = ''"),
    (CLOCK, "UPDATE seeds SET sealed = ''"),
    (CLOCK, "UPDATE truths SET sealed = ''"),
    (CLOCK, "UPDATE draws SET files = '{}'"),
    (CLOCK, "UPDATE competitions SET original = '{}'"),
    (CLOCK, "UPDATE competitions SET file = ''"),
    (CLOCK, "UPDATE evaluations SET state = 'SCORED'"),
    (CLOCK, "UPDATE guesses SET correct = 1"),
    (CLOCK, "UPDATE audit_entries SET actor = 'nobody'"),
    (CLOCK, "UPDATE openings SET secret = ''"),
    (CLOCK, "UPDATE secrets SET sealed = ''"),
    *(
        (role, statement)
        for role in ROLES
        for statement in (
            "CREATE TABLE x (a int)",
            "CREATE TEMPORARY TABLE x (a int)",
            "CREATE SCHEMA x",
            "CREATE ROLE x",
            "ALTER TABLE users ADD COLUMN x int",
            "ALTER TABLE openings DISABLE ROW LEVEL SECURITY",
            "DROP TABLE users",
            "DROP POLICY sealed_until_the_reveal ON openings",
            "DROP TRIGGER anoncup_state_guard ON evaluations",
            "SET ROLE anoncup",
            "SET SESSION AUTHORIZATION anoncup",
            "ALTER ROLE anoncup PASSWORD 'x'",
            "SET session_replication_role = replica",
            "COPY users TO PROGRAM 'cat'",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT rolpassword FROM pg_authid",
            "SELECT pg_reload_conf()",
        )
    ),
    *((role, f"SET ROLE {other}") for role in ROLES for other in ROLES if other != role),
)
COPY = "SELECT gen_random_uuid(), 'copy', file, scales, original, clock_timestamp() FROM competitions"


@pytest.fixture
def contest(client: Any) -> Contest:
    return Contest.opened(client)


@pytest.fixture
def attacked(contest: Contest) -> Contest:
    """A contest in its second phase, with a guess that is judged and one that is not."""
    contest.arena.team("blue")
    red = contest.submit("red")
    contest.attack()
    contest.guessed("blue", red, 3)
    return contest


@pytest.fixture
def acted(attacked: Contest, signed_in: SignedIn) -> SignedIn:
    return signed_in


def test_each_act_that_is_none_of_a_process_is_denied(acted: SignedIn) -> None:
    for role in ROLES:
        with acted(role) as connection:
            for statement in [statement for one, statement in DENIED if one == role]:
                assert refusal(connection, statement.replace("{copy}", COPY)), statement


def test_a_web_session_reads_an_opened_secret_from_the_reveal_on(
    attacked: Contest, signed_in: SignedIn, settings: Settings
) -> None:
    opening = text("INSERT INTO openings SELECT id, 'salt', 'digest' FROM targets")
    with connected(settings.database_url) as owner, signed_in(WEB) as web:
        owner.execute(opening)
        owner.execute(text("UPDATE competitions SET closed_at = clock_timestamp()"))
        owner.commit()
        assert web.execute(text("SELECT * FROM openings")).all() == []
        web.rollback()
        owner.execute(text("UPDATE competitions SET revealed_at = clock_timestamp()"))
        owner.commit()
        assert [each.secret for each in web.execute(text("SELECT * FROM openings"))] == ["digest"]


def test_a_web_session_reads_a_seed_from_the_reveal_on(
    contest: Contest, signed_in: SignedIn, settings: Settings
) -> None:
    opening = text("INSERT INTO seed_openings SELECT id, 'seed' FROM competitions")
    with connected(settings.database_url) as owner, signed_in(WEB) as web:
        owner.execute(opening)
        owner.commit()
        assert web.execute(text("SELECT * FROM seed_openings")).all() == []
        web.rollback()
        owner.execute(text("UPDATE competitions SET revealed_at = clock_timestamp()"))
        owner.commit()
        assert [each.seed for each in web.execute(text("SELECT * FROM seed_openings"))] == [b"seed"]


def test_a_web_session_gives_what_organizers_hold_until_a_team_has_its_draw(
    contest: Contest, signed_in: SignedIn
) -> None:
    given = "INSERT INTO truths SELECT id, '{}', 'key', 'sealed', '', 6 FROM competitions"
    with signed_in(WEB) as web:
        web.execute(text(given.format("hidden")))
        assert web.execute(text("UPDATE truths SET sealed = 'other'")).rowcount == 1
        web.commit()
        with signed_in(CLOCK) as clock:
            clock.execute(text("UPDATE competitions SET drawn_at = clock_timestamp()"))
            clock.commit()
        assert web.execute(text("UPDATE truths SET sealed = 'third'")).rowcount == 0
        assert web.execute(text("DELETE FROM truths")).rowcount == 0
        assert "none_once_drawn" in refusal(web, given.format("controls"))


def test_a_web_session_can_cancel_what_has_no_verdict_yet_and_give_it_none(
    contest: Contest, signed_in: SignedIn
) -> None:
    contest.submit("red", scored=False)
    with signed_in(WEB) as web:
        for state in ("SCORED", "REJECTED", "ERROR", "SCORING"):
            assert "may not turn QUEUED into" in refusal(web, f"UPDATE evaluations SET state = '{state}'")
        done = web.execute(text("UPDATE evaluations SET state = 'CANCELLED', finished_at = now()"))
        assert done.rowcount == 1


GUESSED = (
    "INSERT INTO guesses (id, competition_id, target_id, team_id, user_id, received_at, question, file,"
    " answered, guesses_left, state, attempt) SELECT gen_random_uuid(), competition_id, target_id, team_id,"
    " user_id, now() + interval '{} hours', question, file, answered, guesses_left, 'QUEUED', 0"
    " FROM guesses LIMIT 1"
)
ENTERED = (
    "INSERT INTO attempts (id, team_id, user_id, phase, at, senders, counts)"
    " SELECT gen_random_uuid(), team_id, user_id, 'reidentification', now(), 1, true FROM guesses LIMIT 1"
)
SENT = (
    "INSERT INTO submissions (id, competition_id, team_id, user_id, received_at, comment, files, sent, rows,"
    " sizes, remarks, quota_left, final) SELECT gen_random_uuid(), competition_id, team_id, user_id,"
    " clock_timestamp() + interval '{} hours', comment, files, sent, rows, sizes,"
    " remarks, quota_left, false FROM submissions LIMIT 1"
)


@pytest.mark.parametrize("statement", [GUESSED, SENT])
def test_a_worker_sends_what_rehearsals_teams_send_and_nothing_for_others(
    acted: SignedIn, settings: Settings, statement: str
) -> None:
    with acted(WORKER) as worker:
        assert "played" in refusal(worker, statement.format(0))
        assert worker.execute(text("SELECT id FROM competitions FOR SHARE")).all() == []
        assert worker.execute(text("SELECT id FROM teams FOR UPDATE")).all() == []
    with connected(settings.database_url) as owner:
        owner.execute(text("UPDATE competitions SET rehearses = id"))
        owner.execute(text("DELETE FROM submission_terms"))  # the first phase is over
        owner.commit()
    with acted(WORKER) as worker:
        worker.execute(text(ENTERED))
        assert worker.execute(text(statement.format(0))).rowcount == 1
        assert len(worker.execute(text("SELECT id FROM competitions FOR SHARE")).all()) == 1


def test_a_worker_sends_nothing_for_a_real_team_into_a_rehearsal(acted: SignedIn, settings: Settings) -> None:
    with connected(settings.database_url) as owner:
        owner.execute(
            text(
                "INSERT INTO competitions (id, slug, file, scales, original, rehearses)"
                " SELECT gen_random_uuid(), 'rehearsal', file, scales, original, id FROM competitions"
            )
        )
        owner.commit()
    rehearsal = "(SELECT id FROM competitions WHERE rehearses IS NOT NULL)"
    into_it = SENT.format(0).replace("(), competition_id", f"(), {rehearsal}")
    with acted(WORKER) as worker:
        assert "played" in refusal(worker, into_it)
        assert "rehearses what it did" in refusal(worker, "UPDATE competitions SET rehearses = id")


@pytest.mark.parametrize("statement", [GUESSED, SENT])
def test_a_web_session_dates_what_comes_in_no_longer_back_than_an_upload_takes(
    acted: SignedIn, settings: Settings, statement: str
) -> None:
    with connected(settings.database_url) as owner:
        owner.execute(text("UPDATE competitions SET frozen_at = NULL"))
        owner.commit()
    with acted(WEB) as web:
        for hours in (-LONGEST_UPLOAD_H - 0.1, 1):
            assert "entered_lately" in refusal(web, statement.format(hours))


def test_the_slowest_upload_of_the_largest_body_is_no_longer_back() -> None:
    largest, slowest = (Settings.model_fields[name].default for name in ("body_limit_mb", "body_bytes_per_s"))
    assert largest * 2**20 / slowest < LONGEST_UPLOAD_H * 3600


def test_a_web_session_cannot_take_back_what_the_clock_has_told(
    contest: Contest, signed_in: SignedIn, settings: Settings
) -> None:
    with signed_in(CLOCK) as clock:
        told = "INSERT INTO announcements (id, competition_id, text) SELECT id, id, '{}' FROM competitions"
        clock.execute(text(told))
        clock.commit()
    with signed_in(WEB) as web:
        assert web.execute(text("SELECT user_id FROM announcements FOR UPDATE")).scalars().all() == [None]
        assert web.execute(text("DELETE FROM announcements")).rowcount == 0


def test_a_web_session_writes_its_own_heartbeat_and_never_the_clocks(
    settings: Settings, signed_in: SignedIn
) -> None:
    beat = "INSERT INTO heartbeats VALUES (:task, :at) ON CONFLICT (task) DO UPDATE SET at = :at"
    with signed_in(CLOCK) as clock:
        clock.execute(text(beat), {"task": health.TURN, "at": datetime(2020, 1, 1, tzinfo=UTC)})
        clock.commit()
    with signed_in(WEB) as web:
        for _ in range(2):
            web.execute(text(beat), {"task": health.WRITE_TEST, "at": datetime(2021, 1, 1, tzinfo=UTC)})
        assert web.execute(text("UPDATE heartbeats SET at = clock_timestamp()")).rowcount == 1
        assert web.scalar(text("SELECT date_part('year', at) FROM heartbeats WHERE task = 'turn'")) == 2020


def test_a_process_in_another_role_is_kept_from_what_it_does_not_need(contest: Contest) -> None:
    """That the tests' own web application, tasks and clock act as those of a service do."""
    from app.db.transaction import transaction

    with acting_as(WEB), pytest.raises(ProgrammingError), transaction() as session:
        session.execute(text("SELECT sealed FROM secrets"))
