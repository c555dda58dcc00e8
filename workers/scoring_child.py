"""The scoring child: one per worker process, with memory and time limits, kept between jobs.

An upload that exhausts memory or time ends the child, not the worker, and its submission ends in ERROR with
the reason. The child is sandboxed and has no database, queue, keys or store. It fetches files from its parent
by digest, and gets only those that its job names. Its answers are validated like uploads. It is ended when
idle, because it holds the originals and derived numbers in memory.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from anoncup.errors import DomainError, Unavailable
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED
from anoncup.rules.model import Rules
from app.config import Settings
from app.crypto import sealing
from app.db.stored_files import read_rules
from app.processes.child_slot import ChildSlot
from app.processes.sandboxed_child import (
    DIED_MESSAGE,
    ChildDiedError,
    ChildProtocolError,
    ChildTimeoutError,
    SandboxedChild,
)
from app.services.contests.competitions import require_current_packages
from app.storage import get_store
from workers.jobs import Job, RankJob, ReleaseJob, write_request

__all__ = [
    "DIED_MESSAGE",
    "ChildDiedError",
    "JobResult",
    "ProgressStep",
    "ScoringError",
    "end_all",
    "run",
    "slot",
]

log = structlog.get_logger(__name__)

PROGRAM = "workers.scorer"

_HEARTBEAT_S = 3.0
MAX_NAME_LENGTH, MAX_TRACE_LENGTH, MAX_STEPS = 100, 10_000, 10_000
CRASH_MESSAGE = Message("scoring failed with an internal error; the operators have been told")
PACKAGE_MESSAGE = N_("scoring failed with an error in the package {package}; the organizers see where")


class ScoringError(DomainError):
    """The evaluation cannot be finished; the message is for the team, ``traceback`` for the organizers."""

    code = "scoring_failed"
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class ProgressStep:
    number: int
    total: int
    name: str


@dataclass(frozen=True, slots=True)
class JobResult:
    """The child's result (a verdict, report, outcome or files) and the version of its scoring code.

    ``steps``: the total of its last step, 0 for a job without steps.
    """

    content: dict[str, Any]
    scorer_version: str
    steps: int = 0


slot = ChildSlot(PROGRAM)
_slots = {"": slot}
"""Slots by environment. Children of several environments run beside each other until they are idle."""


def end_all() -> None:
    for child_slot in _slots.values():
        child_slot.end()


def _get_slot(track: str) -> ChildSlot:
    """Return the slot for children in the environment of a track."""
    environment = INSTALLED.find_environment(track)
    if environment not in _slots:
        _slots[environment] = ChildSlot(PROGRAM, environment)
    return _slots[environment]


def run(
    job: Job,
    settings: Settings,
    *,
    on_step: Callable[[ProgressStep], None] = lambda _: None,
    warm: bool = True,
) -> JobResult:
    """Run a job in the scoring child and return its result.

    ``on_step`` is called at each step and every few seconds between steps. With ``warm``, the child loads the
    compiled loops before its first job. Raises ScoringError if the job cannot be done, and ChildDiedError,
    NotFound or Unavailable if it may be tried again. A child that has not finished is ended, since its later
    output would be taken for the answer to the next job. Raises CompetitionUnavailable if the competition's
    file cannot be read, or if its packages are not those that this process has read.
    """
    rules = read_rules(job.competition_file)
    require_current_packages(rules)
    child_slot = _get_slot(rules.track)
    with child_slot.lock:
        child = child_slot.get(settings, memory_mb=settings.scoring_memory_mb, warm=warm)
        try:
            limit_s = settings.scoring_time_limit_s
            result = run_in_child(child, job, settings, limit_s=limit_s, on_step=on_step)
            require_same_packages(child, rules)
        except BaseException as problem:
            child_slot.end()
            if isinstance(problem, DomainError):
                require_same_packages(child, rules)
            raise
        child_slot.release(settings)
        return result


def require_same_packages(child: SandboxedChild, rules: Rules) -> None:
    """Raise if packages were replaced or removed since the child started.

    Its result or its error may come from a mixture of old and new modules.
    """
    require_current_packages(rules)
    if child.is_outdated:
        raise Unavailable("a package was installed again meanwhile; scoring begins again")


def run_in_child(
    child: SandboxedChild,
    job: Job,
    settings: Settings,
    *,
    limit_s: float,
    on_step: Callable[[ProgressStep], None] = lambda _: None,
) -> JobResult:
    """Run a job in a child, which must be ended if this raises."""
    deadline = time.monotonic() + limit_s
    try:
        child.send(write_request(job), deadline=deadline)
        return _serve_until_result(child, job, settings, on_step, deadline)
    except ChildTimeoutError:
        raise ScoringError(
            "scoring took longer than the limit of {limit} s",
            code="time_limit",
            limit=limit_s,
        ) from None
    except ChildProtocolError:
        raise ScoringError(CRASH_MESSAGE) from None


def _serve_until_result(
    child: SandboxedChild,
    job: Job,
    settings: Settings,
    on_step: Callable[[ProgressStep], None],
    deadline: float,
) -> JobResult:
    """Send the child the files that it asks for, until it returns its result."""
    step = ProgressStep(0, 0, "")
    while time.monotonic() < deadline:
        timeout_s = min(_HEARTBEAT_S, max(0.0, deadline - time.monotonic()))
        match child.read(timeout_s, max_bytes=job.max_answer_bytes):
            case {"verdict": dict(verdict), "scorer": str(scorer_version)} if _is_valid_name(
                scorer_version
            ) and job.is_valid_answer(verdict):
                return JobResult(verdict, scorer_version, step.total)
            case {"fetch": str(digest)} if digest in job.fetchable_digests:
                content = read_content(digest, job, settings)
                child.send({"length": len(content)}, content=content, deadline=deadline)
            case {"step": int(number), "of": int(total), "name": str(name)} if _is_valid_step(
                number, total, name
            ):
                step = ProgressStep(number, total, name)
            case {"unreadable": True}:
                # The parent could, so the child may be compromised: such a job must not wait for ever.
                log.error("scoring_child_rejected_valid_file")
                raise ScoringError(CRASH_MESSAGE)
            case {"failed": str(reason), "trace": str(trace), "package": str(package)}:
                raise _build_scoring_error(reason, trace, package, job, settings)
            case dict(message):
                log.error(
                    "scoring_child_sent_unknown_message",
                    keys=[_escape_surrogates(key)[:100] for key in message][:5],
                )
                raise ScoringError(CRASH_MESSAGE)
        on_step(step)
    raise ChildTimeoutError


def read_content(digest: str, job: Job, settings: Settings) -> bytes:
    """Return a stored file by digest, decrypted if it belongs to a sealed release."""
    content = get_store().get(digest)
    if not isinstance(job, ReleaseJob) or job.sealed_for is None or digest not in job.files.values():
        return content
    return sealing.open_file(settings.opening_keys_dir, bound_to=UUID(job.sealed_for), content=content)


def _is_valid_step(number: int, total: int, name: str) -> bool:
    return not isinstance(number, bool) and 0 <= number <= total <= MAX_STEPS and _is_valid_name(name)


def _is_valid_name(text: str) -> bool:
    return len(text) <= MAX_NAME_LENGTH and text.isprintable()


def _build_scoring_error(reason: str, trace: str, package: str, job: Job, settings: Settings) -> ScoringError:
    if reason == "memory":
        return ScoringError(
            "scoring needed more memory than the limit of {limit} MB",
            code="memory_limit",
            limit=settings.scoring_memory_mb,
        )
    trace = _escape_surrogates(trace[:MAX_TRACE_LENGTH]).replace("\0", "")
    log.error("scoring_crashed", trace=trace)
    names = {installed.name for installed in INSTALLED.packages}
    name = package if package in names else _find_package(job)
    error = (
        ScoringError(PACKAGE_MESSAGE, code="package_failed", package=name)
        if name
        else ScoringError(CRASH_MESSAGE)
    )
    error.traceback = trace
    return error


def _find_package(job: Job) -> str | None:
    """Return the package that the job is for; None if it is for a built-in track."""
    if isinstance(job, RankJob):
        return job.function.partition(":")[0]
    track_package = INSTALLED.find_provider(f"tracks.{read_rules(job.competition_file).track}")
    return track_package.name if track_package else None


def _escape_surrogates(text: str) -> str:
    """Escape lone surrogates: they cannot be encoded, and a failing log call would leave the job undone."""
    return text.encode("utf-8", "backslashreplace").decode()
