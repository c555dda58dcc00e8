"""Runs the real processes: a web server on a port, Celery workers and the clock."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import select

from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.rules.settings import Columns, Phase
from anoncup.rules.timetable import replace_phases
from anoncup.rules.toml_text import replace_tables
from anoncup.schemas.fields import Role
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from app.core.db.models import Competition, Organizer, User
from app.core.db.privileges import WEB, WORKER
from app.core.db.transaction import transaction
from app.core.identity import tokens, users
from app.core.processes import child_process
from app.operations.supervisor import (
    Program,
    build_clock_program,
    build_web_program,
    build_worker_program,
    wait_until_healthy,
)
from tests.support.arena import (
    PASSWORD,
    build_competition_toml,
    build_noisy_release,
    build_original_table,
    serial_numbers,
)
from tests.support.role_session import build_role_url
from tests.support.wait import TIMEOUT_S, poll_until

# Short enough for a test, long compared to a step of scoring.
QUICK_SETTINGS = {"ANONCUP_LEASE_S": "3", "ANONCUP_SWEEP_EVERY_S": "1", "ANONCUP_CLOCK_EVERY_S": "0.2"}


def build_own_environment() -> dict[str, str]:
    """Return the environment of a program that starts its own servers, without those of the tests."""
    settings = ("DATABASE_URL", "REDIS_URL", "ANONCUP_")
    return {name: value for name, value in os.environ.items() if not name.startswith(settings)}


def find_free_port() -> int:
    """Return a free port below those that Linux gives to clients, which could take it before its server does."""
    while True:
        port = random.randint(10_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def run_program(program: Program) -> Iterator[subprocess.Popen[bytes]]:
    process = child_process.start(program.command, log=program.log, env=os.environ | program.env)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with SIGKILL and require that its descendants end by themselves."""
    descendants = []
    if process.poll() is None:
        descendants = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    process.wait(TIMEOUT_S)
    _, survivors = psutil.wait_procs(descendants, timeout=TIMEOUT_S)
    assert not survivors, f"orphans: {[read_command_line(survivor) for survivor in survivors]}"


def read_command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process, empty if it has ended.

    A child that ends by itself may stay a zombie for a while.
    """
    with suppress(psutil.NoSuchProcess):  # raised for zombies, too
        return process.cmdline()
    return []


def suspend_tree(process: subprocess.Popen[bytes]) -> AbstractContextManager[None]:
    """Suspend a process and its descendants for the time of the block."""
    parent = psutil.Process(process.pid)
    return suspend([parent, *parent.children(recursive=True)])


@contextmanager
def suspend(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """Suspend processes for the time of the block."""
    for member in processes:
        member.suspend()
    try:
        yield
    finally:
        for member in processes:
            member.resume()


def require_running(process: subprocess.Popen[bytes], log: Path) -> None:
    assert process.poll() is None, child_process.read_tail(log)


def build_role_env(role: str) -> dict[str, str]:
    """Return the environment in which a program uses the database role of a service's process."""
    return {"DATABASE_URL": build_role_url(role, os.environ["DATABASE_URL"])}


@contextmanager
def run_web_server(logs: Path, env: Mapping[str, str] | None = None, *, processes: int = 1) -> Iterator[str]:
    port = find_free_port()
    log = logs / f"web-{port}.log"
    env = {**build_role_env(WEB), **(env or {})}
    program = build_web_program(host="127.0.0.1", port=port, env=env, log=log, process_count=processes)
    with run_program(program) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/healthz", check=lambda: require_running(process, log))
        yield url


@contextmanager
def run_worker(logs: Path, *queues: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the clock and a worker for scores and guesses, or for ``queues``; yield the worker."""
    env, name = QUICK_SETTINGS | build_role_env(WORKER), str(next(serial_numbers))
    clock = build_clock_program(env=env, log=logs / f"scheduler-{name}.log")
    worker = build_worker_program(
        kinds=queues or ("scores", "guesses"), env=env, log=logs / "worker.log", name=name
    )
    with run_program(clock), run_program(worker) as process:
        yield process


@dataclass(frozen=True)
class ServedContest:
    """A competition with one team on a running web server."""

    url: str
    slug: str
    token: str

    def submit(self, *, seed: int = 1) -> str:
        anonymized, secret = build_noisy_release(seed, build_original_table())
        return self.submit_files({"anonymized": anonymized}, secret)

    def submit_files(self, release: Mapping[str, bytes], secret: bytes) -> str:
        with Client(self.url, self.token) as client:
            return str(client.submit(self.slug, release, secret=secret).id)

    def read_submission(self, identifier: str) -> dict[str, object]:
        with Client(self.url, self.token) as client:
            return client.get_submission(identifier).model_dump(mode="json")

    def wait_until(
        self, identifier: str, condition: Callable[[dict[str, object]], bool]
    ) -> dict[str, object]:
        submission: dict[str, object] = {}
        with Client(self.url, self.token) as client:

            def is_reached() -> bool:
                submission.update(client.get_submission(identifier).model_dump(mode="json"))
                return condition(submission)

            assert poll_until(is_reached), f"still {submission['status']}, step {submission['step_name']}"
        return submission

    def wait_for_state(self, identifier: str, state: str) -> dict[str, object]:
        return self.wait_until(identifier, lambda submission: submission["status"] == state)


def open_contest(url: str, *, file: str, original: Mapping[str, bytes], slug: str) -> ServedContest:
    name = f"organizer {next(serial_numbers)}"
    with transaction() as session:
        users.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
    with Client(url) as client:
        token = client.create_token(name, PASSWORD)
    return publish_contest(url, token, file=file, original=original, slug=slug)


def publish_contest(
    url: str, token: str, *, file: str, original: Mapping[str, bytes], slug: str
) -> ServedContest:
    """Open a competition as the organizer with this token; one team signs up."""
    with Client(url, token, password=lambda: PASSWORD) as client:
        client.create_competition(file)
        for part, content in original.items():
            client.put_original(slug, content, filename=f"{part}.csv")
        client.publish_competition(slug)
        invite = client.create_invite(slug)
    with Client(url) as client:
        member = f"member {next(serial_numbers)}"
        return ServedContest(
            url, slug, client.sign_up(invite=invite, team="red", name=member, password=PASSWORD)
        )


def create_invite(url: str, slug: str) -> str:
    """Create an invite for one more team, as the only organizer."""
    with transaction() as session:
        user = session.scalars(select(User).join(Organizer, Organizer.user_id == User.id)).one()
        token = tokens.issue_token(session, user, name="invites")
    with Client(url, token, password=lambda: PASSWORD) as client:
        return client.create_invite(slug)


def open_small_contest(url: str) -> ServedContest:
    original = {"original": write_csv(build_original_table())}
    return open_contest(url, file=build_competition_toml(), original=original, slug="small")


def build_household_file(slug: str, columns: Columns | None = None) -> str:
    """Return the 2015 template, open today; ``columns`` replaces the column names for other data."""
    text = template(2015).replace('slug = "cup-2015"', f'slug = "{slug}"')
    window = build_competition_toml(opens=-1, closes=1)
    text = replace_tables(text, "phases", window[window.index("[[phases]]") :])
    text = replace_tables(text, "excessive", "[excessive]\nthreshold = 0.1")
    if columns is not None:
        for old_name, new_name in zip(
            list_columns(get_household_columns()), list_columns(columns), strict=True
        ):
            text = text.replace(f'"{old_name}"', f'"{new_name}"')
    return text


def run_local_score(
    contest: ServedContest,
    folder: Path,
    original: Mapping[str, bytes],
    release: Mapping[str, bytes],
    secret: bytes,
) -> Any:
    """Return the output of `anoncup score` for the same files and the competition file."""
    with Client(contest.url) as client:
        file = client.get_text(f"/competitions/{contest.slug}/competition.toml")
    parts = [("competition", "toml", file.encode()), ("secret", "secret", secret)]
    parts += [("original", f"original-{name}", content) for name, content in original.items()]
    parts += [(name, name, content) for name, content in release.items()]
    arguments = []
    for option, name, content in parts:
        (folder / name).write_bytes(content)
        arguments += [f"--{option}", str(folder / name)]
    command = [
        sys.executable,
        "-c",
        "from anoncup.cli.main import main; main()",
        "score",
        "--json",
    ]
    output = json.loads(subprocess.run([*command, *arguments], capture_output=True, check=False).stdout)
    warnings = [entry for entry in output.pop("warnings") if entry["code"] == "secret_of_another_file"]
    if warnings:  # warnings from parsing are in the receipt, not in the result
        output["warnings"] = warnings
    return output


def move_phases(**hours: tuple[float, float]) -> None:
    """Move the phases to windows in hours from now."""
    now = datetime.now(UTC)
    with transaction() as session:
        row = session.scalars(select(Competition).with_for_update()).one()
        row.file = replace_phases(
            row.file,
            [
                Phase(phase.name, *(now + timedelta(hours=offset) for offset in hours[phase.name]))
                for phase in parse_competition(row.file).phases
            ],
        )


def list_columns(columns: Columns) -> tuple[str, ...]:
    return (*columns.quasi_identifiers, *columns.sensitive)


def open_slow_contest(url: str) -> tuple[ServedContest, bytes, bytes]:
    """Open a contest with a release that takes seconds to score; return it with the release."""
    table = generate_households(60_000)
    anonymized, secret = build_noisy_release(3, table, "Youto037")
    original = {"original": write_csv(table)}
    contest = open_contest(url, file=build_household_file("slow"), original=original, slug="slow")
    return contest, anonymized, secret
