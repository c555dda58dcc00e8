"""Jobs of computing stale standings: ranking functions of packages run in the sandbox, a board at a time."""

import time
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, InvalidResult
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED, Package
from anoncup.rules.model import Rules
from anoncup.runner.answers import PACKAGE_FAILED, JobFailure
from anoncup.runner.client import NO_STEP, LimitExcess
from anoncup.runner.jobs import RankJob
from anoncup.runner.protocol import JobLimits, RunnerError
from anoncup.tracks.ranking_board import Ranked, RankingBoard, check_ranked
from app.boards import fold, standing_updates
from app.boards.fold import TableRows
from app.boards.load_facts import load_facts
from app.boards.standing_updates import StaleClaim
from app.competitions.competitions import require_current_packages
from app.config import Settings, get_settings
from app.core.db.models import Round
from app.core.db.transaction import END, transaction
from app.core.processes import runners
from workers import jobs, lease_runner
from workers.lease_runner import OnStep
from workers.readiness import SCORING_READINESS

LIMIT_S = 60.0
"""Limit for the functions of a round, which run after another job within the time limit of a task."""
MAX_MOMENTS = 30
"""Maximum number of moments that are computed and stored at once; each is a board in each series."""
_MAX_REASON_LENGTH = 200
_FAILED = N_("the ranking function of the package {package} failed: {reason}")
_TOO_LONG = N_("the boards took longer than the limit of {limit} s")


class RankingError(CompetitionUnavailable):
    """A ranking function failed. The boards keep their state until its package or the boards change."""


def compute_next() -> None:
    """Compute the stale standings of the next round, or record why that failed."""
    lease_runner.do_next(standing_updates.claim_stale, _compute, _store, SCORING_READINESS)


def _store(session: Session, claim: StaleClaim, result: tuple[list[TableRows], datetime]) -> None:
    rows, until = result
    standing_updates.store_claimed(session, claim, rows, until=until)


def _compute(claim: StaleClaim, on_step: OnStep) -> tuple[list[TableRows], datetime]:
    """Return the new rows before a moment. No transaction is open while functions run."""
    settings = get_settings()
    with transaction() as session:
        round_ = session.get_one(Round, claim.round_id)
        facts = load_facts(session, round_, claim.since)
    require_current_packages(facts.rules)
    names, functions = facts.rules.ranking.list_functions(), RankingFunctions(facts.rules, settings, on_step)
    until = fold.find_window_end(facts, claim.since, moments=MAX_MOMENTS) if names else END
    rankers = {name: partial(functions.rank, name) for name in names}
    return fold.compute_rows(facts, claim.since, until=until, rankers=rankers), until


@dataclass
class RankingFunctions:
    """The ranking functions of a round, which may take ``LIMIT_S`` for all of its boards together."""

    rules: Rules
    settings: Settings
    on_step: OnStep
    spent_s: float = 0.0

    def rank(self, name: str, board: RankingBoard) -> tuple[Ranked, ...]:
        """Return the ranked teams; raise RankingError, which names the package, if the function fails."""
        package = INSTALLED.find_provider(f"ranking_functions.{name.partition(':')[2]}")
        assert package is not None  # noqa: S101  # checked when the file was read
        self.on_step(NO_STEP)  # so that many short jobs renew the lease
        job = RankJob(function=name, board=board)
        limits = JobLimits(self.settings.scoring_memory_mb, max(0.0, LIMIT_S - self.spent_s))
        started_at = time.monotonic()
        try:
            runner = runners.get_runner(self.settings, package)
            ranked = runner.run(job, limits, on_step=self.on_step)
            jobs.require_same_packages(package, self.rules)
            return check_ranked(board, ranked, package=package.name)
        except InvalidResult as problem:  # its message names the package
            raise RankingError(problem.message, code=PACKAGE_FAILED) from None
        except RunnerError as problem:
            raise _describe_failure(problem, package, limits) from None
        finally:
            self.spent_s += time.monotonic() - started_at


def _describe_failure(problem: RunnerError, package: Package, limits: JobLimits) -> RankingError:
    """Return the failure for the organizers, with the last line of a traceback."""
    reason: Message | str = jobs.describe_failure(problem, None, limits).message
    match problem:
        case JobFailure():
            reason = problem.trace.rpartition("\n")[2][:_MAX_REASON_LENGTH]
        case LimitExcess(kind="time"):  # the message would name the time that was left
            reason = Message(_TOO_LONG, limit=round(LIMIT_S))
    return RankingError(_FAILED, code=PACKAGE_FAILED, package=package.name, reason=reason)
