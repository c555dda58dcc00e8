"""A whole service in one archive: its rows, the files they name, and, only if asked for, its keys."""

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
from app.cli.backup.archive import Archive, Writer
from app.cli.backup.keys import Places
from app.cli.backup.rows import Rows
from app.storage import Store, digest_of
from migrations.run import migrate_on

KIND = "a service"
DAMAGE = {"file_lost", "file_damaged"}

REFERENCES = (
    ("competitions", "original"),
    ("competitions", "drawn"),
    ("submissions", "files"),
    ("targets", "files"),
    ("openings", "secret"),
    ("guesses", "file"),
    ("threshold_reports", "original"),
    ("draws", "files"),
)
"""The columns that name stored files: a SHA-256, or an object whose values are SHA-256."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds, or what was restored from it."""

    made_at: str
    revision: str
    tables: Sequence[Rows]
    key_ids: Sequence[str]
    """The private keys that its secrets are sealed to."""
    files: int
    keys: int

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> "Contents":
        names = list(manifest["files"])
        return cls(
            made_at=str(manifest["made_at"]),
            revision=str(manifest["revision"]),
            tables=[Rows(**entry) for entry in manifest["tables"]],
            key_ids=list(manifest["key_ids"]),
            files=sum(name.startswith("blobs/") for name in names),
            keys=sum(name.endswith(".key") for name in names),
        )

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


def backup(
    url: str, store: Store, into: Path, *, with_keys: Places | None = None, replace: bool = False
) -> Contents:
    """Write a consistent copy of the service to ``into``; the service goes on meanwhile.

    Files are never changed nor removed, so those that the snapshot names are there whenever they are read.
    """
    with rows.snapshot(url) as connection, archive.written(into, replace=replace) as writer:
        found = rows.schema(connection)
        facts = {
            "made_at": datetime.now(UTC).isoformat(),
            "made_by": version("anoncup"),
            "revision": rows.revision(connection),
            "key_ids": key_ids(connection, found),
        }
        tables = list(add_tables(writer, connection, found))
        add_files(writer, store, digests(connection, found))
        if with_keys is not None:
            keys.add(writer, with_keys)
        manifest = facts | {"tables": [asdict(each) for each in tables]}
        writer.finish(KIND, manifest)
    return Contents.of(manifest | {"files": writer.files})


def add_tables(writer: Writer, connection: Connection, found: MetaData) -> Iterator[Rows]:
    for table in rows.kept_tables(found):
        # A tar wants the size first, and only the end of the copy tells it.
        with TemporaryFile() as spool:
            yield rows.copy_out(connection, table, spool)
            writer.add(f"tables/{table.name}", spool)


def add_files(writer: Writer, store: Store, wanted: Sequence[str]) -> None:
    """Add each stored file; Unavailable, and no backup, if one is lost or is not what its name says."""
    wrong = [digest for digest in wanted if not added(writer, store, digest)]
    if wrong:
        raise Unavailable(
            "{count} stored files are lost or damaged, so no backup was made: {wrong}",
            code="storage_damaged",
            count=len(wrong),
            wrong=tuple(wrong[:3]),
        )


def added(writer: Writer, store: Store, digest: str) -> bool:
    try:
        with store.open(digest) as file:
            writer.add(f"blobs/{digest}", file)
    except (NotFound, Unavailable) as problem:
        if problem.code not in DAMAGE:
            raise
        return False
    return True


def digests(connection: Connection, found: MetaData) -> list[str]:
    """Every stored file that a row names."""
    named: set[str] = set()
    for table, column in REFERENCES:
        if table in found.tables and column in found.tables[table].columns:
            for value in connection.scalars(select(found.tables[table].columns[column])):
                named |= set(value.values()) if isinstance(value, dict) else {value}
    return sorted(named - {None})


def key_ids(connection: Connection, found: MetaData) -> list[str]:
    """Of all that is sealed."""
    sealed = [table.columns["key_id"] for table in found.tables.values() if "key_id" in table.columns]
    return sorted({key for column in sealed for key in connection.scalars(select(column).distinct())})


@contextmanager
def opened(path: Path) -> Iterator[tuple[Archive, Contents]]:
    """A backup that has been read to its end and found whole."""
    with archive.opened(path, kind=KIND) as found:
        yield found, archive.stated(found.manifest, Contents.of)


def restore(found: Archive, contents: Contents, *, url: str, store: Store, places: Places) -> None:
    """Bring an empty database, the files and the archive's keys to what they were: all of it, or nothing."""
    tables = {each.table: each for each in contents.tables}
    with rows.emptied(url, at=contents.revision) as connection, taken_back_on_error() as undo:
        rows.check_tables(connection, contents.tables)
        for name, content in found.members("tables"):
            rows.copy_in(connection, tables[name], content)
        for digest, content in found.members("blobs"):
            put_back(store, digest, content.read(), undo)
        keys.put_back(found, places, undo)
        migrate_on(connection, "head")


def put_back(store: Store, digest: str, content: bytes, undo: ExitStack) -> None:
    """Store the file, also in the place of one that is damaged."""
    if digest_of(content) != digest:
        raise archive.damaged(f"blobs/{digest} has another content than its name says")
    if not store.holds(digest):
        undo.callback(store.remove, digest)
    store.put(content)


@contextmanager
def taken_back_on_error() -> Iterator[ExitStack]:
    """Holds what undoes each thing that was made, and does it if the body fails."""
    with ExitStack() as undo:
        yield undo
        undo.pop_all()
