"""Dump and load the database with Postgres's own pg_dump and pg_restore."""

import os
import shutil
import subprocess
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy.engine import make_url

from anoncup.errors import Unavailable
from app.operations.embedded_servers import find_postgres_binary, has_postgres_binaries

_WITHOUT_PRIVILEGES = ("--no-owner", "--no-acl")
"""The roles of another server may be missing. Migrations grant the privileges."""


def dump(url: str, file: IO[bytes]) -> None:
    """Write all tables, as of one moment, to ``file``. Heartbeats mean nothing to another service."""
    _run("pg_dump", url, "--format=custom", "--exclude-table-data=heartbeats", output=file)


def load(url: str, content: IO[bytes]) -> None:
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
