"""``anoncup backup``, ``anoncup restore`` and ``anoncup keys``."""

from pathlib import Path
from typing import Annotated

import typer

from app.operations.service_options import (
    DEFAULT_DATA_FOLDER,
    ArchivePath,
    DataFolder,
    OutputFile,
    PrivateKeyFolder,
    PublicKeyFile,
    ReplaceOption,
    get_key_paths,
)


def backup(
    into: OutputFile,
    *,
    replace: ReplaceOption = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """Copy the database and all stored files into one file, while the service runs."""
    from app.operations import service_access
    from app.operations.backup import backup_and_restore

    service_access.require_data_folder(data)
    with service_access.reach_services(data) as services:
        store = service_access.open_data_store(data)
        file_count = backup_and_restore.backup(services.database_url, store, into, replace=replace)
    print(f"{into}: the database and {file_count} files, without private keys")


def restore(
    archive: ArchivePath,
    *,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Bring a service up from a backup, in a database without tables. All of it is checked before."""
    from app.operations import service_access
    from app.operations.backup import backup_and_restore

    private_keys = get_key_paths(data, None, private_dir).private
    with (
        backup_and_restore.open_backup(archive) as backup_archive,
        service_access.reach_services(data) as services,
    ):
        summary = backup_and_restore.restore(
            backup_archive,
            url=services.database_url,
            store=service_access.open_data_store(data),
            private_keys=private_keys,
        )
    print(f"restored the database and {summary.files} files")
    if summary.held:
        print(f"held back: {summary.held} notifications and mails; anoncup deliver --send-waiting sends them")
    if summary.missing_keys:
        print(
            f"not in {private_keys}: the private keys {', '.join(summary.missing_keys)}; nothing is "
            "scored without them. Bring them back with anoncup keys restore before the workers start."
        )


keys = typer.Typer(no_args_is_help=True, help="Key pairs that seal secrets.")


@keys.command("rotate")
def rotate(
    data: DataFolder = DEFAULT_DATA_FOLDER, public: PublicKeyFile = None, private_dir: PrivateKeyFolder = None
) -> None:
    """Seal new secrets to a new key, without a restart. Older private keys stay, for older secrets."""
    from app.operations.backup import keys as key_pairs

    key_id = key_pairs.rotate(get_key_paths(data, public, private_dir))
    print(f"secrets are sealed to key {key_id} from now on")


@keys.command("backup")
def backup_keys(
    into: Annotated[Path, typer.Option(help="the file to write; whoever has it reads secrets")],
    replace: ReplaceOption = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Copy all private keys, and the public one, into one file that only its owner can read."""
    from app.operations.backup import keys as key_pairs

    ids = key_pairs.backup(get_key_paths(data, public, private_dir), into, replace=replace)
    print(f"{into}: private keys {', '.join(ids)}")


@keys.command("restore")
def restore_keys(
    archive: ArchivePath,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Put back the keys that are missing; none is overwritten."""
    from app.operations.backup import keys as key_pairs

    ids = key_pairs.restore(archive, get_key_paths(data, public, private_dir))
    print(f"private keys are in place: {', '.join(ids)}")


@keys.command("create")
def create_keys(
    public: Annotated[Path, typer.Option(help="the public key, for the web application")],
    private_dir: Annotated[Path, typer.Option(help="the folder of private keys, for workers only")],
) -> None:
    """Create a key pair for secrets. Older private keys stay, so older secrets still open."""
    from app.core import sealing

    key_id = sealing.create_keys(public, private_dir)
    print(f"created key {key_id}")
