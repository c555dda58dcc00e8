"""Dump and load the database with Postgres's own pg_dump and pg_restore."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy.engine import make_url

from anoncup.errors import Unavailable
from app.operations.embedded_servers import find_postgres_binary

_WITHOUT_PRIVILEGES = ("--no-owner", "--no-acl")
"""The roles of another server may be missing. Migrations grant the privileges."""


def dump(url: str, server_major: int, file: IO[bytes]) -> None:
    """Write all tables, as of one moment, to ``file``. Heartbeats mean nothing to another service."""
    _run("pg_dump", server_major, url, "--format=custom", "--exclude-table-data=heartbeats", output=file)


def load(url: str, server_major: int, content: IO[bytes]) -> None:
    """Create the tables of a dump with their rows; after an error the database is unchanged."""
    _run("pg_restore", server_major, url, "--single-transaction", content=content)


def _run(
    name: str,
    server_major: int,
    url: str,
    *options: str,
    output: IO[bytes] | None = None,
    content: IO[bytes] | None = None,
) -> None:
    """Run a program with ``content`` as its input. Raise Unavailable with its message if it fails."""
    address, password = _split_password(url)
    command = [_find_program(name, server_major), *options, *_WITHOUT_PRIVILEGES, "--dbname", address]
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


def _split_password(url: str) -> tuple[str, dict[str, str]]:
    """Return the address for libpq, and the environment with the password, which no list of processes has."""
    plain_url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    parameters = {name: str(value) for name, value in conninfo_to_dict(plain_url).items()}
    password = parameters.pop("password", None)
    return make_conninfo(**parameters), {} if password is None else {"PGPASSWORD": password}


def _find_program(name: str, server_major: int) -> str:
    """Return the program of the lowest version that the server accepts; on a tie the one in PATH."""
    majors = {path: _read_major(path) for path in _list_candidates(name)}
    usable = [path for path, major in majors.items() if major >= server_major]
    if not usable:
        raise Unavailable(
            "{name} of Postgres {needed} or newer is needed; there is {present}: install the client programs",
            name=name,
            needed=server_major,
            present=", ".join(f"{path} {major}" for path, major in majors.items()) or "none",
        )
    return min(usable, key=majors.__getitem__)


def _list_candidates(name: str) -> Iterator[str]:
    in_path = shutil.which(name)
    if in_path is not None:
        yield in_path
    with suppress(Unavailable):
        yield str(find_postgres_binary(name))


def _read_major(path: str) -> int:
    """Return the major version in a line such as ``pg_dump (PostgreSQL) 18.1 (Debian 18.1-1)``."""
    command = [path, "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # as above
    return int(output.split()[2].partition(".")[0])
