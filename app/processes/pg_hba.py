"""Who may sign in to the embedded Postgres: its owner and the processes' roles, each with a password."""

from pathlib import Path

import psycopg

from app.db import logins

TRUSTING, LOCKED = "local all all trust\n", "local all all scram-sha-256\n"
"""What Postgres is told of sign-ins: over its socket, whose folder lets nobody else in; over nothing else."""
RULES = "pg_hba.conf"


def kept(data: Path) -> Path:
    """The folder of the passwords."""
    return data / "roles"


def owners_file(data: Path) -> Path:
    return logins.login_file(kept(data), "owner")


def let_owner_in(data: Path, cluster: Path) -> None:
    """Before the server starts: without its password the owner could not sign in to set a new one."""
    if not owners_file(data).exists():
        replace(cluster / RULES, TRUSTING)


def lock(data: Path, cluster: Path, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
    """Let nobody in without a password from now on, as in a folder that an older version made."""
    if (cluster / RULES).read_text() == LOCKED:
        return
    role = connection.info.user
    logins.let_in(connection, role, logins.password_of(owners_file(data), role))
    replace(cluster / RULES, LOCKED)
    connection.execute("SELECT pg_reload_conf()")


def replace(file: Path, content: str) -> None:
    """All of it or nothing: half a file lets nobody in."""
    new = file.with_suffix(".new")
    new.write_text(content)
    new.chmod(0o600)
    new.rename(file)
