"""A database as an older version filled it, and what the models of today read in it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from app.storage import digest_of
from migrations.run import migrate

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

CONTENT = b"sex,income\nf,1\n"


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
