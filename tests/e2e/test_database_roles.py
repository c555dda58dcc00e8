"""A contest from sign-up to reveal on the embedded service, each process in its own database role."""

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import text

from anoncup.client import Client
from anoncup.tables.csv_text import write_csv
from app.core.db.logins import ROLES
from app.core.db.transaction import transaction
from app.operations.embedded_servers import find_running_services
from app.operations.supervisor import Program, wait_until_healthy
from tests.support.arena import PASSWORD, ROWS, build_original_table
from tests.support.contest import build_two_phase_toml, load_round
from tests.support.postgres_server import reset_connections
from tests.support.service_processes import (
    QUICK_SETTINGS,
    create_invite,
    find_free_port,
    move_phases,
    open_contest,
    require_running,
    run_program,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full


@pytest.fixture
def clean_environment() -> Iterator[pytest.MonkeyPatch]:
    """An environment without the settings of a service; connections are closed afterwards."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("DATABASE_URL", "REDIS_URL", "ANONCUP_SEALING_KEY_FILE", "ANONCUP_OPENING_KEYS_DIR"):
            environment.delenv(name, raising=False)
        yield environment
    reset_connections()


def test_contest_runs_with_a_database_role_for_each_process(
    tmp_path: Path, clean_environment: pytest.MonkeyPatch
) -> None:
    data, port = tmp_path / "data", find_free_port()
    command = [sys.executable, "-m", "anoncup.cli", "serve", "--port", str(port), "--data", str(data)]
    log = tmp_path / "serve.log"
    url = f"http://127.0.0.1:{port}"
    with run_program(Program(name="serve", command=command, env=QUICK_SETTINGS, log=log)) as process:
        wait_until_healthy(f"{url}/readyz", check=lambda: require_running(process, log))
        connect_as_owner(data, clean_environment)
        original = {"original": write_csv(build_original_table())}
        contest = open_contest(url, file=build_two_phase_toml(), original=original, slug="small")
        contest.wait_for_state(contest.submit(), "SCORED")
        with Client(url) as client:
            invite = create_invite(url, "small")
            rival = client.sign_up(invite=invite, team="blue", name="rival", password=PASSWORD)
        move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
        assert poll_until(lambda: load_round().published_at is not None)
        target = submit_guess(url, rival)
        move_phases(anonymization=(-3, -2), reidentification=(-1, -0.1))
        assert poll_until(lambda: load_round().revealed_at is not None)
        secret = httpx2.get(f"{url}/api/v1/targets/{target}/secret", timeout=TIMEOUT_S)
        assert sorted(map(int, secret.text.split()[1:])) == list(range(1, ROWS + 1))
        assert list_signed_in_roles() >= set(ROLES.values())
    logs = "".join(path.read_text() for path in [log, *data.glob("logs/*.log")])
    assert "permission denied" not in logs
    assert "database_role_too_mighty" not in logs


def connect_as_owner(data: Path, environment: pytest.MonkeyPatch) -> None:
    """Let this process connect as the owner of the database."""
    services = find_running_services(data)
    assert services is not None
    environment.setenv("DATABASE_URL", services.database_url)
    environment.setenv("REDIS_URL", services.redis_url)
    reset_connections()


def submit_guess(url: str, token: str) -> UUID:
    """Send a guess on the only target and return the target's id."""
    with Client(url, token) as client:
        (target,) = client.list_targets("small")
        client.send_guess(str(target.id), b"original_row\n" + b"1\n" * ROWS)
    return target.id


def list_signed_in_roles() -> set[str]:
    with transaction() as session:
        query = text("SELECT usename FROM pg_stat_activity WHERE datname = current_database()")
        return set(session.scalars(query))
