"""Make the moves of rehearsals: the sandboxed child anonymizes or attacks, and the result is submitted."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden, InvalidUpload, TooManyRequests
from anoncup.tracks.files import SECRET_FILE
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import RehearsalMove
from app.db.transaction import transaction
from app.services.attacks import guesses
from app.services.attacks.guesses import StoredGuess
from app.services.organizing import rehearsal_moves
from app.services.organizing.rehearsal_moves import MoveClaim
from app.services.submissions import uploads
from app.services.submissions.submissions import Seal
from app.services.submissions.uploads import PendingRelease
from workers import lease_runner, scoring_child
from workers.jobs import AttackJob, SampleJob
from workers.readiness import SCORING_READINESS
from workers.scoring_child import ProgressStep, ScoringError

_OnStep = Callable[[ProgressStep], None]
T = TypeVar("T")


def make_next_move() -> bool:
    """Make the next rehearsal move by fair order; return False if none is due.

    Running it twice or killing it does no harm.
    """
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claim = rehearsal_moves.claim_next(session, lease=lease, max_attempts=settings.scoring_attempts)
    if claim is None:
        return False
    if claim.release_context is not None:
        submit_release(claim, claim.release_context, settings)
    elif claim.guess_context is not None:
        _submit_guesses(claim, claim.guess_context, settings)
    return True


def submit_release(claim: MoveClaim, context: uploads.UploadContext, settings: Settings) -> None:
    """Make a release with the team's sample method and submit it."""

    def make_upload(on_step: _OnStep) -> PendingRelease:
        job = SampleJob(
            claim.competition_file,
            claim.original,
            claim.method,
            _derive_seed(claim),
            names=context.file_names,
        )
        contents = scoring_child.run(job, settings, on_step=on_step).content["files"]
        files = {name: contents[name].encode() for name in context.public_file_names}
        return _read_or_fail(
            lambda: uploads.store_release(
                context, files=files, secret=contents[SECRET_FILE].encode(), comment=claim.method
            )
        )

    upload = lease_runner.run(
        make_upload, RehearsalMove, claim.move_id, claim.attempt, readiness=SCORING_READINESS
    )
    if upload is not None:
        submit(
            claim,
            lambda session: rehearsal_moves.submit_release(session, claim, upload, _make_sealer(settings)),
        )


def _submit_guesses(claim: MoveClaim, context: guesses.GuessContext, settings: Settings) -> None:
    """Make guesses on a target with a built-in attacker and submit them."""

    def make_guesses(on_step: _OnStep) -> list[StoredGuess]:
        job = AttackJob(
            claim.competition_file,
            claim.original,
            dict(claim.target_files),
            attacker=claim.method,
            seed=_derive_seed(claim),
            questions=tuple(context.questions),
        )
        contents = scoring_child.run(job, settings, on_step=on_step).content["files"]
        return _read_or_fail(
            lambda: [
                guesses.store_guess(content.encode(), context, question)
                for question, content in contents.items()
            ]
        )

    stored_guesses = lease_runner.run(
        make_guesses, RehearsalMove, claim.move_id, claim.attempt, readiness=SCORING_READINESS
    )
    if stored_guesses is not None:
        submit(claim, lambda session: rehearsal_moves.submit_guesses(session, claim, stored_guesses))


def _read_or_fail(read: Callable[[], T]) -> T:
    """Return what ``read`` returns; raise ScoringError if a sample method broke the competition's rules."""
    try:
        return read()
    except InvalidUpload as problem:
        raise ScoringError(problem.message, code=rehearsal_moves.MOVE_REFUSED) from None


def submit(claim: MoveClaim, action: Callable[[Session], bool]) -> None:
    """Submit and end the move in one transaction; record the refusal if there is one."""
    try:
        with transaction() as session:
            action(session)
    except (Conflict, Forbidden, TooManyRequests) as problem:
        with transaction() as session:
            rehearsal_moves.record_refusal(session, claim, problem)


def _derive_seed(claim: MoveClaim) -> int:
    """Return the seed of a move. Each move has its own, and a repeated move has the same one again."""
    return claim.move_id.int


def _make_sealer(settings: Settings) -> Seal:
    """Return a function that seals secrets with the key in the folder of private keys.

    Unlike web processes, workers are not given the public key as a file.
    """
    folder = settings.opening_keys_dir
    return lambda bound_to, secret: sealing.seal_to_newest_key(folder, bound_to=bound_to, secret=secret)
