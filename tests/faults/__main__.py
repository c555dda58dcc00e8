"""Play a contest while faults are injected, then check that nothing is lost.

usage: python -m tests.faults [--seed N] [--faults 200] [--keep]
"""

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import psutil
from sqlalchemy import select

from app.core.db import engine
from app.core.db.models import Round, Target
from app.core.db.transaction import transaction
from app.operations.service_access import use_services
from tests.faults import expected_boards, invariant_checks, organizers
from tests.faults.calls import PATIENCE_S, Caller, CallRecorder
from tests.faults.canaries import Canaries
from tests.faults.expected_boards import check_competition
from tests.faults.fault_kinds import FAULT_KINDS, FaultTargetAbsent, Undo
from tests.faults.installation import ServiceInstallation, run_installation
from tests.faults.ledger import Ledger
from tests.faults.participants import FaultRun
from tests.support.secret_search import iterate_files

FAULT_INTERVAL_S = (0.3, 5.0)
POLL_S = 0.2
RECOVER_EVERY = 8
"""Faults between two pauses in which the service must recover by itself."""
MAX_TRANSITION_KILLS = 6


@dataclass
class FaultLog:
    """The faults of a run in order, and what is still to be undone."""

    started_at: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    pending_undos: list[tuple[float, str, Undo]] = field(default_factory=list)

    def note(self, line: str) -> None:
        self.lines.append(f"{time.monotonic() - self.started_at:7.1f} s  {line}")

    def undo_due(self, *, include_pending: bool = False) -> None:
        """Undo the faults whose time is over."""
        now = time.monotonic()
        for fault in sorted(self.pending_undos, key=lambda entry: entry[0]):
            if include_pending or fault[0] <= now:
                self.pending_undos.remove(fault)
                fault[2]()
                self.note(f"over: {fault[1]}")


def inject_fault(installation: ServiceInstallation, random: Random, fault_log: FaultLog) -> None:
    """Inject one random fault; choose again while its target does not exist."""
    while True:
        (chosen_kind,) = random.choices(FAULT_KINDS, [kind.weight for kind in FAULT_KINDS])
        try:
            description, undo = chosen_kind.inject(installation, random)
        except FaultTargetAbsent:
            installation.start_missing()
            time.sleep(0.05)
            continue
        fault_log.counts[chosen_kind.name] += 1
        fault_log.note(description)
        if undo is not None:
            fault_log.pending_undos.append(
                (time.monotonic() + random.uniform(*chosen_kind.duration_s), description, undo)
            )
        return


def wait(installation: ServiceInstallation, fault_log: FaultLog, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        fault_log.undo_due()
        installation.start_missing()
        kill_transition_child(installation, fault_log)
        time.sleep(POLL_S)


def kill_transition_child(installation: ServiceInstallation, fault_log: FaultLog) -> None:
    """Kill a child that writes targets or opens secrets as soon as it appears; it lives only briefly."""
    name = "kill -9 turning child"
    for child in installation.list_processes().get("turning child", []):
        if fault_log.counts[name] < MAX_TRANSITION_KILLS:
            with suppress(psutil.NoSuchProcess):
                child.kill()
                fault_log.counts[name] += 1
                fault_log.note(f"SIGKILL turning child {child.pid}")


def wait_until_recovered(installation: ServiceInstallation, fault_log: FaultLog) -> None:
    """Wait until all faults are undone and the service has recovered by itself."""
    while fault_log.pending_undos:
        wait(installation, fault_log, 0.1)
    started_at = time.monotonic()
    installation.wait_until_ready()
    fault_log.note(f"ready again after {time.monotonic() - started_at:.1f} s")


def inject_faults(
    installation: ServiceInstallation, run: FaultRun, fault_log: FaultLog, *, faults: int
) -> None:
    random = Random(f"{run.seed} faults")
    while (number := fault_log.counts.total()) < faults:
        if run.failures:
            raise RuntimeError("; ".join(run.failures))
        inject_fault(installation, random, fault_log)
        run.fault_share = (number + 1) / faults
        if (number + 1) % RECOVER_EVERY == 0:
            wait_until_recovered(installation, fault_log)
            print(f"{number + 1} faults; {fault_log.lines[-1].strip()}", flush=True)
        wait(installation, fault_log, random.uniform(*FAULT_INTERVAL_S))
    wait_until_recovered(installation, fault_log)


def finish_contest(
    installation: ServiceInstallation, run: FaultRun, fault_log: FaultLog, ledgers: list[Ledger]
) -> None:
    """Let people act until the first competition is revealed, then stop them and wait for all jobs."""
    engine.get_engine().dispose()  # its connections are to servers that were killed
    deadline = time.monotonic() + PATIENCE_S
    while invariant_checks.load_round(ledgers[0].slug).revealed_at is None:
        wait(installation, fault_log, 1.0)
        if run.failures or time.monotonic() > deadline:
            raise TimeoutError(f"{ledgers[0].slug} was never revealed; {run.failures}")
    run.has_ended.set()
    for thread in run.threads:
        thread.join(PATIENCE_S)
        if thread.is_alive():
            raise TimeoutError(f"{thread.name} does not end")
    wait_for_all_work(installation, fault_log, ledgers)


def wait_for_all_work(installation: ServiceInstallation, fault_log: FaultLog, ledgers: list[Ledger]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not all(invariant_checks.is_settled(ledger.slug) for ledger in ledgers):
        wait(installation, fault_log, 0.5)
        if time.monotonic() > deadline:
            raise TimeoutError("work is left that nobody does")


def check_everything(
    installation: ServiceInstallation, run: FaultRun, fault_log: FaultLog, ledgers: list[Ledger]
) -> Iterator[str]:
    """Yield every violation of an invariant."""
    yield from run.failures
    callers = {ledger.slug: expected_boards.create_callers(run.calls, ledger) for ledger in ledgers}
    for ledger in ledgers:
        yield from invariant_checks.retry_refused(ledger, callers[ledger.slug])
    wait_for_all_work(installation, fault_log, ledgers)
    for ledger in ledgers:
        closes = ledger.slug == organizers.PLANS[0].slug
        yield from check_competition(ledger, callers[ledger.slug], is_played_to_end=closes)
    yield from run.calls.problems
    yield from check_restart(installation, ledgers, callers)


def check_restart(
    installation: ServiceInstallation, ledgers: list[Ledger], callers: dict[str, dict[str, Caller]]
) -> Iterator[str]:
    """Restart the service, which empties its caches, and yield the boards whose bytes differ."""

    def read_boards() -> dict[tuple[str, str, str], bytes]:
        return {
            (ledger.slug, *board): content
            for ledger in ledgers
            for board, content in expected_boards.read_boards(ledger, callers[ledger.slug]).items()
        }

    boards_before = read_boards()
    engine.get_engine().dispose()
    status = installation.stop()
    if status != 0:
        yield f"the service ended with {status} on SIGTERM"
    yield from installation.list_leftovers()
    installation.start_missing()
    installation.wait_until_ready()
    use_services(installation.find_services(), installation.data)
    boards_after = read_boards()
    for board, content in boards_before.items():
        if content != boards_after[board]:
            yield f"{board} has other bytes after a restart"


def summarize(run: FaultRun, fault_log: FaultLog, ledgers: list[Ledger]) -> str:
    """Describe what a run has tried."""
    uploads = [upload for ledger in ledgers for upload in ledger.uploads]
    accepted = Counter(upload.kind for upload in uploads if upload.receipt is not None)
    lines = [
        f"{fault_log.counts.total()} faults in {time.monotonic() - fault_log.started_at:.0f} s",
        f"accepted: {accepted}; refused: {sum(upload.refusal is not None for upload in uploads)}",
        f"retried under their key: {sum(upload.failed_tries > 0 for upload in uploads)}",
        f"answers: {run.calls.status_counts}",
        *(f"ERROR: {job_id}: {reason}" for ledger in ledgers for job_id, reason in ledger.errors.items()),
        *(f"{count:4}  {name}" for name, count in fault_log.counts.most_common()),
    ]
    return "\n".join(lines)


def run_contest(seed: int, faults: int, *, keep_folder: bool) -> list[str]:
    """Play a whole contest with faults and return the violations."""
    fault_log = FaultLog()
    with run_installation(keep_folder=keep_folder) as installation:
        print(f"seed {seed}; {installation.folder}", flush=True)
        installation.start_missing()
        installation.wait_until_ready()
        use_services(installation.find_services(), installation.data)
        calls = CallRecorder(installation.url, Canaries())
        max_valid = max(6, faults // 8)
        ledgers = [organizers.open_competition(calls, plan, valid=max_valid) for plan in organizers.PLANS]
        run = FaultRun(seed, calls)
        fault_log.started_at = time.monotonic()
        organizers.start_everybody(run, ledgers)
        problems: list[str] = []
        try:
            inject_faults(installation, run, fault_log, faults=faults)
            finish_contest(installation, run, fault_log, ledgers)
            problems += check_everything(installation, run, fault_log, ledgers)
            problems += check_files(installation, calls.canaries, ledgers)
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
            problems += run.failures
            traceback.print_exc()
        finally:
            run.has_ended.set()
            fault_log.undo_due(include_pending=True)
            engine.get_engine().dispose()
        print(summarize(run, fault_log, ledgers), flush=True)
        if problems:
            print("\n".join(["the faults:", *fault_log.lines]), flush=True)
    return problems


def check_files(
    installation: ServiceInstallation, canaries: Canaries, ledgers: list[Ledger]
) -> Iterator[str]:
    """Stop the service and yield the logs and files with a secret that was not revealed."""
    with transaction() as session:
        query = select(Target.submission_id).join(Round, Round.id == Target.round_id)
        revealed_ids = set(map(str, session.scalars(query.where(Round.revealed_at.is_not(None)))))
    releases = [upload for ledger in ledgers for upload in ledger.list_accepted("release")]
    canaries.remove(upload.rows for upload in releases if upload.id in revealed_ids)
    engine.get_engine().dispose()
    installation.stop()
    for folder in (installation.logs, installation.data, installation.store):
        for path, content in iterate_files(folder):
            if leak := canaries.find_leak(content):
                yield f"{path} holds {leak}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--keep", action="store_true", help="leave the folder behind")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    problems = run_contest(options.seed, options.faults, keep_folder=options.keep)
    for problem in problems:
        print(f"WRONG: {problem[:2000]}", flush=True)
    print(
        f"seed {options.seed}: {'all laws hold' if not problems else f'{len(problems)} are broken'}",
        flush=True,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
