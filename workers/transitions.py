"""The long work of a turn: writes the targets' files, opens the secrets for the reveal.

It holds keys, and so reads no stranger's file itself: the walled child does.

usage: python -m workers.transitions COMPETITION_ID
"""

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar
from uuid import UUID

import structlog

from app import logs, sealing
from app.config import Settings, get_settings
from app.contest import read_file
from app.errors import DomainError, Unavailable
from app.scoring.registry import Track
from app.scoring.tracks import TRACKS
from app.services.attacks import owners, transitions
from app.services.attacks.transitions import Unrevealed, Unwritten
from app.storage import store
from app.transaction import transaction
from workers import child
from workers.fitness import FOR_REPORTS, FOR_SECRETS
from workers.work import Rewriting

log = structlog.get_logger(__name__)

T = TypeVar("T", Unwritten, Unrevealed)


def main() -> None:
    logs.configure()
    try:
        done = work(UUID(sys.argv[1]))
    finally:
        child.keeper.discard()
    sys.exit(0 if done else 1)


def work(competition_id: UUID) -> bool:
    """All that stands before the competition's next step; False if something could not be done.

    Safe to run twice at once, and to kill at any point.
    """
    settings = get_settings()
    with transaction() as session:
        unwritten = transitions.unwritten(session, competition_id)
        unrevealed = transitions.unrevealed(session, competition_id)
    reason = (FOR_SECRETS if unrevealed else FOR_REPORTS).wanting()
    if reason is not None:
        log.error("takes_no_work", competition=str(competition_id), reason=reason)
        return False
    written = each(unwritten, lambda target: write(target, settings))
    opened = each(unrevealed, lambda target: open_secret(target, settings))
    return written and opened and published(competition_id)


def published(competition_id: UUID) -> bool:
    """Publish the targets, unless fewer teams could own one than the organizers ask for."""
    with transaction() as session:
        done = owners.publish(session, competition_id)
    if not done:
        log.warning("publication_waits", competition=str(competition_id), reason="few possible owners")
    return done


def each(targets: Iterable[T], do: Callable[[T], None]) -> bool:
    """Whether all of them could be done; one that cannot does not hold up the others."""
    failed = 0
    for target in targets:
        try:
            do(target)
        except DomainError as problem:
            failed += 1
            log.error("turning_failed", target=str(target.target_id), reason=str(problem))
    return not failed


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
    )
    found = child.evaluate(asked, settings, warm=False).content["files"]
    files = {name: store().put(content.encode()) for name, content in found.items()}
    with transaction() as session:
        transitions.written(session, target.target_id, files)


def track_of(target: Unwritten) -> Track:
    return TRACKS[read_file(target.competition_file).track]


def secret_of(target: Unwritten, settings: Settings) -> str:
    secret = sealing.open_sealed(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, submission_id=target.submission_id
    )
    return secret.decode()


def open_secret(target: Unrevealed, settings: Settings) -> None:
    """Open a secret for the reveal, if it is what was committed to."""
    opened = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, submission_id=target.submission_id
    )
    if sealing.commitment_of(opened.salt, opened.secret) != target.commitment:
        raise Unavailable("a sealed secret is not the one that was committed to", code="secret_unreadable")
    digest = store().put(opened.secret)
    with transaction() as session:
        transitions.opened(session, target.target_id, salt=opened.salt, secret=digest)


if __name__ == "__main__":
    main()
