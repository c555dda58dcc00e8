"""Privileges of the database roles: defined for every column, granted by Postgres, tried by signing in."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from app.config import Settings
from app.db.models import Base
from app.db.privileges import CLOCK, DELETE_PRIVILEGES, MAX_UPLOAD_HOURS, PRIVILEGES, ROLES, WEB, WORKER
from app.services.jobs import health
from migrations.role_grants import COMMAND_BY_LETTER
from tests.security.role_logins import SignInAsRole, connect_to, logins_folder, require_refusal, sign_in
from tests.support.contest import Contest
from tests.support.role_session import act_as

__all__ = ["logins_folder", "sign_in"]


def list_columns() -> list[tuple[str, str]]:
    model_columns = [
        (table.name, column.name) for table in Base.metadata.sorted_tables for column in table.columns
    ]
    return [*model_columns, ("alembic_version", "version_num")]


def test_privileges_are_defined_once_for_every_column() -> None:
    decided_columns = [
        (table, name) for table, groups in PRIVILEGES.items() for names in groups for name in names.split()
    ]
    assert sorted(decided_columns) == sorted(list_columns())


def test_database_grants_exactly_the_defined_privileges(settings: Settings) -> None:
    query = text("SELECT has_column_privilege(:role, :table, :column, :verb)")
    checked, tables = [], {table for table, _ in list_columns()}
    with connect_to(settings.database_url) as connection:
        for table, groups in PRIVILEGES.items():
            for names, letters_by_role in groups.items():
                for name in names.split():
                    for role, letters in zip(ROLES, letters_by_role, strict=True):
                        params = {"role": role, "table": table, "column": name}
                        granted = {
                            letter
                            for letter, verb in COMMAND_BY_LETTER.items()
                            if connection.scalar(query, params | {"verb": verb})
                        }
                        checked.append((table, name, role))
                        assert granted == set(letters), (table, name, role)
        for table in tables:
            for role in ROLES:
                assert list_table_rights(connection, role, table) == ["DELETE"] * (
                    role in DELETE_PRIVILEGES.get(table, ())
                )
    assert len(checked) == 3 * len(list_columns())


def list_table_rights(connection: Connection, role: str, table: str) -> list[str]:
    """Return a role's privileges on a table as a whole."""
    query = text("SELECT has_table_privilege(:role, :table, :verb)")
    verbs = ("DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    params = {"role": role, "table": table}
    return [verb for verb in verbs if connection.scalar(query, params | {"verb": verb})]


SQL_NOW = "clock_timestamp()"
DENIED_STATEMENTS = (
    (WEB, "SELECT sealed FROM secrets"),
    (WEB, "SELECT * FROM secrets"),
    (WEB, "UPDATE secrets SET commitment = ''"),
    (WEB, "DELETE FROM secrets"),
    (WEB, "INSERT INTO openings SELECT id, ''::bytea, '' FROM targets"),
    (WEB, "UPDATE openings SET secret = ''"),
    (WEB, "SELECT sealed FROM seeds"),
    (WEB, "INSERT INTO seeds SELECT id, 'key', ''::bytea, '' FROM rounds"),
    (WEB, "UPDATE seeds SET commitment = ''"),
    (WEB, "INSERT INTO seed_openings SELECT id, ''::bytea FROM rounds"),
    (WEB, "UPDATE seed_openings SET seed = ''"),
    (WEB, "SELECT sealed FROM organizer_files"),
    (WORKER, "DELETE FROM organizer_files"),
    (WEB, "INSERT INTO allocated_files SELECT id, '', NULL, 0, '{}' FROM rounds"),
    (WEB, "UPDATE allocated_files SET files = '{}'"),
    *(
        (WEB, f"UPDATE rounds SET {transition}_at = {SQL_NOW}")
        for transition in ("allocated", "frozen", "published", "closed")
    ),
    (WEB, f"UPDATE rounds SET revealed_at = {SQL_NOW}"),
    (WEB, "UPDATE competitions SET slug = 'other'"),
    (WEB, "DELETE FROM competitions"),
    (WEB, "UPDATE rounds SET competition_id = id"),
    (WEB, "DELETE FROM rounds"),
    (WEB, "INSERT INTO rounds (id, competition_id, name, scales, original, revealed_at) {copy}"),
    (WEB, "UPDATE evaluations SET verdict = '{}'"),
    (WEB, "UPDATE evaluations SET scorer = '9'"),
    (WEB, "UPDATE evaluations SET state = 'QUEUED'"),
    (WEB, "UPDATE evaluations SET state = 'REJECTED'"),
    (WEB, "UPDATE evaluations SET state = 'CANCELLED' WHERE state = 'SCORED'"),
    (WEB, "UPDATE guesses SET correct = 40"),
    (WEB, "UPDATE guesses SET state = 'SCORED'"),
    (WEB, "UPDATE rejudgements SET correct = 40"),
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
    (WEB, "INSERT INTO observed_deadlines SELECT * FROM observed_deadlines"),
    (WEB, "UPDATE observed_deadlines SET signature = ''"),
    (WEB, "DELETE FROM observed_deadlines"),
    (CLOCK, "UPDATE observed_deadlines SET signature = ''"),
    (CLOCK, "DELETE FROM observed_deadlines"),
    (WEB, "INSERT INTO targets SELECT * FROM targets"),
    *(
        (role, f"SELECT {column} FROM {table}")
        for role in (WORKER, CLOCK)
        for table, column in (
            ("users", "password_hash"),
            ("tokens", "digest"),
            ("password_links", "digest"),
            ("invites", "digest"),
        )
    ),
    (CLOCK, "SELECT name FROM users"),
    (CLOCK, "SELECT address FROM email_addresses"),
    (CLOCK, "SELECT digests FROM email_addresses"),
    (WORKER, "SELECT user_id FROM members"),
    (WORKER, "UPDATE email_addresses SET address = ''"),
    (WORKER, f"UPDATE email_addresses SET confirmed_at = {SQL_NOW}"),
    (WORKER, "INSERT INTO email_addresses SELECT * FROM email_addresses"),
    (WEB, "UPDATE email_addresses SET digests = '{}'"),
    (WEB, "UPDATE email_addresses SET address = ''"),
    (WORKER, f"UPDATE rounds SET closed_at = {SQL_NOW}"),
    (WORKER, "UPDATE competitions SET file = ''"),
    (WORKER, "INSERT INTO secrets SELECT id, 'key', ''::bytea, '' FROM submissions"),
    (WORKER, "INSERT INTO teams SELECT * FROM teams"),
    (WORKER, "UPDATE teams SET disqualified_at = NULL"),
    (WORKER, "INSERT INTO grants SELECT * FROM grants"),
    *(
        (WORKER, f"INSERT INTO {table} SELECT * FROM {table}")
        for table in ("attempts", "submissions", "guesses")
    ),
    (WORKER, "UPDATE competitions SET rehearsal_of = id"),
    (WORKER, "UPDATE competitions SET rehearsal_tokens = NULL"),
    *((role, f"SELECT {column} FROM webhooks") for role in (WEB, CLOCK) for column in ("url", "secret")),
    (WEB, "UPDATE webhooks SET url = ''"),
    (WORKER, "INSERT INTO webhooks SELECT * FROM webhooks"),
    (WORKER, "UPDATE webhooks SET url = ''"),
    (WEB, "SELECT rehearsal_tokens FROM competitions"),
    (CLOCK, "SELECT rehearsal_tokens FROM competitions"),
    (WEB, "UPDATE competitions SET rehearsal_of = NULL"),
    (WORKER, "SELECT salt FROM openings"),
    (WORKER, "UPDATE evaluations SET current = false"),
    (WORKER, "INSERT INTO audit_entries (actor, action, subject) VALUES ('a', 'b', 'c')"),
    (WORKER, "DELETE FROM evaluations"),
    (WORKER, "UPDATE secrets SET sealed = ''"),
    (WORKER, "SELECT seed FROM seed_openings"),
    (WORKER, "UPDATE organizer_files SET sealed = ''"),
    (CLOCK, "UPDATE seeds SET sealed = ''"),
    (CLOCK, "UPDATE organizer_files SET sealed = ''"),
    (CLOCK, "UPDATE allocated_files SET files = '{}'"),
    (CLOCK, "UPDATE rounds SET original = '{}'"),
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
    *((role, f"SET ROLE {other_role}") for role in ROLES for other_role in ROLES if other_role != role),
)
COPY_ROUND = (
    "SELECT gen_random_uuid(), competition_id, 'copy', scales, original, clock_timestamp() FROM rounds"
)


@pytest.fixture
def contest(client: Any) -> Contest:
    return Contest.create(client)


@pytest.fixture
def second_phase_contest(contest: Contest) -> Contest:
    """A contest in its second phase with a judged guess."""
    contest.arena.get_team_token("blue")
    (red_submission,) = contest.publish_targets("red")
    contest.submit_correct_guess("blue", red_submission, 3)
    return contest


@pytest.fixture
def sign_in_with_contest(second_phase_contest: Contest, sign_in: SignInAsRole) -> SignInAsRole:
    return sign_in


def test_statements_outside_the_privileges_are_denied(sign_in_with_contest: SignInAsRole) -> None:
    for role in ROLES:
        with sign_in_with_contest(role) as connection:
            for statement in [
                statement for denied_role, statement in DENIED_STATEMENTS if denied_role == role
            ]:
                assert require_refusal(connection, statement.replace("{copy}", COPY_ROUND)), statement


def test_web_session_reads_secrets_from_the_reveal_on(
    second_phase_contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    opening = text("INSERT INTO openings SELECT id, 'salt', 'digest' FROM targets")
    with connect_to(settings.database_url) as owner, sign_in(WEB) as web:
        owner.execute(opening)
        owner.execute(text("UPDATE rounds SET closed_at = clock_timestamp()"))
        owner.commit()
        assert web.execute(text("SELECT * FROM openings")).all() == []
        web.rollback()
        owner.execute(text("UPDATE rounds SET revealed_at = clock_timestamp()"))
        owner.commit()
        assert [row.secret for row in web.execute(text("SELECT * FROM openings"))] == ["digest"]


def test_web_session_reads_seeds_from_the_reveal_on(
    contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    opening = text("INSERT INTO seed_openings SELECT id, 'seed' FROM rounds")
    with connect_to(settings.database_url) as owner, sign_in(WEB) as web:
        owner.execute(opening)
        owner.commit()
        assert web.execute(text("SELECT * FROM seed_openings")).all() == []
        web.rollback()
        owner.execute(text("UPDATE rounds SET revealed_at = clock_timestamp()"))
        owner.commit()
        assert [row.seed for row in web.execute(text("SELECT * FROM seed_openings"))] == [b"seed"]


def test_web_session_replaces_organizer_data_until_the_end_of_the_first_phase(
    contest: Contest, sign_in: SignInAsRole
) -> None:
    insert_template = "INSERT INTO organizer_files SELECT id, '{}', 'key', 'sealed', '', 6 FROM rounds"
    with sign_in(WEB) as web:
        web.execute(text(insert_template.format("hidden")))
        assert web.execute(text("UPDATE organizer_files SET sealed = 'other'")).rowcount == 1
        web.commit()
        with sign_in(CLOCK) as clock:
            clock.execute(text("UPDATE rounds SET allocated_at = clock_timestamp()"))
            clock.commit()
        assert web.execute(text("UPDATE organizer_files SET sealed = 'third'")).rowcount == 1
        assert web.execute(text("DELETE FROM organizer_files")).rowcount == 0
        web.commit()
        assert "none_once_drawn" in require_refusal(web, insert_template.format("controls"))
        with sign_in(CLOCK) as clock:
            clock.execute(text("UPDATE rounds SET frozen_at = clock_timestamp()"))
            clock.commit()
        assert web.execute(text("UPDATE organizer_files SET sealed = 'fourth'")).rowcount == 0


def test_web_session_can_only_cancel_unfinished_evaluations(contest: Contest, sign_in: SignInAsRole) -> None:
    contest.submit("red", score=False)
    with sign_in(WEB) as web:
        for state in ("SCORED", "REJECTED", "ERROR", "SCORING"):
            assert "may not turn QUEUED into" in require_refusal(
                web, f"UPDATE evaluations SET state = '{state}'"
            )
        result = web.execute(text("UPDATE evaluations SET state = 'CANCELLED', finished_at = now()"))
        assert result.rowcount == 1


INSERT_GUESS = (
    "INSERT INTO guesses (id, round_id, target_id, team_id, user_id, received_at, question, file,"
    " answered, guesses_left, state, attempt) SELECT gen_random_uuid(), round_id, target_id, team_id,"
    " user_id, now() + interval '{} hours', question, file, answered, guesses_left, 'QUEUED', 0"
    " FROM guesses LIMIT 1"
)
INSERT_SUBMISSION = (
    "INSERT INTO submissions (id, round_id, team_id, user_id, received_at, comment, files,"
    " uploaded_sha256, rows, sizes, remarks, quota_left, final)"
    " SELECT gen_random_uuid(), round_id, team_id, user_id,"
    " clock_timestamp() + interval '{} hours', comment, files, uploaded_sha256, rows, sizes,"
    " remarks, quota_left, false FROM submissions LIMIT 1"
)


@pytest.mark.parametrize("statement", [INSERT_GUESS, INSERT_SUBMISSION])
def test_web_session_backdates_uploads_by_a_limited_time(
    sign_in_with_contest: SignInAsRole, settings: Settings, statement: str
) -> None:
    with connect_to(settings.database_url) as owner:
        owner.execute(text("UPDATE rounds SET frozen_at = NULL"))
        owner.commit()
    with sign_in_with_contest(WEB) as web:
        for hours in (-MAX_UPLOAD_HOURS - 0.1, 1):
            assert "entered_lately" in require_refusal(web, statement.format(hours))


def test_backdating_limit_allows_the_slowest_upload() -> None:
    largest, slowest = (Settings.model_fields[name].default for name in ("body_limit_mb", "body_bytes_per_s"))
    assert largest * 2**20 / slowest < MAX_UPLOAD_HOURS * 3600


def test_web_session_cannot_withdraw_announcements_of_the_clock(
    contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    with sign_in(CLOCK) as clock:
        statement = (
            "INSERT INTO announcements (id, competition_id, text) SELECT id, id, '{}' FROM competitions"
        )
        clock.execute(text(statement))
        clock.commit()
    with sign_in(WEB) as web:
        assert web.execute(text("SELECT user_id FROM announcements FOR UPDATE")).scalars().all() == [None]
        assert web.execute(text("DELETE FROM announcements")).rowcount == 0


def test_web_session_writes_only_its_own_heartbeat(settings: Settings, sign_in: SignInAsRole) -> None:
    beat = "INSERT INTO heartbeats VALUES (:task, :at) ON CONFLICT (task) DO UPDATE SET at = :at"
    with sign_in(CLOCK) as clock:
        clock.execute(text(beat), {"task": health.TRANSITION_TASK, "at": datetime(2020, 1, 1, tzinfo=UTC)})
        clock.commit()
    with sign_in(WEB) as web:
        for _ in range(2):
            web.execute(text(beat), {"task": health.WRITE_TEST_TASK, "at": datetime(2021, 1, 1, tzinfo=UTC)})
        assert web.execute(text("UPDATE heartbeats SET at = clock_timestamp()")).rowcount == 1
        assert web.scalar(text("SELECT date_part('year', at) FROM heartbeats WHERE task = 'turn'")) == 2020


def test_processes_have_only_the_rights_of_their_role(contest: Contest) -> None:
    """The tests' own web application, tasks and clock act in the roles of a service."""
    from app.db.transaction import transaction

    with act_as(WEB), pytest.raises(ProgrammingError), transaction() as session:
        session.execute(text("SELECT sealed FROM secrets"))


def test_sender_of_mail_makes_links_for_those_who_asked_and_reads_their_names_only(
    contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    contest.arena.get_team_token("red")
    contest.arena.get_team_token("blue")
    address_template = (
        "INSERT INTO email_addresses (id, user_id, address, language, subscribed, confirmed_at)"
        " SELECT gen_random_uuid(), id, 'a@example.org', 'en', true, {} FROM users"
        " WHERE id = (SELECT user_id FROM members LIMIT 1)"
    )
    request = (
        "INSERT INTO deliveries (id, email_address_id, event)"
        " SELECT gen_random_uuid(), id, 'password_link' FROM email_addresses"
    )
    link_template = (
        "INSERT INTO password_links (id, user_id, digest, mailed, expires_at)"
        " SELECT gen_random_uuid(), id, 'digest', {}, clock_timestamp() + interval '{} minutes' FROM users"
    )
    link = link_template.format("true", 59)
    with connect_to(settings.database_url) as owner, sign_in(WORKER) as worker:
        owner.execute(text(address_template.format("clock_timestamp()")))
        owner.commit()
        assert len(worker.execute(text("SELECT name FROM users")).all()) == 1
        assert worker.execute(text("DELETE FROM email_addresses")).rowcount == 0
        worker.rollback()
        assert "was_asked_for" in require_refusal(worker, link)
        assert "asks_for_no_link" in require_refusal(worker, request)
        owner.execute(text(request))
        owner.commit()
        for refused in (link_template.format("false", 59), link_template.format("true", 61)):
            assert "was_asked_for" in require_refusal(worker, refused)
        assert worker.execute(text(link)).rowcount == 1
        worker.rollback()
        owner.execute(text(f"UPDATE deliveries SET finished_at = {SQL_NOW}"))
        owner.commit()
        assert "was_asked_for" in require_refusal(worker, link)
