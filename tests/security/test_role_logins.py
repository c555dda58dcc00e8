"""Logins of the database roles, and operations that only the owner of the tables may do."""

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from anoncup.errors import Forbidden
from app.config import Settings
from app.core.db import logins
from app.core.db.privileges import ROLES, WEB, WORKER, warn_if_overprivileged
from app.core.storage import get_store
from app.operations.backup import backup_and_restore
from app.operations.embedded_servers import run_embedded_services
from migrations.logins import set_passwords
from migrations.run import migrate
from tests.security.role_logins import build_login_url, connect_to, logins_folder, require_refusal
from tests.support.backups import restore_url
from tests.support.role_session import build_role_url
from tests.support.setting_changes import change_settings

pytestmark = pytest.mark.full

__all__ = ["logins_folder", "restore_url"]


def test_only_an_overprivileged_role_is_warned_about(settings: Settings) -> None:
    for role, events in ((None, ["database_role_too_mighty"]), (WEB, []), (WORKER, [])):
        url = build_role_url(role, settings.database_url) if role else settings.database_url
        with change_settings(DATABASE_URL=url), capture_logs() as log_entries:
            warn_if_overprivileged()
        assert [entry["event"] for entry in log_entries] == events


def test_wrong_password_is_refused(settings: Settings, logins_folder: Path, tmp_path: Path) -> None:
    password_file = tmp_path / "web" / "pgpass"
    logins.load_or_create_password(password_file, WEB)
    url = build_login_url(settings.database_url, tmp_path, WEB)
    with pytest.raises(OperationalError, match="password authentication failed"), connect_to(url):
        pass


def test_password_files_are_private_and_persistent(settings: Settings, logins_folder: Path) -> None:
    files = sorted(logins_folder.rglob("pgpass"))
    assert {file.parent.name for file in files} == {"web", "worker"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    contents = [file.read_text() for file in files]
    assert len({content.rpartition(":")[2] for content in contents}) == 2
    set_passwords(settings.database_url, logins_folder)
    assert [file.read_text() for file in files] == contents


def test_user_who_cannot_create_roles_gets_an_error(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(Forbidden, match="may not let roles sign in"):
        set_passwords(build_role_url(WORKER, settings.database_url), tmp_path)


@pytest.mark.parametrize("role", ROLES)
def test_only_the_owner_can_make_a_backup(settings: Settings, tmp_path: Path, role: str) -> None:
    with pytest.raises(Forbidden, match="owner's DATABASE_URL"):
        backup_and_restore.backup(
            build_role_url(role, settings.database_url), get_store(), tmp_path / "made.tar"
        )
    assert not (tmp_path / "made.tar").exists()


def test_backup_contains_no_role_passwords(settings: Settings, logins_folder: Path, tmp_path: Path) -> None:
    backup_and_restore.backup(settings.database_url, get_store(), tmp_path / "made.tar")
    archive = (tmp_path / "made.tar").read_bytes()
    for file in logins_folder.rglob("pgpass"):
        assert file.read_bytes().strip().rpartition(b":")[2] not in archive
    assert b"SCRAM-SHA-256" not in archive


def test_migration_by_another_role_is_refused(restore_url: str) -> None:
    """The test uses an empty database."""
    with pytest.raises(Forbidden, match="owner's DATABASE_URL"):
        migrate(build_role_url(WEB, restore_url))


def test_owner_gets_grants_for_roles_created_by_an_administrator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with run_embedded_services(tmp_path / "data") as services:
        with connect_to(services.database_url) as admin:
            autocommit = admin.execution_options(isolation_level="AUTOCOMMIT")
            autocommit.execute(text("CREATE ROLE landlord"))
            autocommit.execute(text("ALTER DATABASE anoncup OWNER TO landlord"))
        url = build_role_url("landlord", services.database_url)
        migrate(url)
        assert "this user may not make them" in caplog.text
        with connect_to(url) as owner:
            owner.execute(text("SELECT * FROM secrets, openings"))
        with connect_to(services.database_url) as admin:
            for role in ROLES:
                admin.execute(text(f"CREATE ROLE {role}"))
            admin.commit()
        migrate(url)
        with connect_to(build_role_url(WEB, services.database_url)) as web:
            web.execute(text("SELECT * FROM users"))
            assert require_refusal(web, "SELECT * FROM secrets")
        with connect_to(url) as owner:
            owner.execute(text("INSERT INTO audit_entries (action, thing) VALUES ('', '')"))


def test_process_without_ddl_rights_accepts_a_current_schema(settings: Settings) -> None:
    migrate(build_role_url(WEB, settings.database_url))
