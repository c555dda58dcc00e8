"""Export the rows of all tables from one snapshot, and import them into an empty database.

Tables and columns are read from the database, not from the models, so a backup of an older version is
imported into the tables of that version and then migrated.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import psycopg
from psycopg import sql
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, select, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from anoncup.errors import Conflict, Forbidden, InvalidInput
from migrations.run import build_unreachable_error, list_revisions, lock_schema, migrate_on

CHUNK_BYTES = 1 << 20
VERSION_TABLE = "alembic_version"
_EXCLUDED_TABLES = {VERSION_TABLE, "heartbeats"}
"""Not exported: the manifest has the version, and heartbeats mean nothing to another service."""

_FORMAT_SETTINGS = {
    "client_encoding": "UTF8",
    "datestyle": "ISO",
    "timezone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}
"""Session settings that fix the text format of values, independent of the server's settings."""


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """An exported table: its columns, its number of rows, and the last value of each identity column."""

    table: str
    columns: Sequence[str]
    rows: int
    numbers: Mapping[str, int]


@contextmanager
def open_snapshot(url: str) -> Iterator[Connection]:
    """Open a read-only connection on which all queries see the same snapshot."""
    with connect(url, isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection:
        yield connection


@contextmanager
def connect(url: str, **options: Any) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect().execution_options(**options) as connection, connection.begin():
            for name, value in _FORMAT_SETTINGS.items():
                connection.exec_driver_sql(f"SET LOCAL {name} = '{value}'")
            yield connection
    except OperationalError as problem:
        raise build_unreachable_error(problem) from problem
    except (ProgrammingError, InsufficientPrivilege) as problem:
        if isinstance(getattr(problem, "orig", problem), InsufficientPrivilege):
            raise Forbidden(
                "this database user may not see all of it: come with the tables' owner's DATABASE_URL"
            ) from problem
        raise
    finally:
        engine.dispose()


def reflect_schema(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection)
    return metadata


def read_revision(connection: Connection) -> str:
    """Return the revision of the schema; raise InvalidInput if the database has no anoncup tables."""
    if VERSION_TABLE not in reflect_schema(connection).tables:
        raise InvalidInput("the database has no anoncup tables; run anoncup migrate first")
    return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())  # noqa: S608


def list_copied_tables(metadata: MetaData) -> list[Table]:
    """Return the tables to export, each after those that it references."""
    return [table for table in metadata.sorted_tables if table.name not in _EXCLUDED_TABLES]


def export_rows(connection: Connection, table: Table, file: IO[bytes]) -> ExportedTable:
    """Write the table's rows in Postgres' text format, which every version can read."""
    columns = [column.name for column in table.columns if column.computed is None]
    with _open_cursor(connection) as export_cursor:
        with export_cursor.copy(_build_statement("COPY {} ({}) TO STDOUT", table.name, columns)) as copy:
            for chunk in copy:
                file.write(chunk)
        row_count = export_cursor.rowcount
    return ExportedTable(table.name, columns, row_count, _read_last_numbers(connection, table))


def _read_last_numbers(connection: Connection, table: Table) -> dict[str, int]:
    """Return the last generated value of each identity column, if there is one."""
    numbers = {}
    for column in table.columns:
        parameters = {"table": table.name, "column": column.name}
        query = text("SELECT pg_sequence_last_value(pg_get_serial_sequence(:table, :column)::regclass)")
        last = connection.execute(query, parameters).scalar()
        if last is not None:
            numbers[column.name] = last
    return numbers


@contextmanager
def open_empty_database(url: str, *, revision: str) -> Iterator[Connection]:
    """Create the empty tables of a schema revision, yield a connection, and commit at the end.

    After an error, also one in the body, the database is unchanged. Raise InvalidInput for an unknown
    revision, and Conflict if the database is not empty.
    """
    if revision not in list_revisions():
        raise InvalidInput(
            "the backup is of revision {at}, which this version of anoncup does not know", at=revision
        )
    with connect(url) as connection:
        lock_schema(connection)
        _remove_empty_tables(connection)
        migrate_on(connection, revision)
        yield connection


def _remove_empty_tables(connection: Connection) -> None:
    """Drop the anoncup tables; raise Conflict if one has rows or if there are other tables."""
    metadata = reflect_schema(connection)
    if not metadata.tables:
        return
    if VERSION_TABLE not in metadata.tables:
        raise Conflict("the database has tables of something else; restore into an empty one")
    names = ", ".join(f'"{name}"' for name in metadata.tables)
    # No other session can write afterwards.
    connection.execute(text(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE"))
    filled = [
        table.name
        for table in list_copied_tables(metadata)
        if connection.execute(select(table).limit(1)).first()
    ]
    if filled:
        raise Conflict("the database has rows in {filled}; restore into an empty one", filled=tuple(filled))
    # Together, because row policies of one table depend on others.
    connection.execute(text(f"DROP TABLE {names}"))


def check_tables(connection: Connection, tables: Sequence[ExportedTable]) -> None:
    """Raise InvalidInput unless the archive has exactly the tables and columns of this database."""
    existing = {
        table.name: {column.name for column in table.columns}
        for table in list_copied_tables(reflect_schema(connection))
    }
    if existing != {expected.table: set(expected.columns) for expected in tables}:
        raise InvalidInput("the backup has other tables than its revision; nothing was written")


def import_rows(connection: Connection, exported_table: ExportedTable, content: IO[bytes]) -> None:
    try:
        with _open_cursor(connection) as import_cursor:
            with import_cursor.copy(
                _build_statement("COPY {} ({}) FROM STDIN", exported_table.table, exported_table.columns)
            ) as copy:
                for chunk in iter(lambda: content.read(CHUNK_BYTES), b""):
                    copy.write(chunk)
            loaded_count = import_cursor.rowcount
    except psycopg.Error as problem:
        raise InvalidInput(
            "the rows of {table} cannot be loaded: {reason}",
            table=exported_table.table,
            reason=problem.diag.message_primary,
        ) from problem
    if loaded_count != exported_table.rows:
        raise InvalidInput(
            "{table} has {loaded} rows, and the backup's manifest says {rows}",
            table=exported_table.table,
            loaded=loaded_count,
            rows=exported_table.rows,
        )
    for column, last in exported_table.numbers.items():
        parameters = {"table": exported_table.table, "column": column, "last": last}
        connection.execute(text("SELECT setval(pg_get_serial_sequence(:table, :column), :last)"), parameters)


def _open_cursor(connection: Connection) -> "psycopg.Cursor[Any]":
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101  # the only driver in use
    return driver.cursor()


def _build_statement(template: str, table: str, columns: Sequence[str]) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL(template).format(sql.Identifier(table), names)
