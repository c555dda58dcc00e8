"""What each process may do in the database: said for every column, held by Postgres, tried by signing in."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError, ProgrammingError
from structlog.testing import capture_logs

from app import logins
from app.backup import service
from app.config import Settings, get_settings
from app.db.might import warn_of_might
from app.db.models import Base
from app.db.privileges import CLOCK, DELETES, LONGEST_UPLOAD_H, PRIVILEGES, ROLES, WEB, WORKER
from app.errors import NotAllowed
from app.local.embedded import embedded_services
from app.storage import store
from migrations.granting import VERBS
from migrations.logins import let_in
from migrations.run import migrate
from tests.acting import acting_as, url_as
from tests.contest import Contest
from tests.test_backup import target

__all__ = ["target"]

SignedIn = Callable[[str], AbstractContextManager[Connection]]


@pytest.fixture(scope="module")
def folder(session_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The passwords of the roles, which may sign in with them."""
    made = tmp_path_factory.mktemp("roles")
    let_in(session_settings.database_url, made)
    return made


@pytest.fixture
def signed_in(settings: Settings, folder: Path) -> SignedIn:
    return lambda role: connected(login_url(settings.database_url, folder, role))


def login_url(url: str, folder: Path, role: str) -> str:
    """As an operator gives it to a process: its own name and password in place of the owner's."""
    process = next(process for process, each in logins.ROLES.items() if each == role)
    place, _, options = url.partition("?")
    kept = "&".join(option for option in options.split("&") if not option.startswith("passfile="))
    file = quote(str(logins.login_file(folder, process)))
    return f"{place.replace('//anoncup@', f'//{role}@')}?{kept}&passfile={file}"


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def refusal(connection: Connection, statement: str) -> str:
    """What Postgres says, if it is for want of a right."""
    with pytest.raises(ProgrammingError) as refused, connection.begin_nested():
        connection.execute(text(statement))
    assert isinstance(refused.value.orig, InsufficientPrivilege), refused.value.orig
    return str(refused.value.orig)


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
    (WEB, "UPDATE heartbeats SET at = clock_timestamp()"),
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
    " user_id, clock_timestamp() + interval '{} hours', question, file, answered, guesses_left, 'QUEUED', 0"
    " FROM guesses LIMIT 1"
)
SENT = (
    "INSERT INTO submissions (id, competition_id, team_id, user_id, received_at, comment, files, sent, rows,"
    " sizes, remarks, quota_left, final) SELECT gen_random_uuid(), competition_id, team_id, user_id,"
    " clock_timestamp() + interval '{} hours', comment, files, sent, rows, sizes,"
    " remarks, quota_left, false FROM submissions LIMIT 1"
)


@pytest.mark.parametrize("statement", [GUESSED, SENT])
def test_a_web_session_dates_what_comes_in_no_longer_back_than_an_upload_takes(
    acted: SignedIn, statement: str
) -> None:
    with acted(WEB) as web:
        for hours in (-LONGEST_UPLOAD_H - 0.1, 1):
            assert "entered_lately" in refusal(web, statement.format(hours))
        for hours in (-LONGEST_UPLOAD_H + 1, 0):
            assert web.execute(text(statement.format(hours))).rowcount == 1


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


def test_a_process_in_another_role_is_kept_from_what_it_does_not_need(contest: Contest) -> None:
    """That the tests' own web application, tasks and clock act as those of a service do."""
    from app.transaction import transaction

    with acting_as(WEB), pytest.raises(ProgrammingError), transaction() as session:
        session.execute(text("SELECT sealed FROM secrets"))


def test_only_a_role_with_more_than_it_needs_is_warned_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role, events in ((None, ["database_role_too_mighty"]), (WEB, []), (WORKER, []), (CLOCK, [])):
        url = url_as(role, settings.database_url) if role else settings.database_url
        monkeypatch.setenv("DATABASE_URL", url)
        get_settings.cache_clear()
        with capture_logs() as said:
            warn_of_might()
        assert [each["event"] for each in said] == events
    monkeypatch.undo()
    get_settings.cache_clear()


def test_a_wrong_password_lets_nobody_in(settings: Settings, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "web" / "pgpass"
    logins.password_of(other, WEB)
    url = login_url(settings.database_url, tmp_path, WEB)
    with pytest.raises(OperationalError, match="password authentication failed"), connected(url):
        pass


def test_passwords_are_for_their_owner_only_and_stay(settings: Settings, folder: Path) -> None:
    files = sorted(folder.rglob("pgpass"))
    assert {file.parent.name for file in files} == {"web", "worker", "clock"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    before = [file.read_text() for file in files]
    assert len({each.rpartition(":")[2] for each in before}) == 3
    let_in(settings.database_url, folder)
    assert [file.read_text() for file in files] == before


def test_who_may_not_make_roles_is_told_so(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotAllowed, match="may not let roles sign in"):
        let_in(url_as(WORKER, settings.database_url), tmp_path)


@pytest.mark.parametrize("role", ROLES)
def test_only_the_owner_makes_a_backup(settings: Settings, tmp_path: Path, role: str) -> None:
    with pytest.raises(NotAllowed, match="owner's DATABASE_URL"):
        service.backup(url_as(role, settings.database_url), store(), tmp_path / "made.tar")
    assert not (tmp_path / "made.tar").exists()


def test_a_backup_has_no_password_of_a_role(settings: Settings, folder: Path, tmp_path: Path) -> None:
    service.backup(settings.database_url, store(), tmp_path / "made.tar")
    made = (tmp_path / "made.tar").read_bytes()
    for file in folder.rglob("pgpass"):
        assert file.read_bytes().strip().rpartition(b":")[2] not in made
    assert b"SCRAM-SHA-256" not in made


def test_migrating_without_the_owners_rights_is_refused_in_words(target: str) -> None:
    migrate(target, "0009")
    with pytest.raises(NotAllowed, match="owner's DATABASE_URL"):
        migrate(url_as(WEB, target))


def test_an_owner_who_may_not_make_roles_has_tables_and_grants_once_somebody_has_made_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded_services(tmp_path / "data") as own:
        with connected(own.database_url) as admin:
            at_once = admin.execution_options(isolation_level="AUTOCOMMIT")
            at_once.execute(text("CREATE ROLE landlord"))
            at_once.execute(text("ALTER DATABASE anoncup OWNER TO landlord"))
        url = url_as("landlord", own.database_url)
        migrate(url)
        assert "this user may not make them" in caplog.text
        with connected(url) as owner:
            owner.execute(text("SELECT * FROM secrets, openings"))
        with connected(own.database_url) as admin:
            for role in ROLES:
                admin.execute(text(f"CREATE ROLE {role}"))
            admin.commit()
        migrate(url)
        with connected(url_as(WEB, own.database_url)) as web:
            web.execute(text("SELECT * FROM users"))
            assert refusal(web, "SELECT * FROM secrets")
            assert refusal(web, "CREATE TEMPORARY TABLE x (a int)")
        with connected(url) as owner:
            owner.execute(text("INSERT INTO audit_entries (actor, action, subject) VALUES ('', '', '')"))


def test_with_the_newest_schema_a_process_that_may_not_change_it_need_not(settings: Settings) -> None:
    migrate(url_as(WEB, settings.database_url))
