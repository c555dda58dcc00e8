"""Backups: what was written is read back on another machine, whole, or not at all."""

import json
import re
import shutil
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, func, select, text

from anoncup.errors import Conflict, DomainError, InvalidInput, Unavailable
from app.cli.backup import archive, keys, service
from app.cli.backup.keys import Places
from app.config import Settings
from app.db import engine
from app.db.models import AuditEntry, Base, Evaluation, Submission
from app.db.transaction import transaction
from app.processes.embedded_servers import embedded_services
from app.services.accounts import audit
from app.storage import opened, store
from migrations.run import migrate
from tests.support.arena import Arena, noisy_release
from tests.support.backups import blobs, blobs_in, command, everything, living_on, made, read, restore, target
from tests.support.own_postgres import POSTGRES, own_postgres
from tests.support.s3_server import BUCKET, S3Server
from tests.support.stored_files import file_of
from tests.support.uploads import score_everything
from workers import score

__all__ = ["made", "target"]

BOARD = "/api/v1/competitions/small/boards/anonymization"
HEX = re.compile(r"\b[0-9a-f]{64}\b")


def test_a_contest_goes_on_where_it_was_on_another_machine(
    arena: Arena, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The drill: a backup under load, restored by the command alone."""
    for number, team in enumerate(("red", "ブルー", "green")):
        arena.submit(team, seed=number)
    score_everything()
    queued = arena.submit("red", seed=10).json()["id"]
    with transaction() as session:
        audit.record(session, None, "test", competition_id=None, subject="a number is given")
    board, done = arena.client.get(BOARD).content, threading.Event()
    uploads = threading.Thread(target=keep_uploading, args=(arena, done))
    uploads.start()
    places = Places(settings.sealing_key_file, settings.opening_keys_dir or tmp_path)
    service.backup(settings.database_url, store(), tmp_path / "b.tar.gz")
    keys.backup(places, tmp_path / "keys.tar")
    done.set()
    uploads.join()

    data = tmp_path / "new"
    answer = command("restore", tmp_path / "b.tar.gz", "--data", data)
    assert answer.returncode == 0, answer.stderr
    assert "anoncup keys restore" in answer.stdout
    assert command("keys", "restore", tmp_path / "keys.tar", "--data", data).returncode == 0

    with embedded_services(data) as services, living_on(monkeypatch, services.database_url, data) as client:
        assert json.loads(client.get(BOARD).content)["rows"] == json.loads(board)["rows"]
        assert client.get(BOARD).content == board
        for evaluation in unfinished():
            score.score(evaluation)
        assert state_of(queued) == "SCORED"
        assert not unfinished()
        with transaction() as session:
            last = session.scalars(select(func.max(AuditEntry.number))).one()
            audit.record(session, None, "test", competition_id=None, subject="the next number")
        with transaction() as session:
            assert session.scalars(select(func.max(AuditEntry.number))).one() == last + 1


def keep_uploading(arena: Arena, done: threading.Event) -> None:
    for seed in range(100, 140):
        arena.submit("green", seed=seed)
        if done.is_set():
            return


def unfinished() -> list[str]:
    with transaction() as session:
        return [
            str(found) for found in session.scalars(select(Evaluation.id).where(Evaluation.state == "QUEUED"))
        ]


def state_of(submission_id: str) -> str:
    with transaction() as session:
        query = select(Evaluation.state).where(Evaluation.submission_id == submission_id, Evaluation.current)
        return session.scalars(query).one()


@pytest.mark.full
def test_every_row_and_every_file_comes_back_as_it_was(
    made: Path, settings: Settings, target: str, tmp_path: Path
) -> None:
    restore(made, target, tmp_path / "new")
    assert everything(target) == everything(settings.database_url)
    with transaction() as session:
        named = {digest for files in session.scalars(select(Submission.files)) for digest in files.values()}
    assert named <= blobs(tmp_path / "new") <= blobs(settings.data)
    for digest in blobs(tmp_path / "new"):
        assert opened(str(tmp_path / "new")).has_whole(digest)


@pytest.mark.full
def test_a_backup_has_every_stored_file_that_any_cell_of_the_database_names(
    made: Path, settings: Settings
) -> None:
    named = set(HEX.findall(json.dumps(everything(settings.database_url))))
    with service.opened(made) as (found, _):
        assert {name for name, _ in found.members("blobs")} == named & blobs(settings.data)


def test_the_columns_that_name_files_are_columns(session_settings: Settings) -> None:
    known = {(table.name, column.name) for table in Base.metadata.sorted_tables for column in table.columns}
    assert set(service.REFERENCES) <= known


@pytest.mark.full
def test_a_backup_is_for_its_owner_only_and_leaves_nothing_else(made: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in made.parent.iterdir()] == ["made.tar"]


@pytest.mark.full
def test_no_secret_and_no_private_key_is_in_a_backup_unless_it_is_asked_for(
    made: Path, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    content = made.read_bytes()
    folder = settings.opening_keys_dir
    assert folder is not None
    private = next(folder.glob("*.key")).read_bytes().strip()
    for seed in (1, 2):
        assert noisy_release(seed, arena.table)[1].strip() not in content
    assert private not in content
    places = Places(settings.sealing_key_file, folder)
    service.backup(settings.database_url, store(), tmp_path / "all.tar", with_keys=places)
    assert private in (tmp_path / "all.tar").read_bytes()


@pytest.mark.full
def test_keys_in_a_backup_are_put_back_with_it(
    arena: Arena, settings: Settings, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.submit("red")
    places = Places(settings.sealing_key_file, settings.opening_keys_dir or tmp_path)
    service.backup(settings.database_url, store(), tmp_path / "all.tar.gz", with_keys=places)
    restore(tmp_path / "all.tar.gz", target, tmp_path / "new")
    for key in (tmp_path / "new" / "keys" / "private").iterdir():
        assert key.stat().st_mode & 0o777 == 0o400
    with living_on(monkeypatch, target, tmp_path / "new"):
        (evaluation,) = unfinished()
        score.score(evaluation)
        assert not unfinished()


@pytest.mark.full
def test_a_database_with_rows_is_refused_and_left_alone(
    made: Path, settings: Settings, tmp_path: Path
) -> None:
    before = everything(settings.database_url)
    with pytest.raises(Conflict, match=r"has rows in .*users"):
        restore(made, settings.database_url, tmp_path / "new")
    assert everything(settings.database_url) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.full
def test_a_database_of_something_else_is_refused(made: Path, target: str, tmp_path: Path) -> None:
    other = create_engine(target)
    with other.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE accounts (id int)")
    with pytest.raises(Conflict, match="something else"):
        restore(made, target, tmp_path / "new")
    with other.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM accounts")).scalar() == 0
    other.dispose()


@pytest.mark.full
def test_a_restore_that_breaks_off_leaves_neither_rows_nor_files(
    made: Path, target: str, tmp_path: Path
) -> None:
    """The last files cannot be written: what was written before them goes again."""
    migrate(target)
    with service.opened(made) as (found, _):
        last = [name for name, _ in found.members("blobs")][-1]
    (tmp_path / "new" / "blobs").mkdir(parents=True)
    (tmp_path / "new" / "blobs" / last[:2]).write_text("no folder")
    with pytest.raises(DomainError):
        restore(made, target, tmp_path / "new")
    assert blobs(tmp_path / "new") == {last[:2]}
    assert not any(everything(target).values())
    (tmp_path / "new" / "blobs" / last[:2]).unlink()
    restore(made, target, tmp_path / "new")
    assert any(everything(target).values())


@pytest.mark.full
@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"other")])
def test_no_backup_is_made_of_a_store_with_a_lost_or_damaged_file(
    made: Path, settings: Settings, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    data = Path(shutil.copytree(settings.data, tmp_path / "data"))
    before = made.read_bytes()
    with transaction() as session:
        digest = next(iter(session.scalars(select(Submission.files)).first().values()))  # type: ignore[union-attr]
    harm(file_of(data, digest))
    with pytest.raises(Unavailable, match=digest):
        service.backup(settings.database_url, opened(str(data)), made, replace=True)
    assert made.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "made.tar"]


@pytest.mark.full
def test_a_backup_takes_no_other_files_place_unless_it_is_told_to(
    made: Path, settings: Settings, tmp_path: Path
) -> None:
    def backup(*, replace: bool = False) -> None:
        service.backup(settings.database_url, store(), made, replace=replace)

    made.write_bytes(b"something else")
    with pytest.raises(Conflict, match="exists already; --replace overwrites it"):
        backup()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"something else"]
    backup(replace=True)
    with service.opened(made) as (_, contents):
        assert contents.files > 0
    made.unlink()
    made.mkdir()
    with pytest.raises(Conflict):
        backup(replace=True)


@pytest.mark.full
def test_a_file_that_appears_while_a_backup_is_made_stays(tmp_path: Path) -> None:
    path = tmp_path / "late.tar"

    def overtaken() -> None:
        with archive.written(path):
            path.write_bytes(b"something else")

    with pytest.raises(Conflict):
        overtaken()
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"something else"]


@pytest.mark.full
def test_a_damaged_file_in_the_store_is_mended_by_a_restore(
    made: Path, settings: Settings, target: str, tmp_path: Path
) -> None:
    with service.opened(made) as (found, _):
        digest = next(name for name, _ in found.members("blobs"))
    opened(str(tmp_path / "new")).place.replace(f"blobs/{digest[:2]}/{digest}", BytesIO(b"damaged"))
    restore(made, target, tmp_path / "new")
    assert opened(str(tmp_path / "new")).has_whole(digest)


@pytest.mark.full
def test_a_backup_moves_between_a_folder_and_a_bucket_both_ways(
    made: Path, target: str, tmp_path: Path, s3: S3Server
) -> None:
    bucket = opened(f"s3://{BUCKET}/{uuid4()}")
    restore(made, target, tmp_path, into=bucket)
    service.backup(target, bucket, tmp_path / "again.tar")
    assert read(tmp_path / "again.tar") == read(made)
    with service.opened(made) as (found, _):
        digests = [name for name, _ in found.members("blobs")]
    assert digests
    assert all(bucket.has_whole(digest) for digest in digests)


@pytest.mark.full
def test_a_restore_that_fails_takes_back_from_a_bucket_what_it_had_put(
    made: Path, target: str, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = opened(f"s3://{BUCKET}/{uuid4()}")
    with service.opened(made) as (found, _):
        first, *others = [name for name, _ in found.members("blobs")]
    bucket.put(dict(blobs_in(made))[first])
    monkeypatch.setattr(service, "migrate_on", lambda *_: last_step_fails())
    with pytest.raises(Unavailable):
        restore(made, target, tmp_path, into=bucket)
    assert bucket.holds(first)
    assert not any(bucket.holds(digest) for digest in others)


def last_step_fails() -> None:
    raise Unavailable("the last step fails")


@pytest.mark.full
def test_a_backup_of_a_newer_version_is_refused(settings: Settings, target: str, tmp_path: Path) -> None:
    with engine.get_engine().begin() as connection:
        known = connection.scalar(text("SELECT version_num FROM alembic_version"))
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        service.backup(settings.database_url, store(), tmp_path / "b.tar")
    finally:
        with engine.get_engine().begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :known"), {"known": known})
    with pytest.raises(InvalidInput, match="9999"):
        restore(tmp_path / "b.tar", target, tmp_path / "new")


def test_a_folder_that_is_not_there_is_not_backed_up(tmp_path: Path) -> None:
    answer = command("backup", "--into", tmp_path / "b.tar", "--data", tmp_path / "typo")
    assert answer.returncode == 2
    assert "there is no folder" in answer.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.skipif(not POSTGRES, reason="Debian's postgresql is not installed")
def test_a_backup_moves_between_the_embedded_postgres_and_an_older_one_of_debian_s(
    made: Path, settings: Settings, target: str, tmp_path: Path
) -> None:
    with own_postgres(tmp_path) as url:
        migrate(url)
        restore(made, url, tmp_path / "new")
        assert everything(url) == everything(settings.database_url)
        service.backup(url, opened(str(tmp_path / "new")), tmp_path / "again.tar")
    restore(tmp_path / "again.tar", target, tmp_path / "third")
    assert everything(target) == everything(settings.database_url)
    assert read(tmp_path / "again.tar") == read(made)
