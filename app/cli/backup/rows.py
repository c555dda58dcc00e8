"""The rows of all tables out of one snapshot, and back into an empty database.

Tables and columns are read from the database itself, not from the models: what an older version left is
copied as it stands, loaded into that version's tables and then migrated.
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

from anoncup.errors import Conflict, InvalidInput, NotAllowed
from migrations.run import hold, known_revisions, migrate_on, unreachable

PIECE = 1 << 20
VERSION = "alembic_version"
UNKEPT = {VERSION, "heartbeats"}
"""Not copied: the manifest has the version, and a heart that beat there does not beat here."""

SPELLING = {
    "client_encoding": "UTF8",
    "datestyle": "ISO",
    "timezone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}
"""How values are spelled in a copy, whatever the server's own settings are."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table in the archive; ``numbers``: the last number that each identity column gave."""

    table: str
    columns: Sequence[str]
    rows: int
    numbers: Mapping[str, int]


@contextmanager
def snapshot(url: str) -> Iterator[Connection]:
    """A connection whose every query sees the database as it was at the first."""
    with connected(url, isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection:
        yield connection


@contextmanager
def connected(url: str, **options: Any) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect().execution_options(**options) as connection, connection.begin():
            for name, value in SPELLING.items():
                connection.exec_driver_sql(f"SET LOCAL {name} = '{value}'")
            yield connection
    except OperationalError as problem:
        raise unreachable(problem) from problem
    except (ProgrammingError, InsufficientPrivilege) as problem:
        if isinstance(getattr(problem, "orig", problem), InsufficientPrivilege):
            raise NotAllowed(
                "this database user may not see all of it: come with the tables' owner's DATABASE_URL"
            ) from problem
        raise
    finally:
        engine.dispose()


def schema(connection: Connection) -> MetaData:
    found = MetaData()
    found.reflect(connection)
    return found


def revision(connection: Connection) -> str:
    """The schema's version; InvalidInput if this is no database of ours."""
    if VERSION not in schema(connection).tables:
        raise InvalidInput("the database has no anoncup tables; run anoncup migrate first")
    return str(connection.execute(text(f"SELECT version_num FROM {VERSION}")).scalar_one())  # noqa: S608


def kept_tables(found: MetaData) -> list[Table]:
    """What is copied, every table after those that it refers to."""
    return [table for table in found.sorted_tables if table.name not in UNKEPT]


def copy_out(connection: Connection, table: Table, into: IO[bytes]) -> Rows:
    """Write the table's rows in Postgres' own text format, which every version reads."""
    columns = [column.name for column in table.columns if column.computed is None]
    with cursor(connection) as copying:
        with copying.copy(statement("COPY {} ({}) TO STDOUT", table.name, columns)) as copy:
            for piece in copy:
                into.write(piece)
        rows = copying.rowcount
    return Rows(table.name, columns, rows, last_numbers(connection, table))


def last_numbers(connection: Connection, table: Table) -> dict[str, int]:
    """Of each identity column that has given a number."""
    found = {}
    for column in table.columns:
        asked = {"table": table.name, "column": column.name}
        query = text("SELECT pg_sequence_last_value(pg_get_serial_sequence(:table, :column)::regclass)")
        last = connection.execute(query, asked).scalar()
        if last is not None:
            found[column.name] = last
    return found


@contextmanager
def emptied(url: str, *, at: str) -> Iterator[Connection]:
    """A database without rows, its tables as of revision ``at``; committed at the end.

    All or nothing: an error, also one of the body's, leaves the database as it was.
    """
    if at not in known_revisions():
        raise InvalidInput(
            "the backup is of revision {at}, which this version of anoncup does not know", at=at
        )
    with connected(url) as connection:
        hold(connection)
        remove_empty_tables(connection)
        migrate_on(connection, at)
        yield connection


def remove_empty_tables(connection: Connection) -> None:
    """Remove our tables; Conflict if one has rows, or if they are not ours."""
    found = schema(connection)
    if not found.tables:
        return
    if VERSION not in found.tables:
        raise Conflict("the database has tables of something else; restore into an empty one")
    for table in found.sorted_tables:  # nobody writes from here on
        connection.execute(text(f'LOCK TABLE "{table.name}" IN ACCESS EXCLUSIVE MODE'))
    filled = [
        table.name for table in kept_tables(found) if connection.execute(select(table).limit(1)).first()
    ]
    if filled:
        raise Conflict("the database has rows in {filled}; restore into an empty one", filled=tuple(filled))
    found.drop_all(connection)


def check_tables(connection: Connection, tables: Sequence[Rows]) -> None:
    """InvalidInput unless the archive has exactly the tables and columns of its revision."""
    found = {
        table.name: {column.name for column in table.columns} for table in kept_tables(schema(connection))
    }
    if found != {each.table: set(each.columns) for each in tables}:
        raise InvalidInput("the backup has other tables than its revision; nothing was written")


def copy_in(connection: Connection, rows: Rows, content: IO[bytes]) -> None:
    try:
        with cursor(connection) as copying:
            with copying.copy(statement("COPY {} ({}) FROM STDIN", rows.table, rows.columns)) as copy:
                for piece in iter(lambda: content.read(PIECE), b""):
                    copy.write(piece)
            loaded = copying.rowcount
    except psycopg.Error as problem:
        raise InvalidInput(
            "the rows of {table} cannot be loaded: {reason}",
            table=rows.table,
            reason=problem.diag.message_primary,
        ) from problem
    if loaded != rows.rows:
        raise InvalidInput(
            "{table} has {loaded} rows, and the backup's manifest says {rows}",
            table=rows.table,
            loaded=loaded,
            rows=rows.rows,
        )
    for column, last in rows.numbers.items():
        asked = {"table": rows.table, "column": column, "last": last}
        connection.execute(text("SELECT setval(pg_get_serial_sequence(:table, :column), :last)"), asked)


def cursor(connection: Connection) -> "psycopg.Cursor[Any]":
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101  # the only driver there is
    return driver.cursor()


def statement(template: str, table: str, columns: Sequence[str]) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL(template).format(sql.Identifier(table), names)
