"""Backups and restores of a service: complete, or refused."""

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
from app.cli.backup import archive, backup_and_restore, keys
from app.cli.backup.keys import KeyPaths
from app.config import Settings
from app.db import engine
from app.db.models import AuditEntry, Base, Evaluation, Submission
from app.db.transaction import transaction
from app.processes.embedded_servers import run_embedded_services
from app.services.accounts import audit
from app.storage import get_store, open_store
from migrations.run import migrate
from tests.support.arena import Arena, build_noisy_release
from tests.support.backups import (
    backup_file,
    list_blobs,
    open_restored_client,
    read_backup_files,
    read_blobs,
    read_database,
    restore,
    restore_url,
    run_command,
)
from tests.support.database_rows import load_all, load_one
from tests.support.postgres_server import POSTGRES, run_postgres
from tests.support.s3_server import BUCKET, S3Server
from tests.support.stored_files import build_blob_path
from tests.support.uploads import score_everything
from workers import score

__all__ = ["backup_file", "restore_url"]

BOARD_PATH = "/api/v1/competitions/small/boards/anonymization"
SHA256_PATTERN = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.mark.full
def test_contest_continues_on_another_machine_after_a_restore(
    arena: Arena, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back up while uploads arrive, and restore with the command only."""
    for number, team in enumerate(("red", "ブルー", "green")):
        arena.submit(team, seed=number)
    score_everything()
    queued = arena.submit("red", seed=10).json()["id"]
    with transaction() as session:
        audit.record(session, None, "test", None, subject="a number is given")
    board, stop = arena.client.get(BOARD_PATH).content, threading.Event()
    uploads = threading.Thread(target=keep_uploading, args=(arena, stop))
    uploads.start()
    key_paths = KeyPaths(settings.sealing_key_file, settings.opening_keys_dir or tmp_path)
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "b.tar.gz")
    keys.backup(key_paths, tmp_path / "keys.tar")
    stop.set()
    uploads.join()

    data = tmp_path / "new"
    completed = run_command("restore", tmp_path / "b.tar.gz", "--data", data)
    assert completed.returncode == 0, completed.stderr
    assert "anoncup keys restore" in completed.stdout
    assert run_command("keys", "restore", tmp_path / "keys.tar", "--data", data).returncode == 0

    with (
        run_embedded_services(data) as services,
        open_restored_client(monkeypatch, services.database_url, data) as client,
    ):
        assert json.loads(client.get(BOARD_PATH).content)["rows"] == json.loads(board)["rows"]
        assert client.get(BOARD_PATH).content == board
        for evaluation in list_queued():
            score.score(evaluation)
        assert read_state(queued) == "SCORED"
        assert not list_queued()
        with transaction() as session:
            last_number = session.scalars(select(func.max(AuditEntry.number))).one()
            audit.record(session, None, "test", None, subject="the next number")
        assert load_one(select(func.max(AuditEntry.number))) == last_number + 1


def keep_uploading(arena: Arena, stop: threading.Event) -> None:
    for seed in range(100, 140):
        arena.submit("green", seed=seed)
        if stop.is_set():
            return


def list_queued() -> list[str]:
    return [
        str(evaluation_id)
        for evaluation_id in load_all(select(Evaluation.id).where(Evaluation.state == "QUEUED"))
    ]


def read_state(submission_id: str) -> str:
    query = select(Evaluation.state).where(Evaluation.submission_id == submission_id, Evaluation.current)
    return load_one(query)


@pytest.mark.full
def test_backup_restores_all_rows_and_files(
    backup_file: Path, settings: Settings, restore_url: str, tmp_path: Path
) -> None:
    restore(backup_file, restore_url, tmp_path / "new")
    assert read_database(restore_url) == read_database(settings.database_url)
    named_digests = {digest for files in load_all(select(Submission.files)) for digest in files.values()}
    assert named_digests <= list_blobs(tmp_path / "new") <= list_blobs(settings.data)
    for digest in list_blobs(tmp_path / "new"):
        assert open_store(str(tmp_path / "new")).is_intact(digest)


@pytest.mark.full
def test_backup_contains_every_file_named_in_the_database(backup_file: Path, settings: Settings) -> None:
    named_digests = set(SHA256_PATTERN.findall(json.dumps(read_database(settings.database_url))))
    with backup_and_restore.open_backup(backup_file) as (backup, _):
        assert {name for name, _ in backup.iter_folder("blobs")} == named_digests & list_blobs(settings.data)


def test_columns_with_file_names_exist(session_settings: Settings) -> None:
    columns = {(table.name, column.name) for table in Base.metadata.sorted_tables for column in table.columns}
    assert set(backup_and_restore.FILE_COLUMNS) <= columns


@pytest.mark.full
def test_backup_is_readable_only_by_its_owner(backup_file: Path) -> None:
    assert backup_file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup_file.parent.iterdir()] == ["made.tar"]


@pytest.mark.full
def test_backup_contains_secrets_and_keys_only_on_request(
    backup_file: Path, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    content = backup_file.read_bytes()
    folder = settings.opening_keys_dir
    assert folder is not None
    private = next(folder.glob("*.key")).read_bytes().strip()
    for seed in (1, 2):
        assert build_noisy_release(seed, arena.table)[1].strip() not in content
    assert private not in content
    key_paths = KeyPaths(settings.sealing_key_file, folder)
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "all.tar", key_paths=key_paths)
    assert private in (tmp_path / "all.tar").read_bytes()


@pytest.mark.full
def test_keys_in_a_backup_are_restored(
    arena: Arena, settings: Settings, restore_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.submit("red")
    key_paths = KeyPaths(settings.sealing_key_file, settings.opening_keys_dir or tmp_path)
    backup_and_restore.backup(
        settings.database_url, get_store(), tmp_path / "all.tar.gz", key_paths=key_paths
    )
    restore(tmp_path / "all.tar.gz", restore_url, tmp_path / "new")
    for key in (tmp_path / "new" / "keys" / "private").iterdir():
        assert key.stat().st_mode & 0o777 == 0o400
    with open_restored_client(monkeypatch, restore_url, tmp_path / "new"):
        (evaluation,) = list_queued()
        score.score(evaluation)
        assert not list_queued()


@pytest.mark.full
def test_restore_into_a_database_with_rows_is_refused(
    backup_file: Path, settings: Settings, tmp_path: Path
) -> None:
    rows_before = read_database(settings.database_url)
    with pytest.raises(Conflict, match=r"has rows in .*users"):
        restore(backup_file, settings.database_url, tmp_path / "new")
    assert read_database(settings.database_url) == rows_before
    assert not (tmp_path / "new").exists()


@pytest.mark.full
def test_restore_into_a_foreign_database_is_refused(
    backup_file: Path, restore_url: str, tmp_path: Path
) -> None:
    other_engine = create_engine(restore_url)
    with other_engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE accounts (id int)")
    with pytest.raises(Conflict, match="something else"):
        restore(backup_file, restore_url, tmp_path / "new")
    with other_engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM accounts")).scalar() == 0
    other_engine.dispose()


@pytest.mark.full
def test_interrupted_restore_leaves_no_rows_or_files(
    backup_file: Path, restore_url: str, tmp_path: Path
) -> None:
    """The last file cannot be written, so the files before it are removed again."""
    migrate(restore_url)
    with backup_and_restore.open_backup(backup_file) as (backup, _):
        last_digest = [name for name, _ in backup.iter_folder("blobs")][-1]
    (tmp_path / "new" / "blobs").mkdir(parents=True)
    (tmp_path / "new" / "blobs" / last_digest[:2]).write_text("no folder")
    with pytest.raises(DomainError):
        restore(backup_file, restore_url, tmp_path / "new")
    assert list_blobs(tmp_path / "new") == {last_digest[:2]}
    assert not any(read_database(restore_url).values())
    (tmp_path / "new" / "blobs" / last_digest[:2]).unlink()
    restore(backup_file, restore_url, tmp_path / "new")
    assert any(read_database(restore_url).values())


@pytest.mark.full
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"other")])
def test_backup_fails_if_a_stored_file_is_lost_or_damaged(
    backup_file: Path, settings: Settings, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    data = Path(shutil.copytree(settings.data, tmp_path / "data"))
    content_before = backup_file.read_bytes()
    with transaction() as session:
        digest = next(iter(session.scalars(select(Submission.files)).first().values()))  # type: ignore[union-attr]
    damage(build_blob_path(data, digest))
    with pytest.raises(Unavailable, match=digest):
        backup_and_restore.backup(settings.database_url, open_store(str(data)), backup_file, replace=True)
    assert backup_file.read_bytes() == content_before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "made.tar"]


@pytest.mark.full
def test_backup_overwrites_a_file_only_with_the_replace_option(
    backup_file: Path, settings: Settings, tmp_path: Path
) -> None:
    def make_backup(*, replace: bool = False) -> None:
        backup_and_restore.backup(settings.database_url, get_store(), backup_file, replace=replace)

    backup_file.write_bytes(b"something else")
    with pytest.raises(Conflict, match="exists already; --replace overwrites it"):
        make_backup()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"something else"]
    make_backup(replace=True)
    with backup_and_restore.open_backup(backup_file) as (_, contents):
        assert contents.files > 0
    backup_file.unlink()
    backup_file.mkdir()
    with pytest.raises(Conflict):
        make_backup(replace=True)


@pytest.mark.full
def test_backup_keeps_a_file_created_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "late.tar"

    def write_backup() -> None:
        with archive.create_archive(path):
            path.write_bytes(b"something else")

    with pytest.raises(Conflict):
        write_backup()
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"something else"]


@pytest.mark.full
def test_restore_repairs_a_damaged_file(
    backup_file: Path, settings: Settings, restore_url: str, tmp_path: Path
) -> None:
    with backup_and_restore.open_backup(backup_file) as (backup, _):
        digest = next(name for name, _ in backup.iter_folder("blobs"))
    open_store(str(tmp_path / "new")).backend.replace(f"blobs/{digest[:2]}/{digest}", BytesIO(b"damaged"))
    restore(backup_file, restore_url, tmp_path / "new")
    assert open_store(str(tmp_path / "new")).is_intact(digest)


@pytest.mark.full
def test_backup_moves_between_folder_and_bucket(
    backup_file: Path, restore_url: str, tmp_path: Path, s3: S3Server
) -> None:
    bucket = open_store(f"s3://{BUCKET}/{uuid4()}")
    restore(backup_file, restore_url, tmp_path, target_store=bucket)
    backup_and_restore.backup(restore_url, bucket, tmp_path / "again.tar")
    assert read_backup_files(tmp_path / "again.tar") == read_backup_files(backup_file)
    with backup_and_restore.open_backup(backup_file) as (backup, _):
        digests = [name for name, _ in backup.iter_folder("blobs")]
    assert digests
    assert all(bucket.is_intact(digest) for digest in digests)


@pytest.mark.full
def test_failed_restore_removes_its_files_from_the_bucket(
    backup_file: Path, restore_url: str, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = open_store(f"s3://{BUCKET}/{uuid4()}")
    with backup_and_restore.open_backup(backup_file) as (backup, _):
        first_digest, *other_digests = [name for name, _ in backup.iter_folder("blobs")]
    bucket.save(dict(read_blobs(backup_file))[first_digest])
    monkeypatch.setattr(backup_and_restore, "migrate_on", lambda *_: fail_last_step())
    with pytest.raises(Unavailable):
        restore(backup_file, restore_url, tmp_path, target_store=bucket)
    assert bucket.contains(first_digest)
    assert not any(bucket.contains(digest) for digest in other_digests)


def fail_last_step() -> None:
    raise Unavailable("the last step fails")


@pytest.mark.full
def test_backup_of_a_newer_version_is_refused(settings: Settings, restore_url: str, tmp_path: Path) -> None:
    with engine.get_engine().begin() as connection:
        revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "b.tar")
    finally:
        with engine.get_engine().begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :known"), {"known": revision})
    with pytest.raises(InvalidInput, match="9999"):
        restore(tmp_path / "b.tar", restore_url, tmp_path / "new")


def test_missing_folder_cannot_be_backed_up(tmp_path: Path) -> None:
    completed = run_command("backup", "--into", tmp_path / "b.tar", "--data", tmp_path / "typo")
    assert completed.returncode == 2
    assert "there is no folder" in completed.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.skipif(not POSTGRES, reason="Debian's postgresql is not installed")
def test_backup_moves_between_embedded_and_older_postgres(
    backup_file: Path, settings: Settings, restore_url: str, tmp_path: Path
) -> None:
    with run_postgres(tmp_path) as url:
        migrate(url)
        restore(backup_file, url, tmp_path / "new")
        assert read_database(url) == read_database(settings.database_url)
        backup_and_restore.backup(url, open_store(str(tmp_path / "new")), tmp_path / "again.tar")
    restore(tmp_path / "again.tar", restore_url, tmp_path / "third")
    assert read_database(restore_url) == read_database(settings.database_url)
    assert read_backup_files(tmp_path / "again.tar") == read_backup_files(backup_file)
