"""Standings that are left to workers: ranking functions of packages run in the sandbox, a board at a time."""

import time
from dataclasses import dataclass

import structlog

from anoncup.errors import DatabaseUnavailable, DomainError, InvalidResult
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED, Package
from anoncup.runner.answers import JobFailure
from anoncup.runner.client import ChildDeath, LimitExcess, RunnerUnavailable
from anoncup.runner.jobs import RankJob
from anoncup.runner.protocol import JobLimits
from anoncup.tracks.ranking_board import Ranked, RankingBoard, check_ranked
from app.config import Settings, get_settings
from app.db.transaction import transaction
from app.processes import runners
from app.services.boards import fold, stale_standings, standing_rows, standing_updates
from app.services.boards.facts import RoundFacts
from app.services.boards.stale_standings import StaleClaim
from app.services.contests.competitions import require_current_packages
from workers import jobs
from workers.jobs import RUNNER_ERRORS, ChildDiedError, ScoringError
from workers.readiness import SCORING_READINESS

log = structlog.get_logger(__name__)

LIMIT_S = 60.0
"""Limit for the functions of a round, which run after another job within the time limit of a task."""
MAX_MOMENTS = 100
"""Maximum number of moments that are computed and stored at once; each is a board in each series."""
_CLAIM_WITHIN_S = 10.0
_MAX_REASON_LENGTH = 200
_FAILED = N_("the ranking function of the package {package} failed: {reason}")
_TOO_LONG = N_("it took longer than the limit of {limit} s")
_TOO_LARGE = N_("it needed more memory than the limit of {limit} MB")
_DIED = N_("its process ended")
_INVALID_ANSWER = N_("it sent an invalid answer")


def compute_stale_standings() -> None:
    """Compute standings until none are due, or until the rest is left to the next task."""
    last_claim_at = time.monotonic() + _CLAIM_WITHIN_S
    while SCORING_READINESS.is_ready() and _compute_next() and time.monotonic() < last_claim_at:
        pass


def _compute_next() -> bool:
    """Compute the standings of the next round, or record why not; return False if none is due."""
    with transaction() as session:
        claim = stale_standings.claim_next(session)
    if claim is None:
        return False
    try:
        with transaction() as session:
            facts = standing_updates.refresh_claimed(session, claim)
        if facts is not None:
            _compute(claim, facts, get_settings())
    except DatabaseUnavailable:
        raise
    except DomainError as problem:
        log.error("standings_failed", round=str(claim.round_id), reason=str(problem))
        with transaction() as session:
            stale_standings.record_failure(session, claim, problem)
    return True


def _compute(claim: StaleClaim, facts: RoundFacts, settings: Settings) -> None:
    """Run the functions of the rules without an open transaction, and store the standings."""
    require_current_packages(facts.rules)
    until = fold.find_window_end(facts, claim.since, moments=MAX_MOMENTS)
    names = sorted(set(facts.rules.ranking.list_functions()))
    functions = {name: PackageFunction(name, settings, LIMIT_S / len(names)) for name in names}
    rankers = {name: function.rank for name, function in functions.items()}
    rows = standing_rows.compute_rows(facts, claim.since, until=until, rankers=rankers)
    for function in functions.values():
        jobs.require_same_packages(function.package.environment, facts.rules)
    with transaction() as session:
        standing_updates.store_claimed(session, claim, rows, until=until)


@dataclass
class PackageFunction:
    """A ranking function that may take ``limit_s`` for all boards of a round together."""

    name: str
    settings: Settings
    limit_s: float
    spent_s: float = 0.0

    @property
    def package(self) -> Package:
        provider = INSTALLED.find_provider(f"ranking_functions.{self.name.partition(':')[2]}")
        assert provider is not None  # noqa: S101  # checked when the file was read
        return provider

    def rank(self, board: RankingBoard) -> tuple[Ranked, ...]:
        """Return the ranked teams; raise ScoringError, which names the package, if the function fails."""
        job = RankJob(function=self.name, board=board)
        limits = JobLimits(self.settings.scoring_memory_mb, max(0.0, self.limit_s - self.spent_s))
        started_at = time.monotonic()
        try:
            ranked = runners.run(job, self.settings, limits, environment=self.package.environment)
            return check_ranked(board, ranked, package=self.package.name)
        except RUNNER_ERRORS as problem:
            failure = self._explain(problem)
        except InvalidResult as problem:  # its message names the package
            failure = ScoringError(problem.message, code="package_failed")
        finally:
            self.spent_s += time.monotonic() - started_at
        raise failure

    def _explain(self, problem: Exception) -> ScoringError:
        """Return the failure for the organizers. Its reason is the last line of a traceback, or ours."""
        code: str = ScoringError.code
        reason: Message | str = Message(_INVALID_ANSWER)
        match problem:
            case JobFailure():
                code, reason = "package_failed", problem.trace.rpartition("\n")[2][:_MAX_REASON_LENGTH]
            case LimitExcess(kind="memory"):
                code, reason = "memory_limit", Message(_TOO_LARGE, limit=self.settings.scoring_memory_mb)
            case LimitExcess():
                code, reason = "time_limit", Message(_TOO_LONG, limit=round(self.limit_s))
            case ChildDeath() | RunnerUnavailable():
                code, reason = ChildDiedError.code, Message(_DIED)
        return ScoringError(_FAILED, code=code, package=self.package.name, reason=reason)
