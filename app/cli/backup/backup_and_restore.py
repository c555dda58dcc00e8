"""Back up and restore a service: its rows, the files that they refer to and, on request, its keys."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import Connection, MetaData, select

from anoncup.errors import NotFound, Unavailable
from app.cli.backup import archive, keys, rows
from app.cli.backup.archive import Archive, ArchiveWriter
from app.cli.backup.keys import KeyPaths
from app.cli.backup.rows import ExportedTable
from app.storage import Store, compute_digest
from migrations.run import migrate_on

_KIND = "a service"
_DAMAGE_CODES = {"file_lost", "file_damaged"}

FILE_COLUMNS = (
    ("rounds", "original"),
    ("rounds", "shared_files"),
    ("submissions", "files"),
    ("targets", "files"),
    ("openings", "secret"),
    ("guesses", "file"),
    ("threshold_reports", "original"),
    ("allocated_files", "files"),
)
"""Columns that refer to stored files: by a SHA-256, or by an object whose values are SHA-256."""


@dataclass(frozen=True, slots=True)
class BackupContents:
    """Summary of the contents of a backup."""

    made_at: str
    revision: str
    tables: Sequence[ExportedTable]
    key_ids: Sequence[str]
    """Ids of the private keys that open its secrets."""
    files: int
    keys: int

    @classmethod
    def parse(cls, manifest: Mapping[str, Any]) -> "BackupContents":
        names = list(manifest["files"])
        return cls(
            made_at=str(manifest["made_at"]),
            revision=str(manifest["revision"]),
            tables=[ExportedTable(**entry) for entry in manifest["tables"]],
            key_ids=list(manifest["key_ids"]),
            files=sum(name.startswith("blobs/") for name in names),
            keys=sum(name.endswith(".key") for name in names),
        )

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


def backup(
    url: str, store: Store, output: Path, *, key_paths: KeyPaths | None = None, replace: bool = False
) -> BackupContents:
    """Write a consistent copy of the running service to ``output``.

    Stored files are never changed or removed, so every file of the snapshot still exists when it is copied.
    """
    with rows.open_snapshot(url) as connection, archive.create_archive(output, replace=replace) as writer:
        metadata = rows.reflect_schema(connection)
        properties = {
            "made_at": datetime.now(UTC).isoformat(),
            "made_by": version("anoncup"),
            "revision": rows.read_revision(connection),
            "key_ids": _list_key_ids(connection, metadata),
        }
        tables = list(_add_tables(writer, connection, metadata))
        _add_files(writer, store, _list_digests(connection, metadata))
        if key_paths is not None:
            keys.add_keys(writer, key_paths)
        manifest = properties | {"tables": [asdict(table) for table in tables]}
        writer.finish(_KIND, manifest)
    return BackupContents.parse(manifest | {"files": writer.files})


def _add_tables(writer: ArchiveWriter, connection: Connection, metadata: MetaData) -> Iterator[ExportedTable]:
    for table in rows.list_copied_tables(metadata):
        # A tar member starts with its size, which is known only after the export.
        with TemporaryFile() as spool:
            yield rows.export_rows(connection, table, spool)
            writer.add(f"tables/{table.name}", spool)


def _add_files(writer: ArchiveWriter, store: Store, digests: Sequence[str]) -> None:
    """Add each stored file; raise Unavailable if one is lost or damaged, so that no backup is made."""
    damaged = [digest for digest in digests if not _try_add_file(writer, store, digest)]
    if damaged:
        raise Unavailable(
            "{count} stored files are lost or damaged, so no backup was made: {wrong}",
            code="storage_damaged",
            count=len(damaged),
            wrong=tuple(damaged[:3]),
        )


def _try_add_file(writer: ArchiveWriter, store: Store, digest: str) -> bool:
    try:
        with store.open(digest) as file:
            writer.add(f"blobs/{digest}", file)
    except (NotFound, Unavailable) as problem:
        if problem.code not in _DAMAGE_CODES:
            raise
        return False
    return True


def _list_digests(connection: Connection, metadata: MetaData) -> list[str]:
    """Return the SHA-256 of each stored file that a row refers to."""
    digests: set[str] = set()
    for table, column in FILE_COLUMNS:
        if table in metadata.tables and column in metadata.tables[table].columns:
            for value in connection.scalars(select(metadata.tables[table].columns[column])):
                digests |= set(value.values()) if isinstance(value, dict) else {value}
    return sorted(digests - {None})


def _list_key_ids(connection: Connection, metadata: MetaData) -> list[str]:
    """Return the ids of all keys to which a secret is sealed."""
    sealed = [table.columns["key_id"] for table in metadata.tables.values() if "key_id" in table.columns]
    return sorted({key for column in sealed for key in connection.scalars(select(column).distinct())})


@contextmanager
def open_backup(path: Path) -> Iterator[tuple[Archive, BackupContents]]:
    """Verify a whole backup, and yield its archive and a summary of its contents."""
    with archive.open_archive(path, kind=_KIND) as backup_archive:
        yield backup_archive, archive.parse_manifest(backup_archive.manifest, BackupContents.parse)


def restore(
    backup_archive: Archive, contents: BackupContents, *, url: str, store: Store, key_paths: KeyPaths
) -> None:
    """Restore rows, files and keys into an empty database; after an error nothing is changed."""
    tables = {table.table: table for table in contents.tables}
    with (
        rows.open_empty_database(url, revision=contents.revision) as connection,
        _undo_on_error() as undo,
    ):
        rows.check_tables(connection, contents.tables)
        for name, content in backup_archive.iter_folder("tables"):
            rows.import_rows(connection, tables[name], content)
        for digest, content in backup_archive.iter_folder("blobs"):
            _restore_file(store, digest, content.read(), undo)
        keys.restore_missing_keys(backup_archive, key_paths, undo)
        migrate_on(connection, "head")


def _restore_file(store: Store, digest: str, content: bytes, undo: ExitStack) -> None:
    """Store a file; a damaged file of the same name is replaced."""
    if compute_digest(content) != digest:
        raise archive.build_damage_error(f"blobs/{digest} has another content than its name says")
    if not store.contains(digest):
        undo.callback(store.remove, digest)
    store.save(content)


@contextmanager
def _undo_on_error() -> Iterator[ExitStack]:
    """Yield a stack of undo callbacks, which run if the body fails."""
    with ExitStack() as undo:
        yield undo
        undo.pop_all()
