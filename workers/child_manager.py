"""The scoring child: one per worker process, with a memory and a time limit, kept between submissions.

An upload that exhausts memory or time ends its child, not the worker, and the submission ends in ERROR
with the reason. The child has no database, no queue, no keys and no store: what it needs of the store it
asks its parent for, by digest, and gets nothing that its work does not name. It is sandboxed, and what it
says is believed no more than an upload. It is ended when it has been asked nothing for a while, for it holds
the numbers and the originals in memory.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from threading import Lock, Timer
from typing import Any
from uuid import UUID

import structlog

from anoncup.competition.parser import parse_competition
from anoncup.errors import CompetitionUnavailable, DomainError, InvalidCompetition
from anoncup.messages import Message
from app.config import Settings
from app.crypto import sealing
from app.processes.sandboxed_child import DIED, ChildDied, ChildMisbehaved, OutOfTime, SandboxedChild
from app.storage import store
from workers.jobs import Drawing, Inquiry, OfRelease, Sampling, Trial, Work

__all__ = ["DIED", "ChildDied", "ScoringFailed", "Step", "Verdict", "evaluate", "keeper"]

log = structlog.get_logger(__name__)

PROGRAM = "workers.scorer"

HEARTBEAT_S = 3.0
LONGEST_NAME, LONGEST_TRACE, MOST_STEPS = 100, 10_000, 10_000

CRASHED = Message("scoring failed with an internal error; the operators have been told")


class ScoringFailed(DomainError):
    """The evaluation cannot be finished; the message is for the team."""

    code = "scoring_failed"


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    of: int
    name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the child found (a verdict, a report, files, a count of rows) and the version of its rules."""

    content: dict[str, Any]
    scorer: str


class Keeper:
    """Holds this process's child, and replaces it when it has ended or has scored enough."""

    def __init__(self) -> None:
        self.child: SandboxedChild | None = None
        self.scored = 0
        """How many pieces of work the child has done."""
        self.lock = Lock()
        """Of who speaks with it, or ends it."""
        self.rest: Timer | None = None

    def ready(self, settings: Settings, *, warm: bool = True) -> SandboxedChild:
        """A child that runs, ``warm`` if that is wanted."""
        if self.rest is not None:
            self.rest.cancel()
        child = self.child
        if child is not None and (not child.is_quiet() or warm > child.warm):
            self.discard()
        if self.child is None:
            memory_mb = settings.scoring_memory_mb
            self.child = SandboxedChild(PROGRAM, setting=settings.sandbox, memory_mb=memory_mb, warm=warm)
        return self.child

    def leave(self, child: SandboxedChild, settings: Settings) -> None:
        """It has done its work. Nobody but us ends one that was taken over and has left a thread behind."""
        self.scored += 1
        if self.scored >= settings.scoring_recycle_after:
            self.discard()
            return
        self.rest = Timer(settings.scoring_idle_s, self.end_idle, [child, self.scored])
        self.rest.daemon = True
        self.rest.start()

    def end_idle(self, child: SandboxedChild, scored: int) -> None:
        with self.lock:
            if self.child is child and self.scored == scored:
                self.discard()

    def discard(self) -> None:
        if self.child is not None:
            self.child.end()
            self.child, self.scored = None, 0


keeper = Keeper()


def evaluate(
    work: Work, settings: Settings, *, on_step: Callable[[Step], None] = lambda _: None, warm: bool = True
) -> Verdict:
    """The verdict on a submission, the report on a question, a target's files, or how often a guess is right.

    ``on_step`` is called at each step and every few seconds between. ``warm`` is for a child that is started.
    ScoringFailed: it cannot be scored; ChildDied, and NotFound or Unavailable of the store: it may be tried
    again. An unfinished child is ended, for what it would still say belongs to no later submission.
    """
    with keeper.lock:
        child = keeper.ready(settings, warm=warm)
        try:
            verdict = spoken_with(child, work, settings, on_step)
        except CompetitionUnavailable:  # its last word: it is ready for another
            keeper.leave(child, settings)
            raise
        except BaseException:
            keeper.discard()
            raise
        keeper.leave(child, settings)
        return verdict


def spoken_with(
    child: SandboxedChild, work: Work, settings: Settings, on_step: Callable[[Step], None]
) -> Verdict:
    deadline = time.monotonic() + settings.scoring_time_limit_s
    try:
        child.send({"kind": type(work).__name__, **asdict(work)}, deadline=deadline)
        return converse(child, work, settings, on_step, deadline)
    except OutOfTime:
        raise ScoringFailed(
            "scoring took longer than the limit of {limit} s",
            code="time_limit",
            limit=settings.scoring_time_limit_s,
        ) from None
    except ChildMisbehaved:
        raise ScoringFailed(CRASHED) from None


def converse(
    child: SandboxedChild, work: Work, settings: Settings, on_step: Callable[[Step], None], deadline: float
) -> Verdict:
    """Hand over what the child asks for, until it has found its verdict."""
    step = Step(0, 0, "")
    while time.monotonic() < deadline:
        patience = min(HEARTBEAT_S, max(0.0, deadline - time.monotonic()))
        match child.read(patience, longest=work.longest):
            case {"verdict": dict(verdict), "scorer": str(scorer)} if is_name(scorer) and work.admits(
                verdict
            ):
                return Verdict(verdict, scorer)
            case {"fetch": str(digest)} if digest in work.fetched:
                content = content_of(digest, work, settings)
                child.send({"length": len(content)}, content=content, deadline=deadline)
            case {"step": int(number), "of": int(of), "name": str(name)} if is_step(number, of, name):
                step = Step(number, of, name)
            case {"unreadable": True}:
                raise unreadable(work)
            case {"failed": str(reason), "trace": str(trace)}:
                raise failed(reason, trace, settings)
            case dict(unknown):
                log.error("child_says_what_it_must_not", says=[loggable(key)[:100] for key in unknown][:5])
                raise ScoringFailed(CRASHED)
        on_step(step)
    raise OutOfTime


def content_of(digest: str, work: Work, settings: Settings) -> bytes:
    """What the store has under that digest, opened if it is of a release that is kept sealed."""
    content = store().get(digest)
    if not isinstance(work, OfRelease) or work.sealed_for is None or digest not in work.files.values():
        return content
    return sealing.open_file(settings.opening_keys_dir, submission_id=UUID(work.sealed_for), content=content)


def is_step(number: int, of: int, name: str) -> bool:
    return not isinstance(number, bool) and 0 <= number <= of <= MOST_STEPS and is_name(name)


def unreadable(work: Work) -> CompetitionUnavailable | ScoringFailed:
    """Why the competition's file cannot be read. If a child were believed, its work would wait for ever."""
    try:
        if isinstance(work, OfRelease | Inquiry | Trial | Drawing | Sampling):
            parse_competition(work.competition_file)
    except InvalidCompetition as problem:
        return CompetitionUnavailable(
            "the competition's file cannot be read: {reason}", reason=problem.message
        )
    log.error("child_says_what_is_not_so")
    return ScoringFailed(CRASHED)


def is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and text.isprintable()


def failed(reason: str, trace: str, settings: Settings) -> ScoringFailed:
    if reason == "memory":
        return ScoringFailed(
            "scoring needed more memory than the limit of {limit} MB",
            code="memory_limit",
            limit=settings.scoring_memory_mb,
        )
    log.error("scoring_crashed", trace=loggable(trace[:LONGEST_TRACE]))
    return ScoringFailed(CRASHED)


def loggable(text: str) -> str:
    """Halves of characters cannot be written on a terminal, and a log that fails leaves the work undone."""
    return text.encode("utf-8", "backslashreplace").decode()
