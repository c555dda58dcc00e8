"""Jobs of workers and of the clock in the sandbox, and what their failures mean.

A submission that exhausts memory or CPU time ends its process, not the worker, and ends in ERROR with the
reason.
"""

from collections.abc import Callable, Mapping
from uuid import UUID

import structlog

from anoncup.errors import DomainError, Unavailable
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED, Package
from anoncup.rules.model import Rules
from anoncup.runner.answers import PACKAGE_FAILED, find_failed_package
from anoncup.runner.client import ChildDeath, LimitExcess, ProgressStep, RunnerUnavailable
from anoncup.runner.jobs import AdviceJob, Files, Job, ResultT
from anoncup.runner.protocol import JobLimits, RunnerError
from app.competitions.competitions import require_current_packages
from app.config import Settings
from app.core import sealing
from app.core.db.stored_files import read_rules
from app.core.processes import runners
from app.core.storage import get_store

log = structlog.get_logger(__name__)

_REPORT_NICENESS = 5
"""Reports take minutes. With a lower priority they delay no score."""
CRASH_MESSAGE = Message("scoring failed with an internal error; the operators have been told")
DIED_MESSAGE = Message("the scoring process was killed, perhaps because memory ran out")
PACKAGE_MESSAGE = N_("scoring failed with an error in the package {package}; the organizers see where")
_PACKAGE_DIED = N_("the package {package} ended the scoring process, or it was killed because memory ran out")
_PACKAGE_UNAVAILABLE = N_("the interpreter of the package {package} does not start")
_PACKAGE_EXCEEDS_LIMITS = N_(
    "the package {package} exceeds the limits for scoring, {limit} s and {memory} MB"
)


class ScoringError(DomainError):
    """The job cannot be finished; the message is for the team, ``traceback`` for the organizers."""

    code = "scoring_failed"
    traceback: str | None = None


_PACKAGE_FAILURES: Mapping[type[RunnerError], tuple[type[ScoringError | Unavailable], str]] = {
    ChildDeath: (Unavailable, _PACKAGE_DIED),
    RunnerUnavailable: (Unavailable, _PACKAGE_UNAVAILABLE),
    LimitExcess: (ScoringError, _PACKAGE_EXCEEDS_LIMITS),
}


def run(
    job: Job[ResultT], settings: Settings, *, on_step: Callable[[ProgressStep], None] = lambda _: None
) -> ResultT:
    """Do a job and return its result.

    ``on_step`` is called at each step and every few seconds between steps. Raises ScoringError if the job
    cannot be done, and Unavailable if it may be tried again; CompetitionUnavailable if the competition's file
    cannot be read, or if its packages are not those that this process has read.
    """
    rules = read_rules(job.competition_file)
    require_current_packages(rules)
    niceness = _REPORT_NICENESS if isinstance(job, AdviceJob) else 0
    limits = JobLimits(settings.scoring_memory_mb, settings.scoring_time_limit_s, niceness=niceness)
    package = INSTALLED.find_provider(f"tracks.{rules.track}")
    try:
        result = runners.get_runner(settings, package).run(job, limits, on_step=on_step)
    except RunnerError as problem:
        require_same_packages(package, rules)
        raise describe_failure(problem, package, limits) from None
    require_same_packages(package, rules)
    return result


def require_same_packages(package: Package | None, rules: Rules) -> None:
    """Raise if packages were replaced or removed since the runner started.

    Its result or its error may come from a mixture of old and new modules.
    """
    require_current_packages(rules)
    if runners.is_outdated(package):
        raise Unavailable("a package was installed again meanwhile; scoring begins again")


def describe_failure(problem: RunnerError, package: Package | None, limits: JobLimits) -> DomainError:
    """Return the error for a failure. It names the package whose code failed, or that of the track."""
    package = find_failed_package(problem, package)
    if package is not None:
        return _describe_package_failure(problem, package, limits)
    match problem:
        case LimitExcess(kind="memory"):
            return ScoringError(
                "scoring needed more memory than the limit of {limit} MB",
                code="memory_limit",
                limit=limits.memory_mb,
            )
        case LimitExcess():
            return ScoringError(
                "scoring took longer than the limit of {limit} s", code="time_limit", limit=limits.cpu_s
            )
        case ChildDeath() | RunnerUnavailable():
            return Unavailable(DIED_MESSAGE, code="child_died")
    error = ScoringError(CRASH_MESSAGE)
    error.traceback = problem.trace
    log.error("scoring_crashed", reason=problem.trace)
    return error


def _describe_package_failure(problem: RunnerError, package: Package, limits: JobLimits) -> DomainError:
    error_class, text = _PACKAGE_FAILURES.get(type(problem), (ScoringError, PACKAGE_MESSAGE))
    error = error_class(
        text, code=PACKAGE_FAILED, package=package.name, limit=round(limits.cpu_s), memory=limits.memory_mb
    )
    if isinstance(error, ScoringError):
        error.traceback = problem.trace
    log.error("package_failed", package=package.name, trace=problem.trace)
    return error


def load_files(digests: Mapping[str, str]) -> Files:
    """Return stored files by name."""
    return {name: get_store().get(digest) for name, digest in digests.items()}


def load_release(digests: Mapping[str, str], settings: Settings, *, sealed_for: UUID | None) -> Files:
    """Return the files of a release, decrypted if they are sealed for a submission."""
    files = load_files(digests)
    if sealed_for is None:
        return files
    return {
        name: sealing.open_file(settings.opening_keys_dir, bound_to=sealed_for, content=content)
        for name, content in files.items()
    }
