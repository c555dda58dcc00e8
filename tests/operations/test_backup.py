"""Backups and restores of a service: complete, or refused."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, select, text

from anoncup.errors import Conflict, DomainError, InvalidInput, Unavailable
from app.config import Settings
from app.core import audit
from app.core.db import engine
from app.core.db.models import AuditEntry, Delivery, Evaluation, Submission
from app.core.db.transaction import transaction
from app.core.storage import get_store, open_store
from app.notifications import deliveries, organizer_notifications
from app.operations.backup import archive, backup_and_restore, keys
from app.operations.backup.keys import KeyPaths
from app.operations.embedded_servers import find_postgres_binary, run_embedded_services
from migrations.run import migrate
from tests.support.arena import Arena, build_noisy_release
from tests.support.backups import (
    BACKED_UP_SEEDS,
    backup_file,
    list_blobs,
    open_restored_client,
    read_blobs,
    read_database,
    read_members,
    restore,
    restore_url,
    run_command,
)
from tests.support.contest import Contest
from tests.support.database_rows import load_all, load_one
from tests.support.postgres_server import POSTGRES, run_postgres
from tests.support.shell_commands import start_program
from tests.support.stored_files import build_blob_path
from tests.support.uploads import score_everything
from workers import deliver, tasks

__all__ = ["backup_file", "restore_url"]

BOARD_PATH = "/api/v1/competitions/small/boards/anonymization"


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
        assert client.get(BOARD_PATH).content == board
        for _ in list_queued():
            tasks.score()
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
def test_backup_contains_no_secret_in_clear_and_no_key(
    backup_file: Path, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    """The dump is compressed, so it is searched as text."""
    script = dump_as_text(backup_file, tmp_path)
    assert b"COPY public.secrets" in script
    content = b"".join(read_members(backup_file).values()) + script
    folder = settings.opening_keys_dir
    assert folder is not None
    private = next(folder.glob("*.key")).read_bytes().strip()
    for seed in BACKED_UP_SEEDS:
        secret = build_noisy_release(seed, arena.table)[1].strip()
        assert secret not in content
        assert secret.hex().encode() not in content
    assert private not in content


def dump_as_text(backup_file: Path, folder: Path) -> bytes:
    """Return the SQL script of the database in a backup."""
    with archive.open_archive(backup_file) as backup_archive:
        for _, content in archive.iter_members(backup_archive, "database.dump"):
            (folder / "dump").write_bytes(content.read())
    command = [str(find_postgres_binary("pg_restore")), "--file", "-", str(folder / "dump")]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.full
def test_restored_service_sends_nothing_that_waited_until_it_is_told_to(
    contest: Contest, settings: Settings, restore_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction() as session:
        organizer_notifications.set_urls(session, contest.arena.slug, ["json://hooks.invalid"])
    for number in range(3):
        announcement = {"text": {"en": f"number {number}"}}
        contest.arena.post(f"{contest.path}/announcements", json=announcement).raise_for_status()
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "made.tar")
    assert restore(tmp_path / "made.tar", restore_url, tmp_path / "new").held == 3
    with open_restored_client(monkeypatch, restore_url, tmp_path / "new"):
        assert deliver.send_due_notifications() == 0
        assert set(load_all(select(Delivery.attempt))) == {0}
        environment = {"DATABASE_URL": restore_url, "REDIS_URL": settings.redis_url, "PATH": os.defpath}
        completed = start_program("deliver", "--send-waiting", cwd=tmp_path, env=environment)
        assert completed.stdout == "released: 3 notifications and mails\n"
        with transaction() as session:
            assert deliveries.claim_next(session, Delivery.notification_url_id)
            assert deliveries.release_held(session) == 0


@pytest.mark.full
def test_restore_into_a_database_with_tables_is_refused(
    backup_file: Path, settings: Settings, restore_url: str, tmp_path: Path
) -> None:
    rows_before = read_database(settings.database_url)
    with pytest.raises(Conflict, match="has tables"):
        restore(backup_file, settings.database_url, tmp_path / "new")
    assert read_database(settings.database_url) == rows_before
    other_engine = create_engine(restore_url)
    with other_engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE accounts (id int)")
    other_engine.dispose()
    with pytest.raises(Conflict, match="has tables"):
        restore(backup_file, restore_url, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.full
def test_interrupted_restore_writes_no_rows_and_can_be_repeated(
    backup_file: Path, restore_url: str, tmp_path: Path
) -> None:
    """The last file cannot be written."""
    last_digest = list(read_blobs(backup_file))[-1]
    (tmp_path / "new" / "blobs").mkdir(parents=True)
    (tmp_path / "new" / "blobs" / last_digest[:2]).write_text("no folder")
    with pytest.raises(DomainError):
        restore(backup_file, restore_url, tmp_path / "new")
    (tmp_path / "new" / "blobs" / last_digest[:2]).unlink()
    restore(backup_file, restore_url, tmp_path / "new")
    assert any(read_database(restore_url).values())


@pytest.mark.full
def test_backup_fails_if_a_stored_file_is_damaged(
    backup_file: Path, settings: Settings, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(settings.data, tmp_path / "data"))
    content_before = backup_file.read_bytes()
    with transaction() as session:
        digest = next(iter(session.scalars(select(Submission.files)).first().values()))  # type: ignore[union-attr]
    build_blob_path(data, digest).write_bytes(b"other")
    with pytest.raises(Unavailable, match="damaged"):
        backup_and_restore.backup(settings.database_url, open_store(str(data)), backup_file, replace=True)
    assert backup_file.read_bytes() == content_before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "made.tar"]


@pytest.mark.full
@pytest.mark.skipif(not POSTGRES, reason="Debian's postgresql is not installed")
def test_backup_of_an_older_postgres_is_restored_into_the_embedded_one(
    restore_url: str, tmp_path: Path
) -> None:
    with run_postgres(tmp_path) as url:
        migrate(url)
        older_engine = create_engine(url)
        with older_engine.begin() as connection:
            connection.execute(text("INSERT INTO audit_entries (action, thing) VALUES ('', 'Ä')"))
        older_engine.dispose()
        backup_and_restore.backup(url, open_store(str(tmp_path)), tmp_path / "b.tar")
        rows = read_database(url)
    restore(tmp_path / "b.tar", restore_url, tmp_path / "new")
    assert rows["audit_entries"]
    assert read_database(restore_url) == rows


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


def test_password_is_in_the_environment_of_the_client_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/pg_dump"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/arguments; echo "$PGPASSWORD" > {tmp_path}/password; exit 1\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.defpath}")
    url = "postgresql+psycopg://cup:a%40b@127.0.0.1:1/cup?sslmode=require"
    with (tmp_path / "dump").open("wb") as file, pytest.raises(Unavailable):
        backup_and_restore.dump(url, file)
    assert (tmp_path / "password").read_text() == "a@b\n"
    arguments = (tmp_path / "arguments").read_text()
    assert "sslmode=require" in arguments
    assert "a@b" not in arguments
    assert "a%40b" not in arguments
