"""The pair of keys: copied, put back, and replaced while the service runs."""

from pathlib import Path
from uuid import uuid4

import pytest

from anoncup.errors import Conflict, InvalidInput, Unavailable
from app.cli.backup import keys
from app.cli.backup.keys import Places
from app.config import Settings
from app.crypto import deadline_signing, sealing
from app.storage import store
from tests.support.arena import Arena
from tests.support.backups import command
from tests.support.uploads import score_everything


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "keys" / "sealing.pub", tmp_path / "keys" / "private")
    sealing.create_keys(tmp_path / "keys" / "sealing.pub", made.private)
    return made


def other(tmp_path: Path) -> Places:
    return Places(tmp_path / "other" / "sealing.pub", tmp_path / "other" / "private")


def test_copied_keys_open_on_another_machine_what_was_sealed_here(places: Places, tmp_path: Path) -> None:
    older = sealing.seal(places.public, submission_id=(one := uuid4()), secret=b"older")
    keys.rotate(places)
    newer = sealing.seal(places.public, submission_id=one, secret=b"newer")
    assert older.key_id != newer.key_id
    assert set(keys.backup(places, tmp_path / "k.tar")) == {older.key_id, newer.key_id}
    assert (tmp_path / "k.tar").stat().st_mode & 0o777 == 0o600
    there = other(tmp_path)
    keys.restore(tmp_path / "k.tar", there)
    for sealed, secret in ((older, b"older"), (newer, b"newer")):
        opened = sealing.open_sealed(there.private, key_id=sealed.key_id, box=sealed.box, submission_id=one)
        assert opened == secret
    again = sealing.seal(there.public, submission_id=one, secret=b"again")
    assert again.key_id == newer.key_id
    assert there.private.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in there.private.iterdir()} == {0o400}


def test_the_signing_key_goes_with_them(places: Places, tmp_path: Path) -> None:
    deadline_signing.create_key(places.private)
    keys.backup(places, tmp_path / "k.tar")
    there = other(tmp_path)
    deadline_signing.create_key(there.private)  # one that was made meanwhile stays
    (opening,) = keys.restore(tmp_path / "k.tar", there)
    assert opening == sealing.held_keys(places.private)[0]
    signature = deadline_signing.held(places.private).sign(b"said")
    assert deadline_signing.held(there.private).verifies(b"said", signature)
    assert {file.stat().st_mode & 0o777 for file in there.private.iterdir()} == {0o400}
    assert len(list(there.private.iterdir())) == 3


def test_keys_that_are_there_already_stay(places: Places, tmp_path: Path) -> None:
    keys.backup(places, tmp_path / "k.tar")
    newest = keys.rotate(places)
    keys.restore(tmp_path / "k.tar", places)
    assert sealing.key_id_of(sealing.read_public_key(places.public)) == newest
    assert len(list(places.private.iterdir())) == 2


def test_a_key_under_another_name_is_refused_and_none_is_written(places: Places, tmp_path: Path) -> None:
    (real,) = places.private.iterdir()
    keys.backup(places, tmp_path / "k.tar")
    there = other(tmp_path)
    there.private.mkdir(parents=True)
    (there.private / real.name).write_bytes(b"0" * 64)
    with pytest.raises(Conflict, match="differs"):
        keys.restore(tmp_path / "k.tar", there)
    real.rename(places.private / ("0" * 16 + ".key"))
    keys.backup(places, tmp_path / "wrong.tar")
    with pytest.raises(InvalidInput, match="not the private key of that name"):
        keys.restore(tmp_path / "wrong.tar", Places(None, tmp_path / "third"))
    assert not (tmp_path / "third").exists()


def test_a_backup_of_a_service_is_no_backup_of_keys(
    places: Places, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    from app.cli.backup import service

    service.backup(settings.database_url, store(), tmp_path / "b.tar")
    with pytest.raises(InvalidInput, match="not of keys"):
        keys.restore(tmp_path / "b.tar", other(tmp_path))
    keys.backup(places, tmp_path / "k.tar")
    with pytest.raises(InvalidInput, match="not of a service"), service.opened(tmp_path / "k.tar"):
        pass


def test_nothing_to_copy_or_to_replace_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no private keys"):
        keys.backup(other(tmp_path), tmp_path / "k.tar")
    with pytest.raises(InvalidInput, match="no pair of keys"):
        keys.rotate(other(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_running_service_seals_to_the_new_key_and_scores_what_the_old_one_sealed(
    arena: Arena, settings: Settings
) -> None:
    assert settings.sealing_key_file is not None
    assert settings.opening_keys_dir is not None
    arena.submit("red", seed=1)
    keys.rotate(Places(settings.sealing_key_file, settings.opening_keys_dir))
    arena.submit("blue", seed=2)
    score_everything()
    assert [row["entries"] for row in arena.board()["rows"]] == [1, 1]


def test_the_commands_find_the_keys_of_a_data_folder(places: Places, tmp_path: Path) -> None:
    data = ("--data", tmp_path)
    assert command("keys", "rotate", *data).returncode == 0
    assert command("keys", "witness", *data).stdout == command("keys", "witness", *data).stdout
    assert command("keys", "backup", "--into", tmp_path / "k.tar", *data).returncode == 0
    again = command("keys", "backup", "--into", tmp_path / "k.tar", *data)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    assert command("keys", "backup", "--into", tmp_path / "k.tar", "--force", *data).returncode == 0
    moved = places.private.rename(tmp_path / "moved")
    answer = command("keys", "restore", tmp_path / "k.tar", *data)
    assert all(key.stem in answer.stdout for key in moved.glob("*.key"))
    assert len(list(places.private.iterdir())) == 3
