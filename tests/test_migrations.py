"""The migrations make exactly the schema that the models describe, and keep the rows that are there."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import Session, selectinload
from structlog.testing import capture_logs

from app import names, wire
from app.backup import rows, service
from app.backup.keys import Places
from app.config import Settings
from app.db.models import (
    Announcement,
    Base,
    Competition,
    Evaluation,
    Opening,
    Secret,
    State,
    Submission,
    Team,
    ThresholdReport,
    Token,
    User,
)
from app.errors import Unavailable
from app.messages import Message, Statement, message_under
from app.services.contest import announcements
from app.services.people import accounts
from app.storage import digest_of, opened
from migrations.run import configuration, migrate
from tests.backups import target

__all__ = ["target"]

OLD = """
INSERT INTO users (id, name, name_key, password_hash, role)
VALUES ('00000000-0000-0000-0000-000000000001', 'Ädä "A"', 'ädä "a"', 'hash', 'participant');
INSERT INTO tokens (id, user_id, name, digest, scopes, expires_at)
VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'laptop',
        '\\x00ff', '{read,submit}', now());
INSERT INTO competitions (id, slug, file, scales, original, original_rows)
VALUES ('00000000-0000-0000-0000-000000000003', 'cup', 'format = 1' || chr(10), '{"b": 0.1, "a": 1e-7}',
        '{"original": "{digest}"}', 40);
INSERT INTO invites (id, competition_id, digest, uses_left, expires_at)
VALUES ('00000000-0000-0000-0000-000000000009', '00000000-0000-0000-0000-000000000003', '\\x01', 2, now());
INSERT INTO teams (id, competition_id, name, name_key)
VALUES ('00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000003', '赤\\t', '赤');
INSERT INTO members (competition_id, user_id, team_id)
VALUES ('00000000-0000-0000-0000-000000000003', '00000000-0000-0000-0000-000000000001',
        '00000000-0000-0000-0000-000000000004');
INSERT INTO submissions (id, competition_id, team_id, user_id, received_at, comment, files, rows, remarks)
VALUES ('00000000-0000-0000-0000-000000000005', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000001',
        '2027-01-10 00:00:00.000001+00', '', '{"anonymized": "{digest}"}', 40, '[{"code": "x"}]');
INSERT INTO evaluations (id, submission_id, current, state, attempt, step, steps, step_name, verdict)
VALUES ('00000000-0000-0000-0000-000000000006', '00000000-0000-0000-0000-000000000005', true, 'SCORED', 1,
        12, 12, 'euc1', '{"verdict": "accepted", "utility": 0.30000000000000004}'),
       ('00000000-0000-0000-0000-000000000007', '00000000-0000-0000-0000-000000000005', false, 'ERROR', 3,
        0, 0, '', NULL);
INSERT INTO secrets (submission_id, key_id, sealed, commitment)
VALUES ('00000000-0000-0000-0000-000000000005', 'key', '\\x0001feff', 'commitment');
"""
"""Rows as revision 0002 had them."""

OPENED = """
INSERT INTO targets (id, competition_id, submission_id, name, rows, salt, secret)
VALUES ('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000005', 'T01', 40, '\\x00ff', 'digest');
"""
"""A target as revision 0009 had it, revealed."""

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

SAID = """
UPDATE submissions SET remarks = '[
    {"code": "sent_before", "message": "your team has sent this very table 3 times before"},
    {"code": "other", "message": "{this} fits none"}
]';
UPDATE evaluations SET failure = 'scoring took longer than the limit of 600 s' WHERE NOT current;
UPDATE evaluations SET verdict = '{
    "verdict": "rejected", "utility": 0.30000000000000004,
    "violations": [{"code": "excessive_anonymization", "message":
        "the mean gower distance of individuals is 0.0798; at most 0.07 is allowed"}],
    "attackers": {"euc1": {"rate": 0.5, "note": "sparse assignment: 60 rows are more than dense_limit = 59; \
the total cost is the least possible"}, "id": {"rate": 0.25}}
}' WHERE current;
INSERT INTO threshold_reports
    (id, competition_id, user_id, file, original, question, state, attempt, report)
VALUES ('00000000-0000-0000-0000-000000000008', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000001', '', '{}', '{}', 'SCORED', 1, '{"bits": 50, "remedy":
        "7 of 9 groups have one individual, who stays in place whatever the cheat: \
name fewer group columns, or merge rare values"}');
"""
"""What revision 0014 said of a release, and why it failed."""

FAR = "the mean euclidean distance of individuals is 1.23457e+06; at most 1000.0 is allowed"
INFINITE = "the mean euclidean distance of individuals is inf; at most 1000.0 is allowed"
NO_KEY = "the private key 9f8e7d6c5b4a is not in ANONCUP_OPENING_KEYS_DIR"
OFTEN = f"scoring was tried 3 times and never finished; last: {NO_KEY}"
UNKNOWN = f"""
UPDATE evaluations SET failure = '{NO_KEY}' WHERE current;
UPDATE evaluations SET failure = '{OFTEN}' WHERE NOT current;
UPDATE evaluations SET verdict = '{{"violations": [{{"code": "far", "message": "{FAR}"}},
    {{"code": "far", "message": "{INFINITE}"}}]}}' WHERE current;
"""
"""Sentences of revision 0014 that the first 0015 did not know."""

RULE = "the {which} {distance} distance of individuals is {found:.6g}; at most {limit} is allowed"
BEFORE = RULE.replace(":.6g", "")
LEFT = f"""
UPDATE evaluations SET failure = '{{"code": "scoring_failed", "template": "{NO_KEY}", "values": {{}}}}'
WHERE current;
UPDATE evaluations SET failure = '{{"code": "attempts_used_up",
    "template": "scoring was tried {{times}} times and never finished; last: {{last}}",
    "values": {{"times": 3, "last": {{"template": "{NO_KEY}", "values": {{}}}}}}}}' WHERE NOT current;
UPDATE evaluations SET verdict = '{{"violations": [
    {{"code": "far", "message": "{FAR}", "template": "{FAR}", "values": {{}}}},
    {{"code": "far", "message": "{INFINITE}", "template": "{INFINITE}", "values": {{}}}},
    {{"code": "far", "message": "the mean gower distance of individuals is 0.5; at most 0.07 is allowed",
      "template": "{BEFORE}", "values": {{"which": {{"template": "mean", "values": {{}}}}, "found": 0.5,
        "distance": {{"template": "gower", "values": {{}}}}, "limit": 0.07}}}}]}}' WHERE current;
"""
"""The same as the first 0015 left them at 0017, and a violation by its template."""

FAILED = """
UPDATE evaluations SET failure = '{"template": "the {disk} was full", "values": {"disk": "small"}}'
WHERE current;
UPDATE evaluations SET failure = '{
    "template": "scoring was tried {times} times and never finished; last: {last}",
    "values": {"times": 3, "last": {"template": "the file is not in the store", "values": {}}}
}' WHERE NOT current;
UPDATE threshold_reports SET failure = '{"template": "the file is not in the store", "values": {}}';
"""
"""Why work had failed, as revision 0015 kept it."""

ANNOUNCED = """
INSERT INTO announcements (id, competition_id, text) VALUES ('00000000-0000-0000-0000-00000000000c',
    '00000000-0000-0000-0000-000000000003', '{"en": "It moved.", "ja": "変わりました。"}');
"""
"""By the service, as revision 0016 kept it."""

CONTENT = b"sex,income\nf,1\n"


def test_migrations_and_models_agree(settings: Settings) -> None:
    engine = create_engine(settings.database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_migrating_again_changes_nothing(settings: Settings) -> None:
    migrate(settings.database_url)
    migrate(settings.database_url)


def written_at(revision: str, url: str, statements: str) -> None:
    """What a service of that revision wrote."""
    migrate(url, revision)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(statements)
    engine.dispose()


def filled_at_0002(url: str) -> None:
    written_at("0002", url, OLD.replace("{digest}", digest_of(CONTENT)))


@contextmanager
def read_today(url: str) -> Iterator[Session]:
    """Through the models of today."""
    engine = create_engine(url)
    with Session(engine) as session:
        yield session
    engine.dispose()


def check_rows(url: str) -> None:
    """Everything that was written at 0002, read through the models of today."""
    with read_today(url) as session:
        user = session.scalars(select(User)).one()
        assert (user.name, user.password_hash) == ('Ädä "A"', "hash")
        competition = session.scalars(select(Competition)).one()
        assert list(competition.scales.items()) == [("b", 0.1), ("a", 1e-7)]
        assert (competition.file, competition.original_rows) == ("format = 1\n", 40)
        assert competition.frozen_at is None
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


def test_an_opened_secret_goes_along_to_its_own_table(target: str) -> None:
    filled_at_0002(target)
    written_at("0009", target, OPENED)
    migrate(target)
    with read_today(target) as session:
        (opening,) = session.scalars(select(Opening))
    assert (opening.target_id.int, opening.salt, opening.secret) == (10, b"\x00\xff", "digest")


def test_what_was_said_keeps_its_words_and_gets_its_values(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    with read_today(target) as session:
        remarks = session.scalars(select(Submission.remarks)).one()
        failure = session.scalars(select(Evaluation.failure).where(~Evaluation.current)).one()
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.current)).one() or {}
        assert session.scalars(select(Evaluation.failure).where(Evaluation.current)).one() is None
    assert [wire.Said.model_validate(each).model_dump()["values"] for each in remarks] == [{"times": 3}, {}]
    assert [str(Message.from_json(each)) for each in remarks] == [each["message"] for each in remarks]
    assert failure
    assert failure.message == Message("scoring took longer than the limit of {limit} s", limit=600)
    (violation,), attackers = verdict["violations"], verdict["attackers"]
    assert wire.Said.model_validate(violation).model_dump() == {
        "code": "excessive_anonymization",
        "message": "the mean gower distance of individuals is 0.0798; at most 0.07 is allowed",
        "values": {"which": "mean", "distance": "gower", "found": 0.0798, "limit": 0.07},
    }
    assert (attackers["euc1"]["note_values"], attackers["id"]) == ({"rows": 60, "limit": 59}, {"rate": 0.25})
    assert verdict["utility"] == 0.1 + 0.2


@pytest.mark.parametrize(("revision", "written"), [("0014", UNKNOWN), ("0017", LEFT)])
def test_large_distances_and_missing_keys_get_their_values_whichever_version_stored_them(
    target: str, revision: str, written: str
) -> None:
    filled_at_0002(target)
    written_at(revision, target, written)
    migrate(target)
    with read_today(target) as session:
        missing, often = session.scalars(select(Evaluation.failure).order_by(Evaluation.id))
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.current)).one() or {}
    no_key = Message("the private key {key_id} is not in ANONCUP_OPENING_KEYS_DIR", key_id="9f8e7d6c5b4a")
    assert missing == Statement("opening_key_missing", no_key)
    assert often
    assert (often.code, often.message.values["last"], str(often.message)) == (
        "attempts_used_up",
        no_key,
        OFTEN,
    )
    far, infinite, *others = verdict["violations"]
    assert (far["message"], far["values"]["found"], infinite["message"]) == (FAR, 1234570.0, INFINITE)
    for each in (far, infinite, *others):
        assert each["template"] == RULE
        assert str(Message.from_json(each)) == each["message"]


def test_a_report_keeps_its_remedy_with_its_values(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    with read_today(target) as session:
        report = session.scalars(select(ThresholdReport.report)).one() or {}
    remedy = message_under("remedy", report)
    assert remedy is not None
    assert (str(remedy), remedy.values) == (report["remedy"], {"alone": 7, "groups": 9})
    assert report["bits"] == 50


def test_a_failure_with_values_goes_back_as_a_sentence(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    engine, config = create_engine(target), configuration()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0014")
        found = connection.scalars(text("SELECT failure FROM evaluations WHERE NOT current")).one()
    engine.dispose()
    assert found == "scoring took longer than the limit of 600 s"


def test_a_failure_gets_its_code_and_keeps_its_sentence(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    written_at("0015", target, FAILED)
    migrate(target)
    with read_today(target) as session:
        tried, other = session.scalars(select(Evaluation.failure).order_by(Evaluation.id.desc()))
        report = session.scalars(select(ThresholdReport.failure)).one()
    lost = Message("the file is not in the store")
    often = Message("scoring was tried {times} times and never finished; last: {last}", times=3, last=lost)
    assert (tried, report) == (Statement("attempts_used_up", often), Statement("file_lost", lost))
    assert other == Statement("scoring_failed", Message("the {disk} was full", disk="small"))


def test_what_the_service_announced_keeps_the_text_it_had(target: str) -> None:
    filled_at_0002(target)
    written_at("0016", target, ANNOUNCED)
    migrate(target)
    with read_today(target) as session:
        announced = session.scalars(select(Announcement)).one()
    assert (announced.said, announcements.texts(announced)) == (
        None,
        {"en": "It moved.", "ja": "変わりました。"},
    )


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
