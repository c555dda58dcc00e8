"""Database roles and their passwords.

Each password is in a file that libpq reads itself, so neither URLs nor the environment contain it.
"""

import secrets
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import psycopg
from psycopg import sql

from app.core.durable_files import write_atomically

ROLES: Mapping[str, str] = MappingProxyType({"web": "anoncup_web", "worker": "anoncup_worker"})
"""Database roles: one for web processes, one for workers and the clock (``app.core.db.privileges``)."""
_FILE_NAME = "pgpass"


def get_login_path(folder: Path, process: str) -> Path:
    """Return the path of the process's password file, in a folder that can be mounted separately."""
    return folder / process / _FILE_NAME


def load_or_create_password(path: Path, role: str) -> str:
    """Return the password in the file. Create the file with a new password if it is missing or incomplete."""
    try:
        password = path.read_text().rstrip("\n").rpartition(":")[2]
    except FileNotFoundError:
        password = ""
    return password or _create_login(path, role)


def _create_login(path: Path, role: str) -> str:
    """Write a new file with a password of 256 random bits. libpq requires that only the owner can read it."""
    password = secrets.token_hex(32)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, BytesIO(f"*:*:*:{role}:{password}\n".encode()))
    return password


def allow_login(connection: "psycopg.Connection[tuple[object, ...]]", role: str, password: str) -> None:
    """Allow the role to sign in with the password. The server and its log receive only a SCRAM verifier."""
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), sql.Literal(verifier.decode())))
