"""``anoncup keys``: manage the keys that seal secrets."""

from pathlib import Path
from typing import Annotated

import typer

from app.operations.service_options import (
    DEFAULT_DATA_FOLDER,
    ArchivePath,
    DataFolder,
    PrivateKeyFolder,
    PublicKeyFile,
    ReplaceOption,
    get_key_paths,
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
