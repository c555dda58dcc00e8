"""Processes as on hosts of their own: Postgres, Valkey and an S3 store are all they share. And what happens
where one of them cannot reach the store or has no keys."""

import json
import socket
import threading
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
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.processes.supervisor import scheduler_program, worker_programs
from tests.e2e.stack import QUICK, Contest, free_port, running, small_contest, web
from tests.support.arena import numbers
from tests.support.s3_server import BUCKET, S3Server
from tests.support.wait import eventually

pytestmark = pytest.mark.full


class Hosts:
    """Starts processes, each with a folder of its own and what it is told of the others."""

    def __init__(self, folder: Path, shared: Mapping[str, str], started: ExitStack) -> None:
        self.folder, self.shared, self.started = folder, shared, started

    def environment(self, **more: str) -> dict[str, str]:
        """``more`` wins over what all are told."""
        home = self.folder / f"host-{next(numbers)}"
        home.mkdir()
        return {**QUICK, **self.shared, "ANONCUP_DATA": str(home), "TMPDIR": str(home), **more}

    @cached_property
    def web(self) -> str:
        """The address of the web server."""
        env = self.environment(ANONCUP_OPENING_KEYS_DIR="")
        return self.started.enter_context(web(self.folder, env))

    def clock(self) -> None:
        self.started.enter_context(
            running(scheduler_program(env=self.environment(), log=self.folder / "clock.log"))
        )

    @contextmanager
    def worker(self, **more: str) -> Iterator[Path]:
        """A worker and its log."""
        env, name = self.environment(**more), str(next(numbers))
        logs = Path(env["ANONCUP_DATA"])
        (program,) = worker_programs(queues=("scores", "guesses"), env=env, logs=logs, name=name)
        assert program.log is not None
        with running(program):
            yield program.log


@pytest.fixture(scope="module")
def started(
    session_settings: Settings, s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hosts]:
    """A clock and a web server, which know nothing that is not in the database or the store."""
    shared = {**s3_server.environment, "ANONCUP_STORE": f"s3://{BUCKET}/{uuid4()}"}
    with ExitStack() as stack:
        made = Hosts(tmp_path_factory.mktemp("hosts"), shared, stack)
        made.clock()
        yield made


@pytest.fixture
def hosts(started: Hosts, settings: Settings, s3: S3Server) -> Hosts:
    return started


def evaluations() -> list[Evaluation]:
    with transaction() as session:
        return list(session.scalars(select(Evaluation)))


def all_are_scored() -> bool:
    return {row.state for row in evaluations()} <= {State.SCORED}


def said(log: Path, event: str) -> list[str]:
    """The reasons that a log gives with an event."""
    found = []
    for line in log.read_text().splitlines():
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and entry.get("event") == event:
                found.append(str(entry.get("reason")))
    return found


def ready(*logs: Path) -> bool:
    return all("ready." in log.read_text() for log in logs)


def test_workers_share_nothing_but_postgres_valkey_and_the_store(hosts: Hosts) -> None:
    contest = small_contest(hosts.web)
    with hosts.worker() as one, hosts.worker() as other:
        assert eventually(lambda: ready(one, other))
        for seed in range(6):
            contest.submit(seed=seed)
        assert eventually(all_are_scored)
    assert {(row.attempt, row.excused) for row in evaluations()} == {(1, 0)}
    assert not [place for place in hosts.folder.glob("host-*/**/blobs") if any(place.iterdir())]


def test_a_worker_that_cannot_reach_the_store_burns_nothing_beside_one_that_can_and_comes_back(
    hosts: Hosts, s3: S3Server
) -> None:
    contest = small_contest(hosts.web)
    path = Relay(free_port(), s3.ports["s3"])
    with hosts.worker(AWS_ENDPOINT_URL=f"http://127.0.0.1:{path.port}") as cut_off:
        with hosts.worker() as well:
            assert eventually(lambda: ready(cut_off, well))
            for seed in range(6):
                contest.submit(seed=seed)
            assert eventually(all_are_scored)
        assert {(row.attempt, row.excused) for row in evaluations()} == {(1, 0)}
        assert eventually(lambda: said(cut_off, "takes_no_work") != [])
        with path.open():
            last = contest.submit(seed=7)
            contest.until_state(last, "SCORED")
        assert len(said(cut_off, "takes_work_again")) == 1


def test_a_worker_with_a_folder_instead_of_the_store_takes_nothing(hosts: Hosts) -> None:
    """As on a host whose settings were forgotten: it has a store, reachable and empty."""
    contest = small_contest(hosts.web)
    with hosts.worker(ANONCUP_STORE="") as forgotten:
        assert eventually(lambda: ready(forgotten))
        last = contest.submit()
        assert eventually(lambda: said(forgotten, "takes_no_work") != [])
        assert "is it the right store" in said(forgotten, "takes_no_work")[0]
        with hosts.worker():
            contest.until_state(last, "SCORED")
        assert len(said(forgotten, "takes_no_work")) == 1
    assert {(row.attempt, row.excused) for row in evaluations()} == {(1, 0)}


def test_a_worker_without_keys_takes_nothing(hosts: Hosts) -> None:
    contest = small_contest(hosts.web)
    with hosts.worker(ANONCUP_OPENING_KEYS_DIR=str(hosts.folder)) as keyless:
        assert eventually(lambda: ready(keyless))
        last = contest.submit()
        assert eventually(lambda: said(keyless, "takes_no_work") != [])
        assert "private key" in said(keyless, "takes_no_work")[0]
        with hosts.worker():
            contest.until_state(last, "SCORED")
    assert {(row.attempt, row.excused) for row in evaluations()} == {(1, 0)}


def test_an_upload_without_the_store_is_refused_free_of_charge_and_taken_in_when_it_is_back(
    hosts: Hosts, s3: S3Server
) -> None:
    contest = small_contest(hosts.web)
    before = quota(contest)
    s3.kill()
    with pytest.raises(Unavailable, match="the file could not be"):
        contest.submit()
    assert quota(contest) == before
    s3.start()
    with hosts.worker():
        contest.until_state(contest.submit(), "SCORED")


def quota(contest: Contest) -> str:
    with Client(contest.url, contest.token) as client:
        return client.quota(contest.slug).model_dump_json()


class Relay:
    """The way to a port of this machine, closed until it is opened."""

    def __init__(self, port: int, to: int) -> None:
        self.port, self.to = port, to

    @contextmanager
    def open(self) -> Iterator[None]:
        with socket.create_server(("127.0.0.1", self.port)) as listening:
            threading.Thread(target=self.accept, args=(listening,), daemon=True).start()
            yield

    def accept(self, listening: socket.socket) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
                for here, there in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=(here, there), daemon=True).start()


def pump(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while piece := here.recv(1 << 16):
            there.sendall(piece)
        there.shutdown(socket.SHUT_WR)
