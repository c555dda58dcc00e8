"""Processes as on separate hosts, which share only Postgres, Valkey and an S3 store."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from anoncup.client import Client
from anoncup.errors import Unavailable
from app.config import Settings
from app.core.db.models import Evaluation
from app.operations.supervisor import Program, build_clock_program, build_worker_program
from tests.support.database_rows import load_all
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


def read_quota(contest: ServedContest) -> str:
    with Client(contest.url, contest.token) as client:
        return client.get_quota(contest.slug).model_dump_json()


def build_host_environment(folder: Path, s3: S3Server, store: str) -> dict[str, str]:
    """Make the folder of a host and return the environment of its process."""
    folder.mkdir()
    own = {"ANONCUP_DATA": str(folder), "TMPDIR": str(folder), "ANONCUP_STORE": store}
    return {**QUICK_SETTINGS, **s3.environment, **own}


@contextmanager
def run_hosts(folder: Path, s3: S3Server) -> Iterator[str]:
    """Run a clock, two workers and a web server without private keys; yield its URL once workers are ready."""
    names, store = ("clock", "first", "second", "web"), f"s3://{BUCKET}/{uuid4()}"
    env = {name: build_host_environment(folder / name, s3, store) for name in names}
    logs = {name: folder / f"{name}.log" for name in names}
    kinds = "scores", "guesses"
    programs: list[Program] = [
        build_clock_program(env=env["clock"], log=logs["clock"]),
        *(
            build_worker_program(kinds=kinds, env=env[name], log=logs[name], name=name)
            for name in ("first", "second")
        ),
    ]
    with ExitStack() as stack:
        for program in programs:
            stack.enter_context(run_program(program))
        url = stack.enter_context(run_web_server(folder, env["web"] | {"ANONCUP_OPENING_KEYS_DIR": ""}))
        assert poll_until(lambda: all("ready." in logs[name].read_text() for name in ("first", "second")))
        yield url


def test_workers_share_only_postgres_valkey_and_the_store(
    settings: Settings, s3: S3Server, tmp_path: Path
) -> None:
    """While the store is away, an upload is refused at no cost."""
    with run_hosts(tmp_path, s3) as url:
        contest = open_small_contest(url)
        for identifier in [contest.submit(seed=seed) for seed in range(6)]:
            contest.wait_for_state(identifier, "SCORED")
        quota_before = read_quota(contest)
        s3.kill()
        with pytest.raises(Unavailable, match="the file could not be"):
            contest.submit()
        assert read_quota(contest) == quota_before
        s3.start()
        contest.wait_for_state(contest.submit(seed=7), "SCORED")
    assert {(row.attempt, row.excused) for row in load_all(select(Evaluation))} == {(1, 0)}
    assert not [folder for folder in tmp_path.glob("*/**/blobs") if any(folder.iterdir())]
