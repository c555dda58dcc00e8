"""Commands that keep what must not be lost: backups of the service, and of its keys.

Each imports what it needs when it runs, as in ``operate``.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.output import moment
from app.cli.operate import DEFAULT_DATA, Data, keys

if TYPE_CHECKING:
    from app.backup.keys import Places

Into = Annotated[Path, typer.Option(help="the file to write; NAME.gz is compressed")]
Replace = Annotated[bool, typer.Option("--replace", "--force", help="replace an existing file")]
Archive = Annotated[Path, typer.Argument(help="a file that the backup command wrote")]
Public = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_SEALING_KEY_FILE", help="default: keys/sealing.pub in --data")
]
PrivateDir = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_OPENING_KEYS_DIR", help="default: keys/private in --data")
]


def backup(
    into: Into,
    *,
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="also the private keys: whoever has this file reads secrets")
    ] = False,
    replace: Replace = False,
    data: Data = DEFAULT_DATA,
    public: Public = None,
    private_dir: PrivateDir = None,
) -> None:
    """Copy the database and every file it names, as of one moment, into one file; the service goes on."""
    from app.backup import service
    from app.cli import reaching

    reaching.check_known(data)
    with reaching.reached_services(data) as services:
        places = key_places(data, public, private_dir) if with_keys else None
        files = reaching.files_in(data)
        done = service.backup(services.database_url, files, into, with_keys=places, replace=replace)
    print(f"{into}: {done.rows} rows and {done.files} files, as of {moment(done.made_at)}")
    print(f"private keys in it: {done.keys}; its secrets need {', '.join(done.key_ids) or 'none'}")


def restore(
    archive: Archive,
    data: Data = DEFAULT_DATA,
    public: Public = None,
    private_dir: PrivateDir = None,
) -> None:
    """Bring a service up from a backup, in a database without rows. All of it is checked before."""
    from app.backup import service
    from app.cli import reaching

    places = key_places(data, public, private_dir)
    with service.opened(archive) as (found, contents), reaching.reached_services(data) as services:
        files = reaching.files_in(data)
        service.restore(found, contents, url=services.database_url, store=files, places=places)
    print(f"restored {contents.rows} rows and {contents.files} files, as of {moment(contents.made_at)}")
    missing = [name for name in contents.key_ids if not (places.private / f"{name}.key").exists()]
    if missing:
        print(
            f"not in {places.private}: the private keys {', '.join(missing)}; nothing is scored without "
            "them. Bring them back with anoncup keys restore before the workers start."
        )


@keys.command("rotate")
def rotate(data: Data = DEFAULT_DATA, public: Public = None, private_dir: PrivateDir = None) -> None:
    """Seal new secrets to a new key, without a restart. Older private keys stay, for older secrets."""
    from app.backup import keys as pairs

    print(f"secrets are sealed to {pairs.rotate(key_places(data, public, private_dir))} from now on")


@keys.command("witness")
def witness_key(data: Data = DEFAULT_DATA, private_dir: PrivateDir = None) -> None:
    """Make the key that the clock signs with what it has witnessed, unless there is one."""
    from app.crypto import deadline_signing

    print(f"ends are signed with {deadline_signing.create_key(key_places(data, None, private_dir).private)}")


@keys.command("backup")
def backup_keys(
    into: Annotated[Path, typer.Option(help="the file to write; whoever has it reads secrets")],
    replace: Replace = False,
    data: Data = DEFAULT_DATA,
    public: Public = None,
    private_dir: PrivateDir = None,
) -> None:
    """Copy all private keys, and the public one, into one file that only its owner can read."""
    from app.backup import keys as pairs

    ids = pairs.backup(key_places(data, public, private_dir), into, replace=replace)
    print(f"{into}: private keys {', '.join(ids)}")


@keys.command("restore")
def restore_keys(
    archive: Archive, data: Data = DEFAULT_DATA, public: Public = None, private_dir: PrivateDir = None
) -> None:
    """Put back the keys that are missing; none is overwritten."""
    from app.backup import keys as pairs

    found = pairs.restore(archive, key_places(data, public, private_dir))
    print(f"private keys are in place: {', '.join(found)}")


def key_places(data: Path, public: Path | None, private_dir: Path | None) -> "Places":
    from app.backup.keys import Places

    own = data / "keys"
    return Places(public or own / "sealing.pub", private_dir or own / "private")
