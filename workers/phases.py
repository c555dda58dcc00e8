"""The clock: moves each competition on when it is due, and does the long work between the steps."""

from collections.abc import Callable
from uuid import UUID

import structlog
from sqlalchemy.orm import Session

from app import sealing
from app.config import Settings, get_settings
from app.errors import DomainError, Unavailable
from app.queue import celery
from app.scoring.tracks import TRACKS
from app.services import competitions, health, turning
from app.services.turning import Unrevealed, Unwritten
from app.storage import store
from app.transaction import transaction

log = structlog.get_logger(__name__)

TURN = "turn"


@celery.task(name=TURN)
def turn_all() -> None:
    """Turn every competition that is due; one that cannot be turned does not hold up the others."""
    with transaction() as session:
        found = turning.due(session)
    for competition_id in found:
        try:
            turn(competition_id, get_settings())
        except DomainError as problem:
            log.error("turning_failed", competition=str(competition_id), reason=problem.detail)
    with transaction() as session:
        health.beat(session, TURN)


def turn(competition_id: UUID, settings: Settings) -> None:
    """Every step that is due now. Safe to run twice at once, and to kill at any point."""
    step(turning.freeze, competition_id)
    with transaction() as session:
        unwritten = turning.unwritten(session, competition_id)
    for target in unwritten:
        write(target)
    step(turning.publish, competition_id)
    step(turning.close, competition_id)
    with transaction() as session:
        unrevealed = turning.unrevealed(session, competition_id)
    for sealed in unrevealed:
        open_secret(sealed, settings)
    step(turning.reveal, competition_id)


def step(do: Callable[[Session, UUID], bool], competition_id: UUID) -> None:
    with transaction() as session:
        do(session, competition_id)


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
