"""Make the moves of rehearsals: the sandboxed child anonymizes or attacks, and the result is submitted."""

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden, InvalidUpload, TooManyRequests
from anoncup.tracks.files import GUESS_FILE
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import RehearsalMove, Target
from app.db.transaction import transaction
from app.services.attacks.guesses import GuessUpload
from app.services.organizing import rehearsal_moves
from app.services.organizing.rehearsal_moves import MoveClaim
from app.services.submissions.uploads import ReleaseUpload, Seal
from workers import lease_runner, scoring_child
from workers.jobs import AttackJob, SampleJob
from workers.lease_runner import Lease
from workers.readiness import SCORING_READINESS
from workers.scoring_child import ProgressStep, ScoringError

_OnStep = Callable[[ProgressStep], None]


def make_next_move() -> bool:
    """Make the next rehearsal move by fair order; return False if none is due.

    Running it twice or killing it does no harm.
    """
    settings = get_settings()
    claim = lease_runner.claim(rehearsal_moves.claim_next)
    if claim is None:
        return False
    if claim.target is None:
        _submit_release(claim, settings)
    else:
        _submit_guesses(claim, claim.target, settings)
    return True


def _submit_release(claim: MoveClaim, settings: Settings) -> None:
    """Make a release with the team's sample method and submit it."""
    upload = claim.start_release(_make_sealer(settings))

    def make_upload(on_step: _OnStep) -> list[ReleaseUpload]:
        job = SampleJob(
            claim.competition_file,
            dict(upload.original),
            claim.method,
            _derive_seed(claim),
            names=upload.file_names,
        )
        contents = scoring_child.run(job, settings, on_step=on_step).content["files"]
        files = {name: contents[name].encode() for name in upload.file_names}
        _parse_or_fail(upload, files, {"comment": claim.method})
        return [upload]

    _run(claim, make_upload)


def _submit_guesses(claim: MoveClaim, target: Target, settings: Settings) -> None:
    """Make guesses on a target with a built-in attacker and submit them."""

    def make_guesses(on_step: _OnStep) -> list[GuessUpload]:
        upload = claim.start_guess(target)
        job = AttackJob(
            claim.competition_file,
            dict(upload.original),
            target.files or {},
            attacker=claim.method,
            seed=_derive_seed(claim),
            names=tuple(upload.questions),
        )
        contents = scoring_child.run(job, settings, on_step=on_step).content["files"]
        uploads = []
        for question, content in contents.items():
            uploads.append(claim.start_guess(target))
            _parse_or_fail(uploads[-1], {GUESS_FILE: content.encode()}, {"question": question})
        return uploads

    _run(claim, make_guesses)


def _run(claim: MoveClaim, make_uploads: Callable[[_OnStep], Sequence[ReleaseUpload | GuessUpload]]) -> None:
    """Make the uploads under the lease of the move, and submit them."""
    lease = Lease(RehearsalMove, claim.move_id, claim.attempt)
    uploads = lease_runner.run(make_uploads, lease, readiness=SCORING_READINESS)
    if uploads is not None:
        submit(claim, lambda session: rehearsal_moves.submit(session, claim, uploads))


def _parse_or_fail(
    upload: ReleaseUpload | GuessUpload, files: Mapping[str, bytes], texts: Mapping[str, str]
) -> None:
    """Parse an upload; raise ScoringError if a sample method broke the competition's rules."""
    try:
        upload.parse(files, texts)
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
