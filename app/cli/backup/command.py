"""``anoncup backup`` and ``anoncup restore``."""

from typing import Annotated

import typer

from anoncup.cli.output import format_moment
from app.cli.service_options import (
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
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="also the private keys: whoever has this file reads secrets")
    ] = False,
    replace: ReplaceOption = False,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Copy the database and every file it names, as of one moment, into one file; the service goes on."""
    from app.cli import service_access
    from app.cli.backup import backup_and_restore

    service_access.require_data_folder(data)
    with service_access.reach_services(data) as services:
        key_paths = get_key_paths(data, public, private_dir) if with_keys else None
        store = service_access.open_data_store(data)
        contents = backup_and_restore.backup(
            services.database_url, store, into, key_paths=key_paths, replace=replace
        )
    print(f"{into}: {contents.rows} rows and {contents.files} files, as of {format_moment(contents.made_at)}")
    print(f"private keys in it: {contents.keys}; its secrets need {', '.join(contents.key_ids) or 'none'}")


def restore(
    archive: ArchivePath,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
) -> None:
    """Bring a service up from a backup, in a database without rows. All of it is checked before."""
    from app.cli import service_access
    from app.cli.backup import backup_and_restore

    key_paths = get_key_paths(data, public, private_dir)
    with (
        backup_and_restore.open_backup(archive) as (backup_archive, contents),
        service_access.reach_services(data) as services,
    ):
        store = service_access.open_data_store(data)
        backup_and_restore.restore(
            backup_archive, contents, url=services.database_url, store=store, key_paths=key_paths
        )
    print(
        f"restored {contents.rows} rows and {contents.files} files, as of {format_moment(contents.made_at)}"
    )
    missing = [name for name in contents.key_ids if not (key_paths.private / f"{name}.key").exists()]
    if missing:
        print(
            f"not in {key_paths.private}: the private keys {', '.join(missing)}; nothing is scored without "
            "them. Bring them back with anoncup keys restore before the workers start."
        )
