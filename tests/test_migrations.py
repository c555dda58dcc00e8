"""The migrations make exactly the schema that the models describe, and keep the rows that are there."""

import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import Session, selectinload
from structlog.testing import capture_logs

from app import names
from app.backup import rows, service
from app.backup.keys import Places
from app.config import Settings
from app.db.models import (
    Base,
    Competition,
    Evaluation,
    Guess,
    Opening,
    Secret,
    State,
    Submission,
    Target,
    Team,
    Token,
    User,
)
from app.errors import Unavailable
from app.local.embedded import embedded_services
from app.services.people import accounts
from app.storage import digest_of, opened
from migrations.run import configuration, migrate
from tests.backups import target
from tests.data_folders import data, made_once
from tests.older_database import CONTENT, filled_at_0002, read_today, written_at

__all__ = ["data", "made_once", "target"]

OPENED = """
INSERT INTO targets (id, competition_id, submission_id, name, rows, salt, secret)
VALUES ('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000005', 'T01', 40, '\\x00ff', 'digest');
"""
"""A target as revision 0009 had it, revealed."""

GUESSED = """
INSERT INTO targets (id, competition_id, submission_id, name, rows)
VALUES ('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000005', 'T01', 30);
UPDATE submissions SET rows = 30;
INSERT INTO guesses (id, competition_id, target_id, team_id, user_id, received_at, file, answered,
                     guesses_left, state, attempt, correct)
SELECT ('00000000-0000-0000-0000-0000000000d' || digit)::uuid, '00000000-0000-0000-0000-000000000003',
       '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000004',
       '00000000-0000-0000-0000-000000000001', now(), 'digest', 30, 2, state, 1, correct::integer
FROM (VALUES ('1', 'SCORED', '9'), ('2', 'SCORED', '0'), ('3', 'QUEUED', NULL))
     AS made (digit, state, correct)
"""
"""Guesses as revision 0018 kept them: judged, judged wrong throughout, waiting."""

FOUND = """
INSERT INTO guesses (id, competition_id, target_id, team_id, user_id, received_at, question, file, answered,
                     guesses_left, state, attempt, correct, outcome)
SELECT ('00000000-0000-0000-0000-0000000000e' || digit)::uuid, '00000000-0000-0000-0000-000000000003',
       '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000004',
       '00000000-0000-0000-0000-000000000001', now(), 'membership', 'digest', 30, 2, 'SCORED', 1,
       correct::integer, outcome::json
FROM (VALUES ('1', NULL, '{"value": 0.7, "baseline": 0.5, "details": {"auc": 0.8}}'),
             ('2', NULL, '{"value": 0.3, "baseline": 0.5, "details": {}}'),
             ('3', NULL, '{"value": 1, "baseline": 1, "details": {}}'),
             ('4', NULL, '{"value": 0.30000000000000004, "baseline": 0.01, "details": {}}'),
             ('5', '7', '{"value": 0.23333333333333334, "baseline": 0, "correct": 7, "details": {}}'))
     AS made (digit, correct, outcome)
"""
"""Guesses of other questions as revision 0019 kept them: by chance, worse, certain by chance, and others."""

ALIKE = """
INSERT INTO users (id, name, name_key, password_hash, role) VALUES
    ('00000000-0000-0000-0000-0000000000a1', 'Ian 1', 'ian 1', 'first', 'participant'),
    ('00000000-0000-0000-0000-0000000000a2', 'Ian l', 'ian l', 'second', 'participant'),
    ('00000000-0000-0000-0000-0000000000a3', 'Rei', 'rei', 'third', 'participant');
INSERT INTO teams (id, competition_id, name, name_key, baseline) VALUES
    ('00000000-0000-0000-0000-0000000000b1', '00000000-0000-0000-0000-000000000003', '力', '力', false),
    ('00000000-0000-0000-0000-0000000000b2', '00000000-0000-0000-0000-000000000003', 'カ', 'カ', false),
    ('00000000-0000-0000-0000-0000000000b3', '00000000-0000-0000-0000-000000000003', 'Mean',
     'mean 00000000-0000-0000-0000-0000000000b3', true),
    ('00000000-0000-0000-0000-0000000000b4', '00000000-0000-0000-0000-000000000003', 'mean', 'mean', false);
"""
"""Names as revision 0011 kept them, some of which are the same today; the first \"mean\" has been removed."""

BY_NAME = """
INSERT INTO tokens (id, user_id, name, digest, scopes, created_at, expires_at)
SELECT ('00000000-0000-0000-0000-0000000000c' || digit)::uuid, '00000000-0000-0000-0000-000000000001'::uuid,
       name, digest::bytea, ARRAY['read'], '2027-01-10', '2027-01-10'::timestamptz + life::interval
FROM (VALUES ('1', 'browser', '\\x01', '14 days 1 millisecond'), ('2', 'browser', '\\x02', '180 days'),
             ('3', 'script', '\\x03', '14 days')) AS made (digit, name, digest, life)
"""
"""Tokens as revision 0013 kept them: a browser's session, and two that people named and made themselves."""

UNDER_WAY = """
UPDATE competitions SET file = '
format = 1
track = "transactions"
[measures.mean_mae]
weight = 1
[measures.other]
weight = 0
[attackers.tfidf]
counts = false
[excessive]
threshold = 0.2
';
UPDATE evaluations SET verdict = '{
    "measures": {"mean_mae": {"value": 1.0, "version": 2}, "other": {"value": 1.0, "version": 1}},
    "attackers": {"jaccard": {"rate": 0.5, "version": 1}, "tfidf": {"rate": 0.5, "version": 1},
                  "random_in_cluster": {"rate": 0.5, "version": 1}}
}' WHERE current;
"""
"""A contest that revision 0012 had under way."""


def test_migrations_and_models_agree(settings: Settings) -> None:
    engine = create_engine(settings.database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_migrating_again_changes_nothing(settings: Settings) -> None:
    migrate(settings.database_url)
    migrate(settings.database_url)


def check_rows(url: str) -> None:
    """Everything that was written at 0002, read through the models of today."""
    with read_today(url) as session:
        user = session.scalars(select(User)).one()
        assert (user.name, user.password_hash) == ('Ädä "A"', "hash")
        competition = session.scalars(select(Competition)).one()
        assert list(competition.scales.items()) == [("b", 0.1), ("a", 1e-7)]
        assert (competition.file, competition.original_rows) == ("format = 1\n", 40)
        assert (competition.frozen_at, competition.drawn_at, competition.drawn) == (None, None, {})
        loaded = selectinload(Submission.evaluation), selectinload(Submission.team)
        submission = session.scalars(select(Submission).options(*loaded)).one()
        assert submission.received_at.microsecond == 1
        assert list(submission.files.values()) == list(competition.original.values())
        assert submission.sent == submission.files
        assert submission.remarks == [{"code": "x"}]
        assert not submission.final
        assert submission.team.name == "赤\\t"
        assert submission.team.disqualified_at is None
        assert submission.evaluation.state == State.SCORED
        assert submission.evaluation.verdict == {"verdict": "accepted", "utility": 0.1 + 0.2}
        assert session.scalars(select(Secret.sealed)).one() == b"\x00\x01\xfe\xff"
        assert sorted(session.scalars(select(Evaluation.attempt))) == [1, 3]
        parties = {(each.competition_id, each.party_id) for each in session.scalars(select(Evaluation))}
        assert parties == {(competition.id, submission.team_id)}
        assert session.scalars(select(Team.name_key)).one() == names.key("赤\\t")


def test_rows_of_an_older_version_are_read_by_the_models_after_migrating(target: str) -> None:
    filled_at_0002(target)
    migrate(target)
    check_rows(target)


@pytest.mark.full
def test_an_opened_secret_goes_along_to_its_own_table(target: str) -> None:
    filled_at_0002(target)
    written_at("0009", target, OPENED)
    migrate(target)
    with read_today(target) as session:
        (opening,) = session.scalars(select(Opening))
    assert (opening.target_id.int, opening.salt, opening.secret) == (10, b"\x00\xff", "digest")


@pytest.mark.full
def test_what_guesses_came_to_is_an_outcome_of_the_only_question_there_was(target: str) -> None:
    filled_at_0002(target)
    written_at("0018", target, GUESSED)
    migrate(target)
    with read_today(target) as session:
        made = session.scalars(select(Guess).order_by(Guess.id)).all()
        kept = session.scalars(select(Target.sizes)).one(), session.scalars(select(Submission.sizes)).one()
    assert kept == ({"originals": 40, "rows": 30},) * 2
    assert [each.question for each in made] == ["link"] * 3
    judged = [each.judged for each in made]
    assert [each and (each.value, each.correct, each.trials) for each in judged] == [
        (9 / 30, 9, 30),
        (0.0, 0, 30),
        None,
    ]


@pytest.mark.full
def test_the_risk_of_guesses_is_what_is_beyond_chance_of_what_they_came_to(target: str) -> None:
    filled_at_0002(target)
    written_at("0018", target, GUESSED)
    written_at("0019", target, FOUND)
    migrate(target)
    with read_today(target) as session:
        found = session.scalars(select(Guess).order_by(Guess.id)).all()
    beyond = [None if one.judged is None else by_hand(one.judged.value, one.judged.baseline) for one in found]
    assert [one.risk for one in found] == beyond
    assert beyond == [9 / 30, 0.0, None, (0.7 - 0.5) / 0.5, 0.0, 0.0, (0.1 + 0.2 - 0.01) / 0.99, 7 / 30]
    engine, config = create_engine(target), configuration()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0019")
        assert "risk" not in rows.schema(connection).tables["guesses"].columns
    engine.dispose()


def by_hand(value: float, chance: float) -> float:
    return 0.0 if value <= chance else (value - chance) / (1 - chance)


@pytest.mark.full
def test_names_that_are_the_same_now_stay_and_their_owners_still_sign_in(target: str) -> None:
    filled_at_0002(target)
    written_at("0011", target, ALIKE)
    with capture_logs() as said:
        migrate(target)
    with read_today(target) as session:
        found = {
            name: accounts.kept_hash(session, name) for name in ("Ian 1", "ian 1", "Ian l", "REI", "Ian")
        }
        assert found == {"Ian 1": "first", "ian 1": "first", "Ian l": "second", "REI": "third", "Ian": None}
        keys = {team.id.int % 256: team.name_key for team in session.scalars(select(Team))}
        assert (keys[0xB1], keys[0xB4]) == (names.key("力"), names.key("mean"))
        assert keys[0xB2] == f"{names.key('力')} 00000000-0000-0000-0000-0000000000b2"
        assert keys[0xB3].endswith("b3")
    assert [(entry["table"], entry["name"]) for entry in said] == [("users", "Ian l"), ("teams", "カ")]


@pytest.mark.full
def test_a_contest_under_way_is_told_what_it_was_scored_by(target: str) -> None:
    filled_at_0002(target)
    written_at("0012", target, UNDER_WAY)
    migrate(target)
    with read_today(target) as session:
        assert session.scalars(select(Competition.scored_by)).one() == {
            "measures.mean_mae": "2",
            "attackers.jaccard": "1",
            "distances.jaccard_quantity": "1",
        }


@pytest.mark.full
def test_sessions_that_are_open_stay_sessions_whatever_people_call_their_tokens(target: str) -> None:
    filled_at_0002(target)
    migrate(target, "0013")
    engine = create_engine(target)
    with engine.begin() as connection:
        connection.exec_driver_sql(BY_NAME)
    migrate(target)
    with Session(engine) as session:
        kinds = {token.digest: token.kind for token in session.scalars(select(Token))}
    assert kinds == {b"\x00\xff": "api", b"\x01": "session", b"\x02": "api", b"\x03": "api"}
    engine.dispose()


@pytest.mark.full
def test_a_backup_of_an_older_version_is_migrated_when_it_is_restored(target: str, tmp_path: Path) -> None:
    filled_at_0002(target)
    opened(str(tmp_path)).put(CONTENT)
    service.backup(target, opened(str(tmp_path)), tmp_path / "old.tar")
    engine = create_engine(target)
    with engine.begin() as connection:
        for table in reversed(rows.schema(connection).sorted_tables):
            if table.name != rows.VERSION:
                connection.execute(text(f"DELETE FROM {table.name}"))
    engine.dispose()
    migrate(target)
    with service.opened(tmp_path / "old.tar") as (found, contents):
        places = Places(None, tmp_path / "private")
        service.restore(found, contents, url=target, store=opened(str(tmp_path / "new")), places=places)
    check_rows(target)
    assert opened(str(tmp_path / "new")).get(digest_of(CONTENT)) == CONTENT


@pytest.mark.full
def test_a_migration_that_fails_leaves_the_database_as_it_was(target: str) -> None:
    filled_at_0002(target)
    engine = create_engine(target)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE guesses (id int)")
    with pytest.raises(Exception, match="already exists"):
        migrate(target)
    with engine.connect() as connection:
        assert rows.revision(connection) == "0002"
        assert "heartbeats" not in rows.schema(connection).tables
    engine.dispose()


@pytest.mark.full
def test_a_database_that_is_away_is_said_in_one_line(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://cup:canary-password@/cup?host={tmp_path}"
    with pytest.raises(Unavailable) as refused:
        migrate(url)
    assert "\n" not in str(refused.value)
    answer = subprocess.run(
        [Path(sys.executable).parent / "anoncup", "migrate"],
        env={"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 3
    assert answer.stderr.startswith("anoncup: the database cannot be reached: ")
    assert answer.stderr.count("\n") == 1
    assert "canary-password" not in answer.stderr + answer.stdout


def migrated_at(url: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [Path(sys.executable).parent / "anoncup", "migrate"],
        env={"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_the_databases_address_may_be_written_as_other_programs_write_it(
    settings: Settings, scheme: str
) -> None:
    place = settings.database_url.partition("://")[2]
    assert migrated_at(f"{scheme}://{place}").returncode == 0


@pytest.mark.full
def test_an_address_of_another_kind_of_database_is_refused_without_a_traceback() -> None:
    answer = migrated_at("mysql://cup:canary-password@localhost/cup")
    assert answer.returncode == 2
    assert answer.stderr == "anoncup: DATABASE_URL must begin with postgresql://\n"


@pytest.mark.full
def test_an_address_whose_port_is_no_number_is_refused_without_a_traceback() -> None:
    answer = migrated_at("postgresql://cup:canary-password@localhost:543x/cup")
    assert answer.returncode == 2
    assert answer.stderr == "anoncup: the port in DATABASE_URL is no number\n"


@pytest.mark.full
def test_a_migration_waits_for_a_database_that_starts_at_the_same_time(data: Path) -> None:
    with embedded_services(data) as services:
        url = services.database_url
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    command = [str(Path(sys.executable).parent / "anoncup"), "migrate"]
    env = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", "ANONCUP_DATABASE_WAIT_S": "120"}
    address = Path(folder, ".s.PGSQL.5432")
    address.parent.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as not_ready:
        not_ready.bind(str(address))
        not_ready.listen()
        with subprocess.Popen(command, env=env) as waiting:
            not_ready.accept()[0].close()
            not_ready.close()
            address.unlink()
            with embedded_services(data):
                assert waiting.wait() == 0


@pytest.mark.full
@pytest.mark.parametrize("words", [["migrate"], ["admin", "create-user", "Ada", "--password-stdin"]])
def test_a_slip_in_the_name_of_the_data_folder_makes_no_database(tmp_path: Path, words: list[str]) -> None:
    answer = subprocess.run(
        [Path(sys.executable).parent / "anoncup", *words, "--data", tmp_path / "typo"],
        env={},
        input="correct horse\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 2
    assert "there is no folder" in answer.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_an_account_that_begins_a_new_service_says_so(tmp_path: Path) -> None:
    told = [
        subprocess.run(
            [Path(sys.executable).parent / "anoncup", "admin", "create-user", name, "--password-stdin"],
            cwd=tmp_path,
            env={},
            input="correct horse\n",
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stderr
        for name in ("Ada", "Bea")
    ]
    assert ["began a new service in .anoncup" in each for each in told] == [True, False]
