"""Privileges of the database roles: defined for every table, granted by Postgres, tried by signing in."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.config import Settings
from app.core.db.models import list_privileges
from app.core.db.privileges import ROLES, WEB, WORKER
from app.core.db.transaction import transaction
from tests.security.role_logins import SignInAsRole, connect_to, logins_folder, require_refusal, sign_in
from tests.support.contest import Contest
from tests.support.role_session import act_as

pytestmark = pytest.mark.contest(teams=("red",))

__all__ = ["logins_folder", "sign_in"]

INSERT_SECRET = "INSERT INTO secrets SELECT id, 'key', '' FROM submissions"
DENIED_STATEMENTS = (
    (WEB, "SELECT sealed FROM secrets"),
    (WEB, f"{INSERT_SECRET} RETURNING sealed"),
    (WEB, f"{INSERT_SECRET} ON CONFLICT (submission_id) DO UPDATE SET sealed = ''"),
    (WEB, "COPY secrets TO STDOUT"),
    (WEB, "INSERT INTO verdicts SELECT id, '', '{}' FROM evaluations"),
    (WEB, "UPDATE openings SET secret = ''"),
    (WEB, "DELETE FROM submissions"),
    (WEB, "UPDATE audit_entries SET user_id = NULL"),
    (WEB, "UPDATE alembic_version SET version_num = '0001'"),
    (WORKER, "UPDATE verdicts SET content = '{}'"),
    (WORKER, "SELECT digest FROM tokens"),
    *(
        (role, statement)
        for role in ROLES
        for statement in (
            "CREATE TABLE x (a int)",
            "CREATE SCHEMA x",
            "CREATE ROLE x",
            "CREATE FUNCTION x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "ALTER TABLE users ADD COLUMN x int",
            "CREATE INDEX ON users (name)",
            "TRUNCATE audit_entries",
            "DROP TABLE users",
            "SET ROLE anoncup",
            "SET SESSION AUTHORIZATION anoncup",
            "ALTER ROLE anoncup PASSWORD 'x'",
            "SET session_replication_role = replica",
            "COPY users TO PROGRAM 'cat'",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT rolpassword FROM pg_authid",
        )
    ),
    (WEB, f"SET ROLE {WORKER}"),
    (WORKER, f"SET ROLE {WEB}"),
)


def test_database_grants_exactly_the_defined_privileges(settings: Settings) -> None:
    query = text(
        "SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges"
        " WHERE table_schema = 'public' AND grantee <> current_user"
    )
    with connect_to(settings.database_url) as connection:
        granted = {tuple(row) for row in connection.execute(query)}
        for role in ROLES:
            attributes = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles"
            row = connection.execute(text(f"{attributes} WHERE rolname = :role"), {"role": role}).one()
            assert not any(row)
    assert granted == set(iterate_defined_privileges())


def iterate_defined_privileges() -> Iterator[tuple[str, str, str]]:
    for table, privileges_by_role in list_privileges().items():
        for role, privileges in zip(ROLES, privileges_by_role, strict=True):
            yield from ((table, role, verb) for verb in privileges.split(", ") if verb)


def test_statements_outside_the_privileges_are_denied(contest: Contest, sign_in: SignInAsRole) -> None:
    for role in ROLES:
        with sign_in(role) as connection:
            for statement in [statement for denied, statement in DENIED_STATEMENTS if denied == role]:
                assert require_refusal(connection, statement), statement


def test_replaced_organizer_file_takes_its_sealed_content_along(
    contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    """A web process deletes what it cannot read."""
    with sign_in(WEB) as web:
        web.execute(text("INSERT INTO organizer_files SELECT id, 'hidden', '', 6 FROM rounds"))
        web.execute(text("INSERT INTO sealed_organizer_files SELECT id, 'hidden', 'key', '' FROM rounds"))
        assert web.execute(text("DELETE FROM organizer_files")).rowcount == 1
        web.commit()
    with connect_to(settings.database_url) as owner:
        assert owner.scalar(text("SELECT count(*) FROM sealed_organizer_files")) == 0


def test_verdict_is_written_once(contest: Contest, sign_in: SignInAsRole) -> None:
    with sign_in(WORKER) as worker, pytest.raises(Exception, match="pk_verdicts"):
        worker.execute(text("INSERT INTO verdicts SELECT * FROM verdicts"))


def test_processes_have_only_the_rights_of_their_role(contest: Contest) -> None:
    """The tests' own web application, tasks and clock act in the roles of a service."""
    with act_as(WEB), pytest.raises(ProgrammingError), transaction() as session:
        session.execute(text("SELECT sealed FROM secrets"))
