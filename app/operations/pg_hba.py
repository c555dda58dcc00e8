"""Sign-in rules of the embedded Postgres. The owner and the processes' roles sign in with passwords."""

from pathlib import Path

import psycopg

from app.core.db import logins

TRUST_RULES, PASSWORD_RULES = "local all all trust\n", "local all all scram-sha-256\n"
"""Rules for the unix socket, whose folder no other user can enter. Other connections are not allowed."""
_RULES_FILE = "pg_hba.conf"


def get_passwords_folder(data: Path) -> Path:
    return data / "roles"


def get_owner_password_file(data: Path) -> Path:
    return logins.get_login_path(get_passwords_folder(data), "owner")


def allow_owner(data: Path, cluster: Path) -> None:
    """Trust all sign-ins if the owner's password file is lost, so that the owner can set a new password.

    Call it before the server starts.
    """
    if not get_owner_password_file(data).exists():
        replace_file(cluster / _RULES_FILE, TRUST_RULES)


def require_passwords(
    data: Path, cluster: Path, connection: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """Set the owner's password and require passwords, unless the rules already do."""
    if (cluster / _RULES_FILE).read_text() == PASSWORD_RULES:
        return
    role = connection.info.user
    logins.allow_login(connection, role, logins.load_or_create_password(get_owner_password_file(data), role))
    replace_file(cluster / _RULES_FILE, PASSWORD_RULES)
    connection.execute("SELECT pg_reload_conf()")


def replace_file(file: Path, content: str) -> None:
    """Replace a file atomically, because with half a file nobody could sign in."""
    new = file.with_suffix(".new")
    new.write_text(content)
    new.chmod(0o600)
    new.rename(file)
