"""Jobs of the web process in the sandbox, and what their failures mean.

Unless ``enable`` has been called, they are done in this process, as in commands and most tests.
"""

import structlog

from anoncup.errors import InvalidInput, Unavailable
from anoncup.messages import N_
from anoncup.plugins import INSTALLED, Package
from anoncup.runner import sandbox
from anoncup.runner.answers import PACKAGE_FAILED, JobFailure, ProgressSender, find_failed_package
from anoncup.runner.client import InvalidAnswer, LimitExcess
from anoncup.runner.jobs import Job, ResultT
from anoncup.runner.protocol import JobLimits, RunnerError
from app.config import Settings
from app.core.processes import runners

log = structlog.get_logger(__name__)

_EXCEEDS_LIMITS = N_(
    "the package {package} exceeds the limits for reading files, {limit} s and {memory} MB; nothing was "
    "accepted, and nothing counts"
)
_FAILS = N_("the package {package} fails to read these files; nothing was accepted, and nothing counts")
_NICENESS = 10
"""Lower priority than the web server's, so that boards are answered during a rush."""


class PackageFailure(Unavailable):
    """The code of a package failed or exceeded a limit; ``traceback`` is for organizers."""

    code = PACKAGE_FAILED
    traceback = ""


_settings: Settings | None = None


def enable(settings: Settings) -> None:
    """Do jobs in the sandbox from now on."""
    global _settings  # noqa: PLW0603  # one for each process
    _settings = settings


def read_upload(job: Job[ResultT], track: str) -> ResultT:
    """Do a job about the upload of a team. The code of a package has little time for it."""
    return _run(job, track, is_upload=True)


def read_original(job: Job[ResultT], track: str = "") -> ResultT:
    """Do a job about an original, with the limits of scoring: scales and examples are computed."""
    return _run(job, track, is_upload=False)


def _run(job: Job[ResultT], track: str, *, is_upload: bool) -> ResultT:
    if _settings is None:
        result: ResultT = job.handler(job, ProgressSender())
        return result
    if _settings.sandbox == sandbox.REQUIRED and not sandbox.get_available().is_complete:
        log.error("sandbox_unavailable", reason=sandbox.explain_missing())
        raise Unavailable("this service cannot read files safely right now; its operators have been told")
    package = INSTALLED.find_provider(f"tracks.{track}")
    return run_sandboxed(job, _settings, package, is_upload=is_upload)


def run_sandboxed(
    job: Job[ResultT], settings: Settings, package: Package | None, *, is_upload: bool = True
) -> ResultT:
    """Do a job in the environment of a package while somebody waits for it.

    Raises the job's own domain errors, InvalidInput if it takes too much time or memory, and Unavailable if
    its process ends, or if a package fails.
    """
    limits = _choose_limits(settings, is_upload=is_upload, has_package=package is not None)
    try:
        return runners.get_runner(settings, package).run(job, limits)
    except RunnerError as problem:
        raise _describe_failure(problem, package, limits) from None


def _choose_limits(settings: Settings, *, is_upload: bool, has_package: bool) -> JobLimits:
    if not is_upload:
        return JobLimits(settings.scoring_memory_mb, settings.scoring_time_limit_s, niceness=_NICENESS)
    limit_s = settings.package_time_limit_s if has_package else settings.parsing_time_limit_s
    limit_s = min(limit_s, settings.parsing_time_limit_s)
    return JobLimits(settings.parsing_memory_mb, limit_s, niceness=_NICENESS)


def _describe_failure(problem: RunnerError, package: Package | None, limits: JobLimits) -> Exception:
    """Return the error for a failure. If code of a package failed, it names it and blames nobody else."""
    package = find_failed_package(problem, package)
    if package is not None:
        failure = PackageFailure(
            _EXCEEDS_LIMITS if isinstance(problem, LimitExcess) else _FAILS,
            package=package.name,
            limit=round(limits.cpu_s),
            memory=limits.memory_mb,
        )
        failure.traceback = problem.trace
        log.error("package_failed", package=package.name, trace=problem.trace)
        return failure
    match problem:
        case LimitExcess(kind="memory"):
            return InvalidInput(
                "reading the files needed more memory than the limit of {limit} MB",
                code="parsing_memory_limit",
                limit=limits.memory_mb,
            )
        case LimitExcess():
            return InvalidInput(
                "reading the files took longer than the limit of {limit} s",
                code="parsing_time_limit",
                limit=round(limits.cpu_s),
            )
        case JobFailure() | InvalidAnswer():
            log.error("parser_failed", trace=problem.trace)
            return RuntimeError("the files could not be read")
    return Unavailable("the process that reads files has ended; try again in a moment")
