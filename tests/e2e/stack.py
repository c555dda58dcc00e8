"""The real processes: a web server on a port, a Celery worker, its clock."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from sqlalchemy import select

from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Columns, Phase
from anoncup.rules.toml_text import with_tables
from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.microdata.example import household_columns, household_table
from app.db.models import Competition, Organizer, User
from app.db.privileges import CLOCK, WEB, WORKER
from app.db.transaction import transaction
from app.processes import child_process
from app.processes.supervisor import (
    Program,
    scheduler_program,
    wait_until_healthy,
    web_program,
    worker_programs,
)
from app.services.accounts import accounts
from tests.support.arena import PASSWORD, competition_file, noisy_release, numbers, original_table
from tests.support.role_session import url_as
from tests.support.wait import PATIENCE_S, eventually

# Short enough for a test, long against a step of scoring.
QUICK = {"ANONCUP_LEASE_S": "3", "ANONCUP_SWEEP_EVERY_S": "1", "ANONCUP_CLOCK_EVERY_S": "0.2"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(program: Program) -> Iterator[subprocess.Popen[bytes]]:
    process = child_process.start(program.command, log=program.log, env=os.environ | program.env)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of the process alone: what it started must notice by itself, and has when this returns."""
    started = []
    if process.poll() is None:
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE_S)
    _, left = psutil.wait_procs(started, timeout=PATIENCE_S)
    assert not left, f"orphans: {[each.cmdline() for each in left]}"


def forks(pid: int) -> dict[str, psutil.Process]:
    """What a process of ``forked_program`` runs, by its names."""
    return {each.name(): each for each in psutil.Process(pid).children()}


def command_line(process: psutil.Process) -> list[str]:
    """Nothing of one that has ended: this process's scorer ends by itself, and is waited for much later."""
    with suppress(psutil.NoSuchProcess):  # a zombie is one
        return process.cmdline()
    return []


@contextmanager
def halted(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """The process and all it has started stand still meanwhile."""
    whole = [found := psutil.Process(process.pid), *found.children(recursive=True)]
    for each in whole:
        each.suspend()
    try:
        yield
    finally:
        for each in whole:
            each.resume()


def check_runs(process: subprocess.Popen[bytes], log: Path) -> None:
    assert process.poll() is None, child_process.tail(log)


def acting(role: str) -> dict[str, str]:
    """What lets a program act in the role that it has in a service."""
    return {"DATABASE_URL": url_as(role, os.environ["DATABASE_URL"])}


@contextmanager
def web(logs: Path, env: Mapping[str, str] | None = None, *, processes: int = 1) -> Iterator[str]:
    port = free_port()
    log = logs / f"web-{port}.log"
    env = {**acting(WEB), **(env or {})}
    program = web_program(host="127.0.0.1", port=port, env=env, log=log, processes=processes)
    with running(program) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/healthz", check=lambda: check_runs(process, log))
        yield url


@contextmanager
def worker(logs: Path, *queues: str) -> Iterator[subprocess.Popen[bytes]]:
    """The clock, and a worker for scores and guesses, or for the ``queues`` given; the last of its pools."""
    asked, name = queues or ("scores", "guesses"), str(next(numbers))
    clock = scheduler_program(env=QUICK | acting(CLOCK), log=logs / f"scheduler-{next(numbers)}.log")
    with ExitStack() as started:
        started.enter_context(running(clock))
        programs = worker_programs(queues=asked, env=QUICK | acting(WORKER), logs=logs, name=name)
        yield [started.enter_context(running(program)) for program in programs][-1]


@dataclass(frozen=True)
class Contest:
    """A competition behind a running web server, with one team."""

    url: str
    slug: str
    token: str

    def submit(self, *, seed: int = 1) -> str:
        anonymized, secret = noisy_release(seed, original_table())
        return self.send({"anonymized": anonymized}, secret)

    def send(self, release: Mapping[str, bytes], secret: bytes) -> str:
        with Client(self.url, self.token) as client:
            return str(client.submit(self.slug, release, secret=secret).id)

    def submission(self, identifier: str) -> dict[str, object]:
        with Client(self.url, self.token) as client:
            return client.submission(identifier).model_dump(mode="json")

    def until(self, identifier: str, wanted: Callable[[dict[str, object]], bool]) -> dict[str, object]:
        found: dict[str, object] = {}
        with Client(self.url, self.token) as client:

            def reached() -> bool:
                found.update(client.submission(identifier).model_dump(mode="json"))
                return wanted(found)

            assert eventually(reached), f"still {found['status']}, step {found['step_name']}"
        return found

    def until_state(self, identifier: str, state: str) -> dict[str, object]:
        return self.until(identifier, lambda found: found["status"] == state)


def open_contest(url: str, *, file: str, original: Mapping[str, bytes], slug: str) -> Contest:
    name = f"organizer {next(numbers)}"
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
    with Client(url) as client:
        token = client.token(name, PASSWORD)
    with Client(url, token) as client:
        client.create_competition(file)
        for part, content in original.items():
            client.put_original(slug, content, file=f"{part}.csv")
        invite = client.invite(slug)
    with Client(url) as client:
        member = f"member {next(numbers)}"
        return Contest(url, slug, client.sign_up(invite=invite, team="red", name=member, password=PASSWORD))


def invite_code(url: str, slug: str) -> str:
    """For one more team, of the competition's only organizer."""
    with transaction() as session:
        user = session.scalars(select(User).join(Organizer, Organizer.user_id == User.id)).one()
        token = accounts.issue_token(session, user, name="invites")
    with Client(url, token, password=lambda: PASSWORD) as client:
        return client.invite(slug)


def small_contest(url: str) -> Contest:
    original = {"original": table_csv(original_table())}
    return open_contest(url, file=competition_file(), original=original, slug="small")


def household_file(slug: str, columns: Columns | None = None) -> str:
    """The 2015 template, open today; other ``columns`` for other data of that shape."""
    text = template(2015).replace('slug = "cup-2015"', f'slug = "{slug}"')
    window = competition_file(opens=-1, closes=1)
    text = with_tables(text, "phases", window[window.index("[[phases]]") :])
    text = with_tables(text, "excessive", "[excessive]\nthreshold = 0.1")
    if columns is not None:
        for old, new in zip(names_of(household_columns()), names_of(columns), strict=True):
            text = text.replace(f'"{old}"', f'"{new}"')
    return text


def shop_file(slug: str) -> str:
    """The 2016 template, open today."""
    text = template(2016).replace('slug = "cup-2016"', f'slug = "{slug}"')
    window = competition_file(opens=-1, closes=1)
    return with_tables(text, "phases", window[window.index("[[phases]]") :])


def local_score(
    contest: Contest, folder: Path, original: Mapping[str, bytes], release: Mapping[str, bytes], secret: bytes
) -> Any:
    """What `anoncup score` prints for the same files and the competition's own file.

    Of what the release resembles, the service keeps the evidence for the closest only.
    """
    with Client(contest.url) as client:
        file = client.text(f"/competitions/{contest.slug}/competition.toml")
    parts = [("competition", "toml", file.encode()), ("secret", "secret", secret)]
    parts += [("original", f"original-{name}", content) for name, content in original.items()]
    parts += [(name, name, content) for name, content in release.items()]
    arguments = []
    for option, name, content in parts:
        (folder / name).write_bytes(content)
        arguments += [f"--{option}", str(folder / name)]
    run = [sys.executable, "-c", "from anoncup.cli.main import main; main()", "score", "--json", "--methods"]
    printed = json.loads(subprocess.run([*run, *arguments], capture_output=True, check=False).stdout)
    warnings = [each for each in printed.pop("warnings") if each["code"] == "secret_of_another_file"]
    if warnings:  # what reading remarks stands with the receipt, not with the result
        printed["warnings"] = warnings
    for each in printed["resembles"][1:]:
        del each["evidence"]
    return printed


def move(**hours: tuple[float, float]) -> None:
    """Give the phases windows, in hours from now."""
    now = datetime.now(UTC)
    with transaction() as session:
        row = session.scalars(select(Competition).with_for_update()).one()
        row.file = with_phases(
            row.file,
            [
                Phase(phase.name, *(now + timedelta(hours=at) for at in hours[phase.name]))
                for phase in parse_competition(row.file).phases
            ],
        )


def names_of(columns: Columns) -> tuple[str, ...]:
    return (*columns.quasi_identifiers, *columns.sensitive)


def slow_contest(url: str) -> tuple[Contest, bytes, bytes]:
    """A contest whose release takes seconds to score, and that release."""
    table = household_table(60_000)
    anonymized, secret = noisy_household(table)
    original = {"original": table_csv(table)}
    contest = open_contest(url, file=household_file("slow"), original=original, slug="slow")
    return contest, anonymized, secret


def noisy_household(table: pd.DataFrame) -> tuple[bytes, bytes]:
    rng = np.random.default_rng(3)
    source = rng.permutation(len(table))
    released = table.iloc[source].reset_index(drop=True)
    released["Youto037"] += rng.integers(-50, 50, len(table))
    return table_csv(released), secret_csv(source)
