"""Processes as on separate hosts, which share only Postgres, Valkey and an S3 store.

Also covers hosts that cannot reach the store or have no keys.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from anoncup.client import Client
from anoncup.errors import Unavailable
from app.config import Settings
from app.core.db.models import Evaluation, State
from app.core.db.transaction import transaction
from app.operations.supervisor import build_clock_program, build_worker_program
from tests.support.arena import serial_numbers
from tests.support.s3_server import BUCKET, S3Server
from tests.support.service_processes import (
    QUICK_SETTINGS,
    ServedContest,
    open_small_contest,
    run_program,
    run_web_server,
)
from tests.support.wait import poll_until

pytestmark = pytest.mark.full


class SeparateHosts:
    """Starts processes, each with its own folder and the shared settings."""

    def __init__(self, folder: Path, shared: Mapping[str, str], exit_stack: ExitStack) -> None:
        self.folder, self.shared, self.exit_stack = folder, shared, exit_stack

    def create_environment(self, **overrides: str) -> dict[str, str]:
        """Create a host's folder and return its environment; ``overrides`` win over the shared settings."""
        host_folder = self.folder / f"host-{next(serial_numbers)}"
        host_folder.mkdir()
        return {
            **QUICK_SETTINGS,
            **self.shared,
            "ANONCUP_DATA": str(host_folder),
            "TMPDIR": str(host_folder),
            **overrides,
        }

    @cached_property
    def web_url(self) -> str:
        """The address of the web server."""
        env = self.create_environment(ANONCUP_OPENING_KEYS_DIR="")
        return self.exit_stack.enter_context(run_web_server(self.folder, env))

    def start_clock(self) -> None:
        self.exit_stack.enter_context(
            run_program(build_clock_program(env=self.create_environment(), log=self.folder / "clock.log"))
        )

    @contextmanager
    def run_worker(self, **overrides: str) -> Iterator[Path]:
        """Run a worker and yield its log."""
        env, name = self.create_environment(**overrides), str(next(serial_numbers))
        log = Path(env["ANONCUP_DATA"]) / "worker.log"
        with run_program(build_worker_program(kinds=("scores", "guesses"), env=env, log=log, name=name)):
            yield log


@pytest.fixture(scope="module")
def running_hosts(
    session_settings: Settings, s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SeparateHosts]:
    """A clock and a web server that share only the database and the store."""
    shared = {**s3_server.environment, "ANONCUP_STORE": f"s3://{BUCKET}/{uuid4()}"}
    with ExitStack() as stack:
        hosts_started = SeparateHosts(tmp_path_factory.mktemp("hosts"), shared, stack)
        hosts_started.start_clock()
        yield hosts_started


@pytest.fixture
def hosts(running_hosts: SeparateHosts, settings: Settings, s3: S3Server) -> SeparateHosts:
    return running_hosts


def load_evaluations() -> list[Evaluation]:
    with transaction() as session:
        return list(session.scalars(select(Evaluation)))


def are_all_scored() -> bool:
    return {row.state for row in load_evaluations()} <= {State.SCORED}


def list_reasons(log: Path, event: str) -> list[str]:
    """Return the reasons that a log gives for an event."""
    reasons = []
    for line in log.read_text().splitlines():
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and entry.get("event") == event:
                reasons.append(str(entry.get("reason")))
    return reasons


def are_ready(*logs: Path) -> bool:
    return all("ready." in log.read_text() for log in logs)


def test_workers_share_only_postgres_valkey_and_the_store(hosts: SeparateHosts) -> None:
    contest = open_small_contest(hosts.web_url)
    with hosts.run_worker() as first_log, hosts.run_worker() as second_log:
        assert poll_until(lambda: are_ready(first_log, second_log))
        for seed in range(6):
            contest.submit(seed=seed)
        assert poll_until(are_all_scored)
    assert {(row.attempt, row.excused) for row in load_evaluations()} == {(1, 0)}
    assert not [
        blobs_folder for blobs_folder in hosts.folder.glob("host-*/**/blobs") if any(blobs_folder.iterdir())
    ]


def test_worker_without_keys_takes_no_work(hosts: SeparateHosts) -> None:
    contest = open_small_contest(hosts.web_url)
    with hosts.run_worker(ANONCUP_OPENING_KEYS_DIR=str(hosts.folder)) as worker_log:
        assert poll_until(lambda: are_ready(worker_log))
        last = contest.submit()
        assert poll_until(lambda: list_reasons(worker_log, "takes_no_work") != [])
        assert "private key" in list_reasons(worker_log, "takes_no_work")[0]
        with hosts.run_worker():
            contest.wait_for_state(last, "SCORED")
    assert {(row.attempt, row.excused) for row in load_evaluations()} == {(1, 0)}


def test_upload_without_the_store_is_refused_at_no_cost(hosts: SeparateHosts, s3: S3Server) -> None:
    contest = open_small_contest(hosts.web_url)
    quota_before = read_quota(contest)
    s3.kill()
    with pytest.raises(Unavailable, match="the file could not be"):
        contest.submit()
    assert read_quota(contest) == quota_before
    s3.start()
    with hosts.run_worker():
        contest.wait_for_state(contest.submit(), "SCORED")


def read_quota(contest: ServedContest) -> str:
    with Client(contest.url, contest.token) as client:
        return client.get_quota(contest.slug).model_dump_json()
