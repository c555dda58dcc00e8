"""``anoncup backup`` and ``anoncup restore``."""

from typing import Annotated

import typer

from anoncup.cli.output import moment
from app.cli.service_options import DEFAULT_DATA, Archive, Data, Into, PrivateDir, Public, Replace, key_places


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
    from app.cli import service_access
    from app.cli.backup import service

    service_access.check_known(data)
    with service_access.reached_services(data) as services:
        places = key_places(data, public, private_dir) if with_keys else None
        files = service_access.files_in(data)
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
    from app.cli import service_access
    from app.cli.backup import service

    places = key_places(data, public, private_dir)
    with service.opened(archive) as (found, contents), service_access.reached_services(data) as services:
        files = service_access.files_in(data)
        service.restore(found, contents, url=services.database_url, store=files, places=places)
    print(f"restored {contents.rows} rows and {contents.files} files, as of {moment(contents.made_at)}")
    missing = [name for name in contents.key_ids if not (places.private / f"{name}.key").exists()]
    if missing:
        print(
            f"not in {places.private}: the private keys {', '.join(missing)}; nothing is scored without "
            "them. Bring them back with anoncup keys restore before the workers start."
        )
