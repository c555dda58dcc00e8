"""Who lets the roles sign in, with what, and who may do what only the owner of the tables may."""

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from anoncup.errors import NotAllowed
from app.cli.backup import service
from app.config import Settings, get_settings
from app.db import logins
from app.db.privileges import CLOCK, ROLES, WEB, WORKER, warn_of_might
from app.processes.embedded_servers import embedded_services
from app.storage import store
from migrations.logins import let_in
from migrations.run import migrate
from tests.security.roles import connected, folder, login_url, refusal
from tests.support.backups import target
from tests.support.role_session import url_as

pytestmark = pytest.mark.full

__all__ = ["folder", "target"]


def test_only_a_role_with_more_than_it_needs_is_warned_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role, events in ((None, ["database_role_too_mighty"]), (WEB, []), (WORKER, []), (CLOCK, [])):
        url = url_as(role, settings.database_url) if role else settings.database_url
        monkeypatch.setenv("DATABASE_URL", url)
        get_settings.cache_clear()
        with capture_logs() as said:
            warn_of_might()
        assert [each["event"] for each in said] == events
    monkeypatch.undo()
    get_settings.cache_clear()


def test_a_wrong_password_lets_nobody_in(settings: Settings, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "web" / "pgpass"
    logins.password_of(other, WEB)
    url = login_url(settings.database_url, tmp_path, WEB)
    with pytest.raises(OperationalError, match="password authentication failed"), connected(url):
        pass


def test_passwords_are_for_their_owner_only_and_stay(settings: Settings, folder: Path) -> None:
    files = sorted(folder.rglob("pgpass"))
    assert {file.parent.name for file in files} == {"web", "worker", "clock"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    before = [file.read_text() for file in files]
    assert len({each.rpartition(":")[2] for each in before}) == 3
    let_in(settings.database_url, folder)
    assert [file.read_text() for file in files] == before


def test_who_may_not_make_roles_is_told_so(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotAllowed, match="may not let roles sign in"):
        let_in(url_as(WORKER, settings.database_url), tmp_path)


@pytest.mark.parametrize("role", ROLES)
def test_only_the_owner_makes_a_backup(settings: Settings, tmp_path: Path, role: str) -> None:
    with pytest.raises(NotAllowed, match="owner's DATABASE_URL"):
        service.backup(url_as(role, settings.database_url), store(), tmp_path / "made.tar")
    assert not (tmp_path / "made.tar").exists()


def test_a_backup_has_no_password_of_a_role(settings: Settings, folder: Path, tmp_path: Path) -> None:
    service.backup(settings.database_url, store(), tmp_path / "made.tar")
    made = (tmp_path / "made.tar").read_bytes()
    for file in folder.rglob("pgpass"):
        assert file.read_bytes().strip().rpartition(b":")[2] not in made
    assert b"SCRAM-SHA-256" not in made


def test_migrating_without_the_owners_rights_is_refused_in_words(target: str) -> None:
    """On a new database, where all is still to be made."""
    with pytest.raises(NotAllowed, match="owner's DATABASE_URL"):
        migrate(url_as(WEB, target))


def test_an_owner_who_may_not_make_roles_has_tables_and_grants_once_somebody_has_made_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded_services(tmp_path / "data") as own:
        with connected(own.database_url) as admin:
            at_once = admin.execution_options(isolation_level="AUTOCOMMIT")
            at_once.execute(text("CREATE ROLE landlord"))
            at_once.execute(text("ALTER DATABASE anoncup OWNER TO landlord"))
        url = url_as("landlord", own.database_url)
        migrate(url)
        assert "this user may not make them" in caplog.text
        with connected(url) as owner:
            owner.execute(text("SELECT * FROM secrets, openings"))
        with connected(own.database_url) as admin:
            for role in ROLES:
                admin.execute(text(f"CREATE ROLE {role}"))
            admin.commit()
        migrate(url)
        with connected(url_as(WEB, own.database_url)) as web:
            web.execute(text("SELECT * FROM users"))
            assert refusal(web, "SELECT * FROM secrets")
            assert refusal(web, "CREATE TEMPORARY TABLE x (a int)")
        with connected(url) as owner:
            owner.execute(text("INSERT INTO audit_entries (actor, action, subject) VALUES ('', '', '')"))


def test_with_the_newest_schema_a_process_that_may_not_change_it_need_not(settings: Settings) -> None:
    migrate(url_as(WEB, settings.database_url))
