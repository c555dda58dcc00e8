"""The clock, a process of its own: it turns phases, looks for lost work and beats.

It needs no worker and no queue, and it reads no numbers: what takes long in a turn is done by children, so
that neither a backlog nor another competition's turn delays the next one.

usage: python -m workers.clock
"""

import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.orm import Session

from anoncup.errors import DatabaseUnavailable, DomainError, Unavailable
from app import logs
from app.config import Settings, get_settings
from app.crypto import deadline_signing
from app.db.models import WitnessedEnd
from app.db.privileges import warn_of_might
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import guess_terms, observed_deadlines
from app.services.jobs import health, queue, requeue
from app.storage import staging
from workers import sandbox
from workers.transition_pool import Crew

log = structlog.get_logger(__name__)

LOCK_WAIT = "1s"
"""How long a step waits for a competition that somebody else holds: the others are waiting behind it."""
TIDY_EVERY_S = 3600.0
LAST_ROUND_S = 5
"""How long the last round may still take; then the process is killed, and its children end with it."""
BEATS = 6
"""So often it beats in the time after which it would count as standing still."""
LONGEST_PAUSE = 60.0
"""Seconds until a competition that could not be turned is tried again; they double from one round."""


class Hands(Protocol):
    """Who does the long work of a turn."""

    def send(self, competition_id: UUID) -> None:
        """Have it done, soon, unless somebody is at it."""

    def failed(self) -> list[UUID]:
        """Competitions whose work has ended without success since it was last asked."""

    def dismiss(self) -> None:
        """End what still runs."""


@dataclass(slots=True)
class Pause:
    """A competition is left alone until then; the next pause lasts twice as long."""

    until: float
    length: float


@dataclass(slots=True)
class Clock:
    """Goes round about every second. What fails is said, and never ends it."""

    settings: Settings
    hands: Hands
    pauses: dict[UUID, Pause] = field(default_factory=dict)
    unreadable: frozenset[UUID] = frozenset()
    unsigned: set[UUID] = field(default_factory=set)
    keyed: bool = True
    swept: float = float("-inf")
    tidied: float = float("-inf")
    beaten: float = float("-inf")
    trouble: str | None = None

    def run(self, ends_within: Callable[[float], bool]) -> None:
        """``ends_within``: wait so many seconds, and tell whether to end."""
        pause = 0.0
        while not ends_within(pause):
            started = time.monotonic()
            self.round()
            pause = max(0.0, started + self.settings.clock_every_s - time.monotonic())
        self.hands.dismiss()

    def round(self) -> None:
        """Turn, sweep, beat; of a trouble that lasts, the first round tells and the last."""
        try:
            self.turn_all()
            self.sweep_in_time()
        except Exception as problem:
            self.tell(problem)
            return
        if self.trouble is not None:
            log.info("clock_goes_again", after=self.trouble)
            self.trouble = None

    def tell(self, problem: Exception) -> None:
        found = described(problem)
        if found["reason"] != self.trouble:
            log.error("clock_hindered", **found)
            self.trouble = found["reason"]

    def turn_all(self) -> None:
        """Turn every competition that is due; one that cannot be turned does not hold up the others."""
        for competition_id in self.hands.failed():
            self.postpone(competition_id)
        with transaction() as session:
            found = contest_lifecycle.due(session)
        self.note_unreadable(found.unreadable)
        has_key = self.has_key()
        if has_key:
            self.note_unsigned(found.unsigned)
        for competition_id in dict.fromkeys([*found.unwitnessed, *found.due] if has_key else found.due):
            if competition_id not in self.pauses or self.pauses[competition_id].until <= time.monotonic():
                self.guarded(competition_id)
        self.beat_in_time()

    def guarded(self, competition_id: UUID) -> None:
        try:
            if turn(competition_id, keyed=self.keyed):
                self.hands.send(competition_id)
            else:
                self.pauses.pop(competition_id, None)
        except Exception as problem:
            if isinstance(problem, DatabaseUnavailable):
                raise
            log.error("turning_failed", competition=str(competition_id), **described(problem))
            self.postpone(competition_id)

    def postpone(self, competition_id: UUID) -> None:
        last = self.pauses.get(competition_id)
        length = min(2 * last.length, LONGEST_PAUSE) if last else self.settings.clock_every_s
        self.pauses[competition_id] = Pause(time.monotonic() + length, length)

    def note_unreadable(self, found: dict[UUID, str]) -> None:
        for competition_id in found.keys() - self.unreadable:
            log.error("competition_unreadable", competition=str(competition_id), reason=found[competition_id])
        self.unreadable = frozenset(found)

    def has_key(self) -> bool:
        """Whether this process can witness; said once if not: phases turn, but nothing is revealed."""
        held = bool(observed_deadlines.ring().keys)
        if self.keyed and not held:
            log.error("cannot_witness", reason=deadline_signing.MISSING)
        self.keyed = held
        return held

    def note_unsigned(self, found: Sequence[WitnessedEnd]) -> None:
        """Somebody who has no key has written what only this clock may write: it does not count."""
        new = [one for one in found if one.id not in self.unsigned]
        if new:
            with transaction() as session:
                observed_deadlines.note_unsigned(session, new)
            self.unsigned |= {one.id for one in new}

    def beat_in_time(self) -> None:
        """Not each round: every commit ends what is kept of boards."""
        if time.monotonic() >= self.beaten + self.settings.clock_stale_s / BEATS:
            with transaction() as session:
                health.beat(session, health.TURN)
            self.beaten = time.monotonic()

    def sweep_in_time(self) -> None:
        if time.monotonic() >= self.swept + self.settings.sweep_every_s:
            sweep()
            self.swept = time.monotonic()
        if time.monotonic() >= self.tidied + TIDY_EVERY_S:
            self.tidied = time.monotonic()
            tidy()


def described(problem: Exception) -> dict[str, Any]:
    """For the log: a reason, and of what nobody expected the place."""
    if isinstance(problem, DomainError):
        return {"reason": str(problem)}
    return {"reason": type(problem).__qualname__, "exc_info": problem}


def turn(competition_id: UUID, *, keyed: bool) -> bool:
    """Every quick step that is due now; True if long work stands before the next one.

    Safe to run twice at once, and to kill at any point.
    """
    if keyed:
        step(observed_deadlines.witness, competition_id)
    step(guess_terms.note, competition_id)
    while step(contest_lifecycle.next_step, competition_id):
        pass
    with transaction() as session:
        return contest_lifecycle.awaits_work(session, competition_id)


def step(do: Callable[[Session, UUID], bool], competition_id: UUID) -> bool:
    with transaction() as session:
        session.execute(text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
        return do(session, competition_id)


def sweep() -> None:
    """Ring again for lost evaluations, guesses and reports. Safe to run twice at once."""
    waiting = queue.depths()
    with transaction() as session:
        found = {} if waiting is None else requeue.ask_again(session, waiting=waiting)
    with transaction() as session:
        health.beat(session, health.SWEEP)
    if found:
        log.info("asked_again", rings=found)


def tidy() -> None:
    """Take away files that wait for nobody. What fails is tried again with the next."""
    try:
        removed = staging.remove_old()
    except Unavailable as problem:
        log.warning("not_tidied", reason=str(problem))
        return
    if removed:
        log.info("tidied", files=removed)


def ready_to_witness(private_folder: Path | None) -> None:
    """Make the key that ends are signed with, where the private keys are and it is not."""
    if private_folder is None or not private_folder.is_dir():
        return
    try:
        deadline_signing.create_key(private_folder)
    except OSError as problem:
        log.warning("signing_key_not_made", reason=problem.strerror)


def owned_end() -> Callable[[float], bool]:
    """Have SIGINT, SIGTERM and SIGHUP end the clock after the round that runs.

    An exception out of a handler could be lost wherever one is ignored, and with it the request. A round that
    hangs, as on a database that stands still, is broken off.
    """
    heard, rung = socket.socketpair()
    rung.setblocking(False)
    signal.set_wakeup_fd(rung.fileno())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda *_: signal.alarm(LAST_ROUND_S))

    def ends_within(seconds: float, _open: socket.socket = rung) -> bool:
        return bool(select.select([heard], [], [], seconds)[0])

    return ends_within


def main() -> None:
    logs.configure()
    warn_of_might()
    settings = get_settings()
    ready_to_witness(settings.opening_keys_dir)
    ends_within = owned_end()
    log.info("clock_starts", every_s=settings.clock_every_s, sweep_every_s=settings.sweep_every_s)
    sandbox.announce(settings.sandbox)  # its children read files too
    Clock(settings, Crew()).run(ends_within)


if __name__ == "__main__":
    main()
