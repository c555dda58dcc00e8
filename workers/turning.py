"""The long work of a turn: writes the targets' files, opens the secrets for the reveal.

usage: python -m workers.turning COMPETITION_ID
"""

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar
from uuid import UUID

import structlog

from app import logs, sealing
from app.config import Settings, get_settings
from app.errors import DomainError, Unavailable
from app.scoring.tracks import TRACKS
from app.services import competitions, turning
from app.services.turning import Unrevealed, Unwritten
from app.storage import store
from app.transaction import transaction
from workers.fitness import FOR_REPORTS, FOR_SECRETS

log = structlog.get_logger(__name__)

T = TypeVar("T", Unwritten, Unrevealed)


def main() -> None:
    logs.configure()
    sys.exit(0 if work(UUID(sys.argv[1])) else 1)


def work(competition_id: UUID) -> bool:
    """All that stands before the competition's next step; False if something could not be done.

    Safe to run twice at once, and to kill at any point.
    """
    settings = get_settings()
    with transaction() as session:
        unwritten = turning.unwritten(session, competition_id)
        unrevealed = turning.unrevealed(session, competition_id)
    reason = (FOR_SECRETS if unrevealed else FOR_REPORTS).wanting()
    if reason is not None:
        log.error("takes_no_work", competition=str(competition_id), reason=reason)
        return False
    written = each(unwritten, write)
    opened = each(unrevealed, lambda target: open_secret(target, settings))
    return written and opened


def each(targets: Iterable[T], do: Callable[[T], None]) -> bool:
    """Whether all of them could be done; one that cannot does not hold up the others."""
    failed = 0
    for target in targets:
        try:
            do(target)
        except DomainError as problem:
            failed += 1
            log.error("turning_failed", target=str(target.target_id), reason=problem.detail)
    return not failed


def write(target: Unwritten) -> None:
    """A target's files as the service itself writes them: no trace of the uploaded bytes."""
    competition = competitions.read_file(target.competition_file)
    track = TRACKS[competition.track]
    original = competitions.original_tables(target.original, target.competition_file)
    contents = {name: store().get(digest) for name, digest in target.files.items()}
    release, _ = track.parse_release(contents, original, competition)
    files = {name: store().put(content) for name, content in track.canonical_files(release).items()}
    with transaction() as session:
        turning.written(session, target.target_id, files)


def open_secret(target: Unrevealed, settings: Settings) -> None:
    """Open a secret for the reveal, if it is what was committed to."""
    opened = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, submission_id=target.submission_id
    )
    if sealing.commitment_of(opened.salt, opened.secret) != target.commitment:
        raise Unavailable("a sealed secret is not the one that was committed to", code="secret_unreadable")
    digest = store().put(opened.secret)
    with transaction() as session:
        turning.opened(session, target.target_id, salt=opened.salt, secret=digest)


if __name__ == "__main__":
    main()
