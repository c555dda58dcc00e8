"""The embedded service, each of its processes in its own role: a contest from sign-up to reveal."""

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import select, text

from anoncup.tables.csv_text import table_csv
from app.db.logins import ROLES
from app.db.models import Target
from app.db.transaction import transaction
from app.processes.embedded_servers import running_services
from app.processes.supervisor import Program, wait_until_healthy
from tests.e2e.stack import QUICK, check_runs, free_port, move, open_contest, running
from tests.support.arena import ROWS, original_table
from tests.support.contest import two_phase_file
from tests.support.own_postgres import forget_connections
from tests.support.second_phase import joined, row
from tests.support.wait import PATIENCE_S, eventually


@pytest.fixture
def alone() -> Iterator[pytest.MonkeyPatch]:
    """An environment that names no service; whatever this process has learnt of one is forgotten after."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("DATABASE_URL", "REDIS_URL", "ANONCUP_SEALING_KEY_FILE", "ANONCUP_OPENING_KEYS_DIR"):
            environment.delenv(name, raising=False)
        yield environment
    forget_connections()


def test_a_contest_goes_from_sign_up_to_reveal_with_a_role_for_each_process(
    tmp_path: Path, alone: pytest.MonkeyPatch
) -> None:
    data, port = tmp_path / "data", free_port()
    command = [sys.executable, "-m", "anoncup.cli", "serve", "--port", str(port), "--data", str(data)]
    log = tmp_path / "serve.log"
    url = f"http://127.0.0.1:{port}"
    with running(Program(name="serve", command=command, env=QUICK, log=log)) as process:
        wait_until_healthy(f"{url}/readyz", check=lambda: check_runs(process, log))
        as_owner(data, alone)
        original = {"original": table_csv(original_table())}
        contest = open_contest(url, file=two_phase_file(), original=original, slug="small")
        contest.until_state(contest.submit(), "SCORED")
        rival = joined(url)
        move(anonymization=(-3, -2), reidentification=(-1, 1))
        assert eventually(lambda: row().published_at is not None)
        target = guessed(url, rival)
        move(anonymization=(-3, -2), reidentification=(-1, -0.1))
        assert eventually(lambda: row().revealed_at is not None)
        secret = httpx2.get(f"{url}/api/v1/targets/{target}/secret", timeout=PATIENCE_S)
        assert sorted(map(int, secret.text.split()[1:])) == list(range(1, ROWS + 1))
        assert signed_in() >= set(ROLES.values())
    said = "".join(path.read_text() for path in [log, *data.glob("logs/*.log")])
    assert "permission denied" not in said
    assert "database_role_too_mighty" not in said


def as_owner(data: Path, environment: pytest.MonkeyPatch) -> None:
    """What this process arranges it does as the owner."""
    found = running_services(data)
    assert found is not None
    environment.setenv("DATABASE_URL", found.database_url)
    environment.setenv("REDIS_URL", found.redis_url)
    forget_connections()


def guessed(url: str, token: str) -> UUID:
    """The only target, after a guess at it."""
    with transaction() as session:
        target = session.scalars(select(Target.id)).one()
    headers = {"Authorization": f"Bearer {token}"}
    files = {"guess": ("g.csv", b"original_row\n" + b"1\n" * ROWS)}
    sent = httpx2.post(
        f"{url}/api/v1/targets/{target}/guesses", headers=headers, files=files, timeout=PATIENCE_S
    )
    assert sent.status_code == 202, sent.text
    return target


def signed_in() -> set[str]:
    with transaction() as session:
        query = text("SELECT usename FROM pg_stat_activity WHERE datname = current_database()")
        return set(session.scalars(query))
