"""Standings that are left to workers: ranking functions of packages run in sandboxed children of their own.

A child ends with the standings for which it was started, so that it never sees boards of two rounds.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import structlog
from pydantic import TypeAdapter

from anoncup.errors import DatabaseUnavailable, DomainError, InvalidResult
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED
from anoncup.tracks.ranking_board import Ranked, RankingBoard, check_ranked
from app.config import Settings, get_settings
from app.db.transaction import transaction
from app.processes.sandboxed_child import SandboxedChild
from app.services.boards import fold, stale_standings, standings
from app.services.boards.facts import RoundFacts
from app.services.boards.stale_standings import StaleClaim
from app.services.contests.competitions import require_current_packages
from workers import scoring_child
from workers.jobs import RankJob
from workers.readiness import SCORING_READINESS
from workers.scoring_child import ChildDiedError, ScoringError

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
_BOARD_ADAPTER = TypeAdapter(RankingBoard)


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
            facts = standings.refresh_claimed(session, claim)
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
    until = fold.find_end(facts, claim.since, moments=MAX_MOMENTS)
    names = sorted(set(facts.rules.ranking.list_functions()))
    with ExitStack() as stack:
        children = {
            name: stack.enter_context(_start_function(name, settings, LIMIT_S / len(names))) for name in names
        }
        rankers = {name: child.rank for name, child in children.items()}
        rows = standings.compute_rows(facts, claim.since, until=until, rankers=rankers)
        for function_child in children.values():
            scoring_child.require_same_packages(function_child.child, facts.rules)
    with transaction() as session:
        standings.store_claimed(session, claim, rows, until=until)


@dataclass
class FunctionChild:
    """A sandboxed child that ranks boards by one function, for at most ``limit_s`` in total."""

    function: str
    settings: Settings
    limit_s: float
    child: SandboxedChild
    spent_s: float = 0.0

    def rank(self, board: RankingBoard) -> tuple[Ranked, ...]:
        """Return the ranked teams; raise ScoringError, which names the package, if the function fails."""
        job = RankJob("", {}, self.function, _BOARD_ADAPTER.dump_python(board, mode="json"))
        package = _get_package(self.function)
        started_at = time.monotonic()
        try:
            limit_s = max(0.0, self.limit_s - self.spent_s)
            result = scoring_child.run_in_child(self.child, job, self.settings, limit_s=limit_s)
            ranked = [Ranked(**team) for team in result.content["ranked"]]
            return check_ranked(board, ranked, package=package)
        except (ScoringError, ChildDiedError, InvalidResult) as problem:
            raise _explain(problem, package, self.limit_s) from problem
        finally:
            self.spent_s += time.monotonic() - started_at


def _get_package(function: str) -> str:
    return function.partition(":")[0]


@contextmanager
def _start_function(function: str, settings: Settings, limit_s: float) -> Iterator[FunctionChild]:
    """Start a child in the package's environment, or in this one, and end it afterwards."""
    provider = INSTALLED.find_provider(f"ranking_functions.{function.partition(':')[2]}")
    assert provider is not None  # noqa: S101  # checked when the file was read
    try:
        child = SandboxedChild(
            scoring_child.PROGRAM,
            setting=settings.sandbox,
            memory_mb=settings.scoring_memory_mb,
            environment=provider.environment,
        )
    except ChildDiedError as problem:
        raise _explain(problem, provider.name, limit_s) from problem
    try:
        yield FunctionChild(function, settings, limit_s, child)
    finally:
        child.end()


def _explain(problem: DomainError, package: str, limit_s: float) -> ScoringError:
    """Return the failure for the organizers. Its reason is the last line of a traceback, or ours."""
    if isinstance(problem, InvalidResult):  # its message names the package already
        return ScoringError(problem.message, code="package_failed")
    reasons = {
        "time_limit": Message(_TOO_LONG, limit=round(limit_s)),
        "memory_limit": Message(_TOO_LARGE, limit=get_settings().scoring_memory_mb),
        ChildDiedError.code: Message(_DIED),
        ScoringError.code: Message(_INVALID_ANSWER),
    }
    if problem.code in reasons:
        return ScoringError(_FAILED, code=problem.code, package=package, reason=reasons[problem.code])
    trace = problem.traceback if isinstance(problem, ScoringError) else None
    last_line = (trace or str(problem)).rpartition("\n")[2][:_MAX_REASON_LENGTH]
    return ScoringError(_FAILED, code="package_failed", package=package, reason=last_line)
