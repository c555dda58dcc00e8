"""Backup, restore and rotation of the service's keys."""

from pathlib import Path
from uuid import uuid4

import pytest

from anoncup.errors import Conflict, InvalidInput
from app.config import Settings
from app.core import sealing
from app.core.storage import get_store
from app.operations.backup import keys
from app.operations.backup.keys import KeyPaths
from tests.support.arena import Arena
from tests.support.backups import restore, run_command
from tests.support.uploads import score_everything


@pytest.fixture
def places(tmp_path: Path) -> KeyPaths:
    new_places = KeyPaths(tmp_path / "keys" / "sealing.pub", tmp_path / "keys" / "private")
    sealing.create_keys(tmp_path / "keys" / "sealing.pub", new_places.private)
    return new_places


def build_other_key_paths(tmp_path: Path) -> KeyPaths:
    return KeyPaths(tmp_path / "other" / "sealing.pub", tmp_path / "other" / "private")


def test_copied_keys_open_sealed_files_on_another_machine(places: KeyPaths, tmp_path: Path) -> None:
    older = sealing.seal(places.public, bound_to=(submission_id := uuid4()), secret=b"older")
    keys.rotate(places)
    newer = sealing.seal(places.public, bound_to=submission_id, secret=b"newer")
    assert older.key_id != newer.key_id
    assert set(keys.backup(places, tmp_path / "k.tar")) == {older.key_id, newer.key_id}
    assert (tmp_path / "k.tar").stat().st_mode & 0o777 == 0o600
    other_places = build_other_key_paths(tmp_path)
    keys.restore(tmp_path / "k.tar", other_places)
    for sealed, secret in ((older, b"older"), (newer, b"newer")):
        opened = sealing.open_sealed(
            other_places.private, key_id=sealed.key_id, box=sealed.box, bound_to=submission_id
        )
        assert opened == secret
    resealed = sealing.seal(other_places.public, bound_to=submission_id, secret=b"again")
    assert resealed.key_id == newer.key_id
    assert other_places.private.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in other_places.private.iterdir()} == {0o400}


def test_existing_keys_are_kept(places: KeyPaths, tmp_path: Path) -> None:
    keys.backup(places, tmp_path / "k.tar")
    newest = keys.rotate(places)
    keys.restore(tmp_path / "k.tar", places)
    assert sealing.compute_key_id(sealing.read_public_key(places.public)) == newest
    assert len(list(places.private.iterdir())) == 2


def test_key_with_a_wrong_name_is_refused_and_none_is_written(places: KeyPaths, tmp_path: Path) -> None:
    (real,) = places.private.iterdir()
    keys.backup(places, tmp_path / "k.tar")
    other_places = build_other_key_paths(tmp_path)
    other_places.private.mkdir(parents=True)
    (other_places.private / real.name).write_bytes(b"0" * 64)
    with pytest.raises(Conflict, match="differs"):
        keys.restore(tmp_path / "k.tar", other_places)
    real.rename(places.private / ("0" * 16 + ".key"))
    keys.backup(places, tmp_path / "wrong.tar")
    with pytest.raises(InvalidInput, match="not the private key of that name"):
        keys.restore(tmp_path / "wrong.tar", KeyPaths(None, tmp_path / "third"))
    assert not (tmp_path / "third").exists()


def test_service_backup_is_not_accepted_as_a_key_backup(
    places: KeyPaths, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    from app.operations.backup import backup_and_restore

    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "b.tar")
    with pytest.raises(InvalidInput, match="no private keys in"):
        keys.restore(tmp_path / "b.tar", build_other_key_paths(tmp_path))
    keys.backup(places, tmp_path / "k.tar")
    with pytest.raises(InvalidInput, match="no database in the archive"):
        restore(tmp_path / "k.tar", settings.database_url, tmp_path / "new")


def test_service_seals_with_the_new_key_and_opens_with_the_old(arena: Arena, settings: Settings) -> None:
    assert settings.sealing_key_file is not None
    assert settings.opening_keys_dir is not None
    arena.submit("red", seed=1)
    keys.rotate(KeyPaths(settings.sealing_key_file, settings.opening_keys_dir))
    arena.submit("blue", seed=2)
    score_everything()
    assert [row["entries"] for row in arena.get_board()["rows"]] == [1, 1]


def test_commands_find_the_keys_in_a_data_folder(places: KeyPaths, tmp_path: Path) -> None:
    data = ("--data", tmp_path)
    assert run_command("keys", "rotate", *data).returncode == 0
    assert run_command("keys", "backup", "--into", tmp_path / "k.tar", *data).returncode == 0
    refused = run_command("keys", "backup", "--into", tmp_path / "k.tar", *data)
    assert (refused.returncode, "exists already" in refused.stderr) == (2, True)
    assert run_command("keys", "backup", "--into", tmp_path / "k.tar", "--force", *data).returncode == 0
    moved = places.private.rename(tmp_path / "moved")
    completed = run_command("keys", "restore", tmp_path / "k.tar", *data)
    assert all(key.stem in completed.stdout for key in moved.glob("*.key"))
    assert len(list(places.private.iterdir())) == 2
