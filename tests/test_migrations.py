"""The migrations create exactly the models' schema and keep existing rows."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, create_engine, inspect, select, text
from sqlalchemy.exc import ProgrammingError

from anoncup.errors import Conflict, Unavailable
from app.config import Settings
from app.core.db.models import load_metadata
from app.core.storage import compute_digest, open_store
from app.operations.backup import backup_and_restore
from app.operations.embedded_servers import run_embedded_services
from migrations import run, versions
from migrations.run import build_config, migrate
from tests.support.backups import restore, restore_url
from tests.support.data_folders import data, used_data_folder

__all__ = ["data", "restore_url", "used_data_folder"]

VERSIONS = Path(str(versions.__file__)).parent

INITIAL_ROWS = """
INSERT INTO users (id, name, name_key, password_hash, role)
VALUES ('00000000-0000-0000-0000-000000000001', 'Ädä "A"', 'ädä "a"', 'hash', 'participant');
INSERT INTO competitions (id, slug, file)
VALUES ('00000000-0000-0000-0000-000000000003', 'cup', 'format = 1' || chr(10));
INSERT INTO rounds (id, competition_id, scales, original, original_rows)
VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003',
        '{"b": 0.1, "a": 1e-7}', '{"original": "{digest}"}', 40);
INSERT INTO teams (id, competition_id, name, name_key, baseline)
VALUES ('00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000003', '赤\\t', '赤', false);
INSERT INTO submissions (id, round_id, team_id, user_id, received_at, comment, files,
                         uploaded_sha256, rows, sizes, remarks, commitment, quota_left, final)
VALUES ('00000000-0000-0000-0000-000000000005', '00000000-0000-0000-0000-000000000002',
        '00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000001',
        '2027-01-10 00:00:00.000001+00', '', '{"anonymized": "{digest}"}', '{"anonymized": "{digest}"}', 40,
        '{"rows": 40}', '[]', 'commitment', '{}', false);
INSERT INTO evaluations (id, round_id, party_id, submission_id, current, state, attempt, step, steps,
                         step_name)
VALUES ('00000000-0000-0000-0000-000000000006', '00000000-0000-0000-0000-000000000002',
        '00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000005', true, 'SCORED', 1,
        12, 12, 'euc1');
INSERT INTO verdicts (evaluation_id, scorer, content)
VALUES ('00000000-0000-0000-0000-000000000006', '1',
        '{"verdict": "accepted", "utility": 0.30000000000000004}');
INSERT INTO secrets (submission_id, key_id, sealed)
VALUES ('00000000-0000-0000-0000-000000000005', 'key', '\\x0001feff');
"""
"""Rows in the schema of the initial revision."""

CONTENT = b"sex,income\nf,1\n"

NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "next", "0001", None, None


def upgrade():
    op.add_column("teams", sa.Column("motto", sa.Text()))
    op.execute("UPDATE teams SET motto = 'we are ' || name")
    op.alter_column("teams", "motto", nullable=False)
    {more}
"""
"""A revision that could follow the initial one."""


@pytest.fixture
def new_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that adds a revision after the existing ones, with extra code."""
    folder = tmp_path / "versions"
    folder.mkdir()

    def extend_configuration() -> Config:
        config = build_config()
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", f"{VERSIONS}\n{folder}")
        return config

    def add_revision(extra_code: str) -> None:
        (folder / "next.py").write_text(NEXT_REVISION.replace("{more}", extra_code))
        monkeypatch.setattr(run, "build_config", extend_configuration)

    return add_revision


def fill_database(url: str) -> None:
    """Write rows into a database of the initial revision."""
    migrate(url, "0001")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(INITIAL_ROWS.replace("{digest}", compute_digest(CONTENT)))
    engine.dispose()


def read_rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the stored rows of every table that has any."""
    engine = create_engine(url)
    with engine.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        tables = [table for table in metadata.sorted_tables if table.name != "alembic_version"]
        rows_by_table = {table.name: connection.execute(select(table)).all() for table in tables}
    engine.dispose()
    return {
        name: [tuple(row) for row in table_rows] for name, table_rows in rows_by_table.items() if table_rows
    }


def test_migrations_and_models_agree(settings: Settings) -> None:
    engine = create_engine(settings.database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, load_metadata()) == []
    engine.dispose()


def test_restoring_an_old_backup_migrates_it(
    restore_url: str, tmp_path: Path, new_revision: Callable[[str], None]
) -> None:
    fill_database(restore_url)
    rows_before = read_rows(restore_url)
    open_store(str(tmp_path)).save(CONTENT)
    backup_and_restore.backup(restore_url, open_store(str(tmp_path)), tmp_path / "old.tar")
    drop_tables(restore_url)
    new_revision("")
    restore(tmp_path / "old.tar", restore_url, tmp_path / "new")
    rows_after = read_rows(restore_url)
    assert rows_after.pop("teams") == [(*team, f"we are {team[2]}") for team in rows_before.pop("teams")]
    assert rows_after == rows_before
    assert read_revision(restore_url) == "next"
    assert open_store(str(tmp_path / "new")).get(compute_digest(CONTENT)) == CONTENT


def drop_tables(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        metadata.drop_all(connection)
    engine.dispose()


def read_revision(url: str) -> str:
    engine = create_engine(url)
    with engine.connect() as connection:
        revision = str(connection.scalar(text("SELECT version_num FROM alembic_version")))
    engine.dispose()
    return revision


@pytest.mark.full
def test_failed_migration_changes_nothing(restore_url: str, new_revision: Callable[[str], None]) -> None:
    fill_database(restore_url)
    rows_before = read_rows(restore_url)
    new_revision('op.create_table("users", sa.Column("id", sa.Integer()))')
    with pytest.raises(ProgrammingError, match="already exists"):
        migrate(restore_url)
    assert read_rows(restore_url) == rows_before
    assert read_revision(restore_url) == "0001"


def test_database_of_an_unknown_revision_is_refused_unchanged(restore_url: str) -> None:
    fill_database(restore_url)
    rows_before = read_rows(restore_url)
    engine = create_engine(restore_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0026'"))
    engine.dispose()
    with pytest.raises(Conflict, match="revision 0026, which this version"):
        migrate(restore_url)
    assert read_rows(restore_url) == rows_before
    assert read_revision(restore_url) == "0026"


@pytest.mark.full
def test_tables_of_an_earlier_checkout_are_refused_by_name(restore_url: str) -> None:
    completed = run_migrate(restore_url)
    assert (completed.returncode, completed.stdout) == (0, "the database is at revision 0001\n")
    engine = create_engine(restore_url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE teams DROP COLUMN baseline"))
    engine.dispose()
    completed = run_migrate(restore_url)
    assert completed.returncode != 0
    assert "another development version (add_column teams baseline)" in completed.stderr


@pytest.mark.full
def test_unreachable_database_is_reported_in_one_line(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://cup:canary-password@/cup?host={tmp_path}"
    with pytest.raises(Unavailable) as excinfo:
        migrate(url)
    assert "\n" not in str(excinfo.value)
    completed = run_migrate(url)
    assert completed.returncode == 3
    assert completed.stderr.startswith("anoncup: the database cannot be reached: ")
    assert completed.stderr.count("\n") == 1
    assert "canary-password" not in completed.stderr + completed.stdout


def run_migrate(url: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [Path(sys.executable).parent / "anoncup", "migrate"],
        env={"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_all_common_database_url_schemes_are_accepted(settings: Settings, scheme: str) -> None:
    address = settings.database_url.partition("://")[2]
    assert run_migrate(f"{scheme}://{address}").returncode == 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("mysql://cup:canary-password@localhost/cup", "DATABASE_URL must begin with postgresql://"),
        ("postgresql://cup:canary-password@localhost:543x/cup", "the port in DATABASE_URL is no number"),
    ],
)
def test_other_urls_are_refused_without_traceback(url: str, refusal: str) -> None:
    completed = run_migrate(url)
    assert (completed.returncode, completed.stderr) == (2, f"anoncup: {refusal}\n")


@pytest.mark.full
@pytest.mark.parametrize("command", ["serve", "admin create-user Ada --password-stdin"])
def test_database_without_tables_is_refused_and_gets_none(restore_url: str, command: str) -> None:
    completed = subprocess.run(
        [Path(sys.executable).parent / "anoncup", *command.split()],
        env={"DATABASE_URL": restore_url, "REDIS_URL": "redis://127.0.0.1:1/0"},
        input="correct horse\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    refusal = "anoncup: the database has no tables of anoncup: run anoncup migrate\n"
    assert (completed.returncode, completed.stderr) == (2, refusal)
    engine = create_engine(restore_url)
    assert not inspect(engine).get_table_names()
    engine.dispose()


@pytest.mark.full
def test_migration_waits_for_a_starting_database(data: Path) -> None:
    with run_embedded_services(data) as services:
        url = services.database_url
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    arguments = [str(Path(sys.executable).parent / "anoncup"), "migrate"]
    env = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", "ANONCUP_DATABASE_WAIT_S": "120"}
    address = Path(folder, ".s.PGSQL.5432")
    address.parent.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as closed_socket:
        closed_socket.bind(str(address))
        closed_socket.listen()
        with subprocess.Popen(arguments, env=env) as migration:
            closed_socket.accept()[0].close()
            closed_socket.close()
            address.unlink()
            with run_embedded_services(data):
                assert migration.wait() == 0


@pytest.mark.full
@pytest.mark.parametrize("arguments", [["migrate"], ["admin", "create-user", "Ada", "--password-stdin"]])
def test_mistyped_data_folder_creates_no_database(tmp_path: Path, arguments: list[str]) -> None:
    completed = subprocess.run(
        [Path(sys.executable).parent / "anoncup", *arguments, "--data", tmp_path / "typo"],
        env={},
        input="correct horse\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 2
    assert "there is no folder" in completed.stderr
    assert not list(tmp_path.iterdir())
