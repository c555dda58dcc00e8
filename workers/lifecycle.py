"""The long work of a turn: writes the targets' files, opens the secrets for the reveal.

It holds keys, and so reads no stranger's file itself: the walled child does.

usage: python -m workers.lifecycle COMPETITION_ID
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar
from uuid import UUID

import structlog

from anoncup.errors import DomainError, Unavailable
from anoncup.plugins import TRACKS
from anoncup.tracks.model import Track
from app import logs
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.transaction import transaction
from app.services.attacks import allocation, contest_lifecycle
from app.services.attacks.contest_lifecycle import Unrevealed, Unwritten
from app.services.contests import sealed_inputs
from app.services.contests.contest import read_file
from app.services.contests.sealed_inputs import Box
from app.storage import store
from workers import child_manager
from workers.allocate import aids, draw, opened_seed
from workers.jobs import Aids, Rewriting
from workers.readiness import FOR_REPORTS, FOR_SECRETS

log = structlog.get_logger(__name__)

T = TypeVar("T", Unwritten, Unrevealed)


def main() -> None:
    logs.configure()
    try:
        done = work(UUID(sys.argv[1]))
    finally:
        child_manager.keeper.discard()
    sys.exit(0 if done else 1)


def work(competition_id: UUID) -> bool:
    """All that stands before the competition's next step; False if something could not be done.

    Safe to run twice at once, and to kill at any point.
    """
    settings = get_settings()
    with transaction() as session:
        unwritten = contest_lifecycle.unwritten(session, competition_id)
        unrevealed = contest_lifecycle.unrevealed(session, competition_id)
        seed = contest_lifecycle.unopened_seed(session, competition_id)
        undrawn = allocation.undrawn(session, competition_id)
    reason = (FOR_SECRETS if unrevealed or seed or undrawn else FOR_REPORTS).wanting()
    if reason is not None:
        log.error("takes_no_work", competition=str(competition_id), reason=reason)
        return False
    drawn = done(lambda: draw_all(competition_id, settings), competition=competition_id)
    written = each(unwritten, lambda target: write(target, settings))
    opened = each(unrevealed, lambda target: open_secret(target, settings))
    if seed is not None:
        opened &= done(lambda: open_seed(competition_id, seed, settings), competition=competition_id)
    return drawn and written and opened


def draw_all(competition_id: UUID, settings: Settings) -> None:
    """Draw what is to be drawn, one after the other: what a team gets depends on who came before."""
    while True:
        with transaction() as session:
            undrawn = allocation.undrawn(session, competition_id)
        if undrawn is None:
            return
        draw(undrawn, settings)


def each(targets: Iterable[T], do: Callable[[T], None]) -> bool:
    """Whether all of them could be done; one that cannot does not hold up the others."""
    tried = [done(partial(do, target), target=target.target_id) for target in targets]
    return all(tried)


def done(do: Callable[[], None], **what: UUID) -> bool:
    """Whether it could be done; if not, the log has the reason."""
    try:
        do()
    except DomainError as problem:
        named = {kind: str(one) for kind, one in what.items()}
        log.error("turning_failed", **named, reason=str(problem))
        return False
    return True


def write(target: Unwritten, settings: Settings) -> None:
    """A target's files as the service itself writes them: no trace of the uploaded bytes."""
    track = track_of(target)
    asked = Rewriting(
        target.competition_file,
        dict(target.original),
        target.files,
        names=track.target_files,
        secret=None if track.published is None else secret_of(target, settings),
        sealed_for=str(target.submission_id) if track.seals_release else None,
        aids=aids_of(target, track, settings),
    )
    found = child_manager.evaluate(asked, settings, warm=False).content["files"]
    files = {name: store().put(content.encode()) for name, content in found.items()}
    with transaction() as session:
        contest_lifecycle.written(session, target.target_id, files)


def aids_of(target: Unwritten, track: Track, settings: Settings) -> Aids:
    """What its files may depend on besides."""
    if track.published is None or track.draw is None:
        return Aids()
    with transaction() as session:
        means = sealed_inputs.means(session, target.competition_id, target.team_id)
    return aids(target.competition_file, means, settings)


def track_of(target: Unwritten) -> Track:
    return TRACKS[read_file(target.competition_file).track]


def secret_of(target: Unwritten, settings: Settings) -> str:
    secret = sealing.open_sealed(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, submission_id=target.submission_id
    )
    return secret.decode()


def open_seed(competition_id: UUID, seed: Box, settings: Settings) -> None:
    """Open the seed for the reveal, if it is what was committed to."""
    content = opened_seed(seed, settings)
    with transaction() as session:
        allocation.opened(session, competition_id, content)


def open_secret(target: Unrevealed, settings: Settings) -> None:
    """Open a secret for the reveal, if it is what was committed to."""
    opened = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, submission_id=target.submission_id
    )
    if sealing.commitment_of(opened.salt, opened.secret) != target.commitment:
        raise Unavailable("a sealed secret does not match its commitment", code="secret_unreadable")
    digest = store().put(opened.secret)
    with transaction() as session:
        contest_lifecycle.opened(session, target.target_id, salt=opened.salt, secret=digest)


if __name__ == "__main__":
    main()
