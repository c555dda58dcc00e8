"""Back up and restore a service: a dump of the database and the store's files."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tarfile import TarFile
from tempfile import TemporaryFile
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import Connection, Engine, NullPool, create_engine, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden, InvalidInput, Unavailable
from app.core.db.models import load_metadata
from app.core.storage import Store, compute_digest
from app.notifications import deliveries
from app.operations.backup import archive
from app.operations.embedded_servers import find_postgres_binary, has_postgres_binaries
from migrations.role_grants import owns_tables
from migrations.run import build_unreachable_error, list_revisions, migrate

_DUMP_NAME = "database.dump"
_REVISION_NAME = "revision"
_VERSION_TABLE = "alembic_version"
_WITHOUT_PRIVILEGES = ("--no-owner", "--no-acl")
"""The roles of another server may be missing. Migrations grant the privileges."""


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """``held``: deliveries that were waiting. ``missing_keys``: ids of keys that open its secrets."""

    files: int
    held: int
    missing_keys: list[str]


def backup(url: str, store: Store, output: Path, *, replace: bool = False) -> int:
    """Write a copy of the running service to ``output``; return the number of stored files in it.

    Stored files are never changed or removed, so every file that the dump names still exists when it is
    copied.
    """
    with archive.create_archive(output, replace=replace) as tar, _connect(url) as engine:
        with engine.connect() as connection:
            _require_own_tables(connection)
            revision = connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))  # noqa: S608
        archive.add(tar, _REVISION_NAME, BytesIO(f"{revision}\n".encode()))
        # A tar member starts with its size, which is known only after the dump.
        with TemporaryFile(dir=output.parent) as dump_file:
            dump(url, dump_file)
            archive.add(tar, _DUMP_NAME, dump_file)
        digests = store.list_digests()
        for digest in digests:
            with store.open(digest) as file:
                archive.add(tar, f"blobs/{digest}", file)
    return len(digests)


@contextmanager
def _connect(url: str) -> Iterator[Engine]:
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        yield engine
    except OperationalError as problem:
        raise build_unreachable_error(problem) from problem
    finally:
        engine.dispose()


def _require_own_tables(connection: Connection) -> None:
    if not inspect(connection).has_table(_VERSION_TABLE):
        raise InvalidInput("the database has no anoncup tables; run anoncup migrate first")
    if not owns_tables(connection):
        raise Forbidden(
            "this database user may not see all of it: come with the tables' owner's DATABASE_URL"
        )


@contextmanager
def open_backup(path: Path) -> Iterator[TarFile]:
    """Open a backup after verifying all of it. Raise InvalidInput for one of an unknown revision."""
    with archive.open_archive(path) as backup_archive:
        _require_known_backup(backup_archive)
        yield backup_archive


def restore(backup_archive: TarFile, *, url: str, store: Store, private_keys: Path) -> RestoreSummary:
    """Restore a backup into a database without tables.

    The database comes last and as a whole: a restore that fails can be repeated. Deliveries that were waiting
    are held back: the service that was backed up may have sent them.
    """
    with _connect(url) as engine:
        with engine.connect() as connection:
            _require_empty(connection)
        for digest, content in archive.iter_members(backup_archive, "blobs/"):
            _restore_file(store, digest, content.read())
        for _, content in archive.iter_members(backup_archive, _DUMP_NAME):
            _load(url, content)
        # Before the migration, with which the roles of the processes get their privileges.
        with Session(engine) as session, session.begin():
            held = deliveries.hold_waiting(session)
        migrate(url)
        files = sum(name.startswith("blobs/") for name in backup_archive.getnames())
        return RestoreSummary(files, held, _list_missing_keys(engine, private_keys))


def _require_known_backup(backup_archive: TarFile) -> None:
    if _DUMP_NAME not in backup_archive.getnames():
        raise InvalidInput("there is no database in the archive; anoncup keys restore reads archives of keys")
    for _, content in archive.iter_members(backup_archive, _REVISION_NAME):
        revision = content.read().decode().strip()
        if revision not in list_revisions():
            raise InvalidInput(
                "the backup is of revision {at}, which this version of anoncup does not know", at=revision
            )


def _require_empty(connection: Connection) -> None:
    tables = inspect(connection).get_table_names()
    if tables:
        raise Conflict(
            "the database has tables ({tables}); restore into an empty one", tables=tuple(sorted(tables)[:3])
        )


def _restore_file(store: Store, digest: str, content: bytes) -> None:
    """Store a file; a damaged file of the same name is replaced."""
    if compute_digest(content) != digest:
        raise archive.build_damage_error(f"blobs/{digest} has another content than its name says")
    store.save(content)


def _list_missing_keys(engine: Engine, private_keys: Path) -> list[str]:
    """Return the ids of the private keys that open secrets of the database but are not here."""
    sealed = [table for table in load_metadata().sorted_tables if "key_id" in table.columns]
    with engine.connect() as connection:
        key_ids = {
            key_id
            for table in sealed
            for key_id in connection.scalars(select(table.columns["key_id"]).distinct())
        }
    return sorted(key_id for key_id in key_ids if not (private_keys / f"{key_id}.key").exists())


def dump(url: str, file: IO[bytes]) -> None:
    """Write all tables, as of one moment, to ``file``. Heartbeats mean nothing to another service."""
    _run("pg_dump", url, "--format=custom", "--exclude-table-data=heartbeats", output=file)


def _load(url: str, content: IO[bytes]) -> None:
    """Create the tables of a dump with their rows; after an error the database is unchanged."""
    _run("pg_restore", url, "--single-transaction", content=content)


def _run(
    name: str, url: str, *options: str, output: IO[bytes] | None = None, content: IO[bytes] | None = None
) -> None:
    """Run a program with ``content`` as its input. Raise Unavailable with its message if it fails."""
    plain_url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    parameters = {key: str(value) for key, value in conninfo_to_dict(plain_url).items()}
    # No list of processes has the password.
    password = {"PGPASSWORD": parameters.pop("password")} if "password" in parameters else {}
    program = _find_program(name, is_local=parameters.get("host", "").startswith("/"))
    command = [program, *options, *_WITHOUT_PRIVILEGES, "--dbname", make_conninfo(**parameters)]
    with TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603  # no shell, and only the settings' address is passed on
            command,
            stdin=subprocess.DEVNULL if content is None else subprocess.PIPE,
            stdout=output,
            stderr=errors,
            env={**os.environ, **password, "LC_ALL": "C"},
        )
        with process:
            if process.stdin is not None and content is not None:
                with suppress(BrokenPipeError):  # the program has failed and says why
                    shutil.copyfileobj(content, process.stdin)
                    process.stdin.flush()
        if process.returncode != 0:
            errors.seek(0)
            reason = " ".join(errors.read().decode(errors="replace").split())
            raise Unavailable("the database was not copied: {reason}", reason=reason)


def _find_program(name: str, *, is_local: bool) -> str:
    """Return the program in PATH, or that of the embedded servers, which are reached by a socket."""
    in_path = shutil.which(name)
    if in_path is not None and not (is_local and has_postgres_binaries()):
        return in_path
    return str(find_postgres_binary(name))
