"""The database's roles and their passwords, each in a file that libpq reads by itself: neither an address nor
the environment holds one."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import psycopg
from psycopg import sql

ROLES: Mapping[str, str] = MappingProxyType(
    {"web": "anoncup_web", "worker": "anoncup_worker", "clock": "anoncup_clock"}
)
"""Of each kind of process. What they may do: ``app.db.privileges``."""
FILE = "pgpass"


def login_file(folder: Path, process: str) -> Path:
    """Where the password of ``process`` is: in a folder of its own, which a container can be given alone."""
    return folder / process / FILE


def password_of(file: Path, role: str) -> str:
    """The password in the file, which is made with a new one if it is not there or not whole."""
    try:
        found = file.read_text().rstrip("\n").rpartition(":")[2]
    except FileNotFoundError:
        found = ""
    return found or made(file, role)


def made(file: Path, role: str) -> str:
    """A new file with a password of 256 random bits; libpq wants that nobody else may read it."""
    password = secrets.token_hex(32)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as content:
        content.write(f"*:*:*:{role}:{password}\n")
        content.flush()
        os.fsync(content.fileno())
    new.rename(file)
    return password


def let_in(connection: "psycopg.Connection[tuple[object, ...]]", role: str, password: str) -> None:
    """The role may sign in with the password, of which the server and its log see a SCRAM verifier only."""
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), sql.Literal(verifier.decode())))
